"""What a judgement of a client is made of; making it prose is the command line's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from rollcall.catalog import LibraryCompatibility, Range, Risk
from rollcall.reports.impact.broker_limits import Ceiling
from rollcall.reports.values import Client


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


class Why(StrEnum):
    REFUSED = "refused"
    """The target refuses it, and the broker had higher ones: its own maximum, or a pin."""
    REFUSED_AT_MAXIMUM = "refused-at-maximum"
    """The target refuses it; it was the highest that the broker had, the client may have more."""
    KNOWN_TO_HAVE = "known-to-have"
    """The target refuses it, but this library version has versions that it accepts."""
    NO_LONGER_SEEN = "no-longer-seen"
    """The target refuses it; the client went on with accepted ones for days."""
    ABOVE = "above"
    """Above the target's maximum, from a client that asks and will use a lower one."""
    ABOVE_UNASKED = "above-unasked"
    """Above the target's maximum, from a client that was not seen to ask."""
    NOT_THERE = "not-there"
    """The target does not have this API yet."""
    NEEDED = "needed"
    """Not seen, but the library is known to need it for some work."""
    NOTHING_SEEN = "nothing-seen"
    """Nothing was seen that says which versions it will use."""
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class Finding:
    """What one API version, seen or needed, means at the target."""

    verdict: Verdict
    why: Why
    api_key: int | None = None
    versions: Range | None = None
    accepted: Range | None = None
    """What the target accepts of that API; None when it has none of it."""
    software_versions: tuple[str | None, ...] = ()
    requests: int = 0
    first: datetime | None = None
    last: datetime | None = None
    hosts: tuple[str, ...] = ()
    ceiling: Ceiling | None = None
    risk: Risk | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    client: Client
    verdict: Verdict
    findings: tuple[Finding, ...]
    """The deciding one first; APIs in accepted versions only are left out."""
    compatibilities: Mapping[str | None, LibraryCompatibility] = field(default_factory=dict)
    """What is known of its library at the target, for each software version."""

    @property
    def deciding(self) -> Finding | None:
        return self.findings[0] if self.findings else None

    @property
    def no_longer_seen(self) -> tuple[Finding, ...]:
        return tuple(it for it in self.findings if it.why is Why.NO_LONGER_SEEN)
