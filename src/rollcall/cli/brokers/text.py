"""Software, version, times and notes of a broker as text for table cells.

An inferred value is marked as such, with all its candidates. A start time that the broker does not
report is "unknown", never 1970 (536.4).
"""

from collections.abc import Sequence
from datetime import UTC, datetime

from rollcall.catalog import BrokerIdentity, BrokerKind, OtherProduct, Provenance, ReleaseInference
from rollcall.cli.terminal.text import duration
from rollcall.client import BrokerRow

UNKNOWN = "unknown"
MAX_CANDIDATES = 3
"""A cell with more candidates shows only how many there are."""


def software(identity: BrokerIdentity) -> str | None:
    """The software name: as reported, or inferred from the API versions."""
    if identity.provenance is Provenance.REPORTED:
        return identity.name
    if identity.inference is None or identity.provenance is Provenance.CONFIGURED:
        return None
    return inferred_software(identity.inference)


def inferred_software(inference: ReleaseInference) -> str | None:
    if inference.kind is BrokerKind.OTHER:
        products = [product.name for product in inference.other_products]
        return any_of(products) or "not Apache Kafka"
    return "Apache Kafka" if inference.candidates or inference.newer_than else None


def inferred_version(inference: ReleaseInference) -> str | None:
    """All candidates, for example `3.8 or 3.9`."""
    if inference.newer_than:
        return f"newer than {inference.newer_than}"
    return any_of(_inferred_versions(inference)) or None


def _inferred_versions(inference: ReleaseInference) -> Sequence[str]:
    if inference.kind is BrokerKind.OTHER:
        return [
            text for product in inference.other_products if (text := _product_versions(product))
        ]
    return inference.lines


def _product_versions(product: OtherProduct) -> str:
    if product.since and product.until:
        return f"{product.since} to {product.until}"
    if product.since:
        return f"{product.since} or later"
    return f"up to {product.until}" if product.until else ""


def software_cell(identity: BrokerIdentity) -> str | None:
    """The software name, marked as inferred where the version cell cannot carry the mark."""
    name = software(identity)
    if name and identity.provenance is Provenance.INFERRED and version_cell(identity) is None:
        return f"{name} (inferred)"
    return name


def version_cell(identity: BrokerIdentity) -> str | None:
    """`3.9.1`, `3.9 (inferred)`, `0.9.0 (configured)` or `unknown (5 candidates)`."""
    if identity.provenance is Provenance.REPORTED:
        return identity.version
    if identity.provenance is Provenance.CONFIGURED:
        return identity.version and f"{identity.version} (configured)"
    if identity.inference is None:
        return None
    candidates = len(_inferred_versions(identity.inference))
    if candidates > MAX_CANDIDATES and not identity.inference.newer_than:
        return f"{UNKNOWN} ({candidates} candidates)"
    version = inferred_version(identity.inference)
    return version and f"{version} (inferred)"


def any_of(names: Sequence[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def moment(ms: int) -> str:
    """UTC time to the second; `unknown` for 0 (536.4)."""
    iso = iso_time(ms)
    return UNKNOWN if iso is None else iso[:19].replace("T", " ")


def iso_time(ms: int) -> str | None:
    """ISO 8601 time to the millisecond; None for 0 and for times outside the calendar."""
    if ms <= 0:
        return None
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):  # a broker can report any int64
        return None


def uptime(row: BrokerRow, now_ms: int) -> str | None:
    if not row.start_time_ms or row.start_time_ms > now_ms:
        return None
    return duration((now_ms - row.start_time_ms) / 1000)


def note(row: BrokerRow, cluster_id: str | None) -> str:
    """Failure and anomalies of a broker; empty when there are none."""
    notes = []
    if row.failure is not None:
        notes.append(f"{row.failure}: {row.reason}")
    if row.node.fenced:
        notes.append("fenced")
    if row.clock_ahead_ms:
        notes.append(f"clock at least {duration(row.clock_ahead_ms / 1000)} ahead of this machine")
    if row.answered and cluster_id and row.cluster_id and row.cluster_id != cluster_id:
        notes.append(f"belongs to another cluster: {row.cluster_id}")
    if row.answered and row.identity.provenance is Provenance.INFERRED and row.identity.inference:
        inference = row.identity.inference
        if inference.kind is BrokerKind.UNKNOWN and inference.containing_lines:
            notes.append(
                "matches no release; possibly a proxy in front of "
                f"{any_of(inference.containing_lines)}"
            )
    return "; ".join(notes)
