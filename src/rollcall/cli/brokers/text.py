"""What is known of a broker, in words: short enough for a cell, and never more than is known.

A guess is a set of candidates and looks like one; a time that nobody told is unknown, not 1970.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from rollcall.catalog import BrokerIdentity, BrokerKind, OtherProduct, Provenance, ReleaseInference
from rollcall.cli.terminal.text import duration
from rollcall.client import BrokerRow

UNKNOWN = "unknown"


def software(identity: BrokerIdentity) -> str | None:
    if identity.provenance is Provenance.REPORTED:
        return identity.name
    if identity.inference is None or identity.provenance is Provenance.CONFIGURED:
        return None
    if identity.inference.kind is BrokerKind.OTHER:
        return (
            any_of([other.name for other in identity.inference.other_products])
            or "not Apache Kafka"
        )
    return (
        "Apache Kafka" if identity.inference.candidates or identity.inference.newer_than else None
    )


def version(identity: BrokerIdentity) -> str | None:
    if identity.provenance in (Provenance.REPORTED, Provenance.CONFIGURED):
        return identity.version
    return inferred_version(identity.inference) if identity.inference else None


def inferred_version(inference: ReleaseInference) -> str | None:
    if inference.kind is BrokerKind.OTHER:
        return (
            any_of([text for other in inference.other_products if (text := _reach(other))]) or None
        )
    if inference.newer_than:
        return f"newer than {inference.newer_than}"
    return any_of(inference.lines) or None


def _reach(other: OtherProduct) -> str:
    if other.since and other.until:
        return f"{other.since} to {other.until}"
    return f"{other.since} or later" if other.since else f"up to {other.until}" * bool(other.until)


def any_of(names: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def moment(ms: int) -> str:
    """A time in UTC, to the second; 0 is a time that nobody told (536.4)."""
    iso = iso_time(ms)
    return UNKNOWN if iso is None else iso[:19].replace("T", " ")


def iso_time(ms: int) -> str | None:
    if ms <= 0:
        return None
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):  # a broker may tell any number
        return None


def uptime(row: BrokerRow, now_ms: int) -> str | None:
    if not row.start_time_ms or row.start_time_ms > now_ms:
        return None
    return duration((now_ms - row.start_time_ms) / 1000)


def note(row: BrokerRow, cluster_id: str | None) -> str:
    """What is wrong with it, if anything is."""
    notes = []
    if row.failure is not None:
        notes.append(f"{row.failure}: {row.reason}")
    if row.node.fenced:
        notes.append("fenced")
    if row.clock_ahead_ms:
        ahead = duration(row.clock_ahead_ms / 1000)
        notes.append(f"its clock is at least {ahead} ahead of ours")
    if row.answered and cluster_id and row.cluster_id and row.cluster_id != cluster_id:
        notes.append(f"belongs to another cluster: {row.cluster_id}")
    if row.answered and row.identity.provenance is Provenance.INFERRED and row.identity.inference:
        inference = row.identity.inference
        if inference.kind is BrokerKind.UNKNOWN and inference.containing_lines:
            notes.append(
                f"fits no release; a proxy before {any_of(inference.containing_lines)} may look so"
            )
    return "; ".join(notes)
