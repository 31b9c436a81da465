"""Values of an impact judgement: verdict, reason, finding. `rollcall.cli` turns them into text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from rollcall.catalog import LibraryCompatibility, Range, Risk
from rollcall.reports.clients import Client
from rollcall.reports.impact.broker_limits import BrokerMaximum


class Verdict(StrEnum):
    """The worst first."""

    BREAKS = "breaks"
    AT_RISK = "at risk"
    UNKNOWN = "unknown"
    SAFE = "safe"

    @property
    def rank(self) -> int:
        return _RANKS[self]


_RANKS = {verdict: rank for rank, verdict in enumerate(Verdict)}


class Reason(StrEnum):
    """Why a verdict was reached. Each reason has one verdict."""

    REFUSED = "refused"
    """The target refuses the version, which is below the broker's maximum: the client's own
    maximum, or a pin."""
    REFUSED_AT_BROKER_MAXIMUM = "refused-at-broker-maximum"
    """The target refuses the version. It is the broker's maximum; the client may support more."""
    LIBRARY_SUPPORTS_ACCEPTED = "library-supports-accepted"
    """The target refuses the version, but the library version supports accepted ones."""
    SUPERSEDED = "superseded"
    """The target refuses the version; the client used accepted ones on 7 later days."""
    ABOVE_MAXIMUM = "above-maximum"
    """Above the target's maximum, from a client that sends ApiVersions and will use a lower one."""
    ABOVE_MAXIMUM_NOT_NEGOTIATED = "above-maximum-not-negotiated"
    """Above the target's maximum, from a client that was not observed to send ApiVersions."""
    API_NOT_AVAILABLE = "api-not-available"
    """The target does not have this API yet."""
    NEEDED_BY_LIBRARY = "needed-by-library"
    """Not observed, but the library version needs it for some operation."""
    NO_EVIDENCE = "no-evidence"
    """No request shows which versions the client will use."""
    UNINFORMATIVE = "uninformative"
    """A request that every client may send, in this version, to any broker."""
    ACCEPTED = "accepted"

    @property
    def verdict(self) -> Verdict:
        return _VERDICTS[self]


_VERDICTS = {
    Reason.REFUSED: Verdict.BREAKS,
    Reason.REFUSED_AT_BROKER_MAXIMUM: Verdict.UNKNOWN,
    Reason.LIBRARY_SUPPORTS_ACCEPTED: Verdict.SAFE,
    Reason.SUPERSEDED: Verdict.SAFE,
    Reason.ABOVE_MAXIMUM: Verdict.SAFE,
    Reason.ABOVE_MAXIMUM_NOT_NEGOTIATED: Verdict.UNKNOWN,
    Reason.API_NOT_AVAILABLE: Verdict.UNKNOWN,
    Reason.NEEDED_BY_LIBRARY: Verdict.AT_RISK,
    Reason.NO_EVIDENCE: Verdict.UNKNOWN,
    Reason.UNINFORMATIVE: Verdict.SAFE,
    Reason.ACCEPTED: Verdict.SAFE,
}


@dataclass(frozen=True, slots=True)
class Finding:
    """What one API version, used by a client or needed by its library, means at the target."""

    reason: Reason
    api_key: int | None = None
    versions: Range | None = None
    accepted: Range | None = None
    """The versions that the target accepts; None if it does not have the API."""
    software_versions: tuple[str | None, ...] = ()
    requests: int = 0
    first: datetime | None = None
    last: datetime | None = None
    hosts: tuple[str, ...] = ()
    broker_maximum: BrokerMaximum | None = None
    """For refused versions."""
    risk: Risk | None = None

    @property
    def verdict(self) -> Verdict:
        return self.reason.verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    client: Client
    findings: tuple[Finding, ...]
    """The deciding one first; without API versions that the target accepts."""
    compatibilities: Mapping[str | None, LibraryCompatibility] = field(default_factory=dict)
    """Compatibility of its library with the target, per software version."""

    @property
    def verdict(self) -> Verdict:
        return self.findings[0].verdict if self.findings else Verdict.SAFE

    @property
    def deciding(self) -> Finding | None:
        return self.findings[0] if self.findings else None

    @property
    def superseded(self) -> tuple[Finding, ...]:
        return tuple(finding for finding in self.findings if finding.reason is Reason.SUPERSEDED)
