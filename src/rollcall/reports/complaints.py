"""What misbehaving is: its kinds, where it begins, and a complaint about one client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rollcall.reports.export import flat_complaint, to_arrow
from rollcall.reports.query.basis import Basis
from rollcall.reports.shapes import COMPLAINT
from rollcall.reports.values import ClientKey


class Kind(StrEnum):
    RECONNECTS = "reconnect storm"
    ASKS_ONCE = "asks once and leaves"
    METADATA_FLOOD = "Metadata flood"
    API_VERSIONS_FLOOD = "ApiVersions flood"
    ERRORS = "errors"
    THROTTLED = "throttled"
    MANY_VERSIONS = "many versions of one library"


class Unit(StrEnum):
    PER_HOUR = "per hour"
    PER_CONNECTION = "per connection"
    SHARE = "share"
    VERSIONS = "versions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where trouble begins. Rates are of one host at one broker.

    A rate is trouble when it is above what no client needs; or, where the others are calm, when
    it is many times what is usual there: the median of all clients."""

    reconnects_per_hour: int = 60
    requests_per_hour: int = 600
    """Of Metadata or ApiVersions: one every 6 seconds."""
    times_usual: int = 10
    least_reconnects: int = 6
    """An hour. So often a connection that is seldom used is opened again, as brokers and clients
    close it when it was idle for 10 minutes: up to there, being unusual is no trouble."""
    least_requests: int = 30
    times_per_connection: int = 5
    """ApiVersions for every connection, of which one or two are needed; or times what is usual."""
    once_share: float = 0.5
    once_count: int = 20
    once_per_hour: int = 5
    """So often it comes back to the same broker: once is what the end of a log looks like."""
    error_share: float = 0.05
    error_count: int = 20
    throttled_share: float = 0.01
    throttled_count: int = 10
    versions: int = 3
    """Of one library in one application on the same day."""

    def reconnects(self, usual: float) -> float:
        most = max(self.least_reconnects, self.times_usual * usual)
        return min(self.reconnects_per_hour, most)

    def requests(self, usual: float) -> float:
        return min(self.requests_per_hour, max(self.least_requests, self.times_usual * usual))

    def per_connection(self, usual: float) -> float:
        return self.times_per_connection * max(1, usual)


@dataclass(frozen=True, slots=True)
class Complaint:
    kind: Kind
    client: ClientKey
    versions: tuple[str, ...]
    count: int
    rate: float
    unit: Unit
    limit: float
    of: int | None = None
    """What the count is a share of."""
    host: str | None = None
    broker: str | None = None
    api_key: int | None = None

    @property
    def severity(self) -> float:
        """How many times the limit."""
        return self.rate / self.limit


@dataclass(frozen=True, slots=True)
class Trouble:
    basis: Basis
    complaints: tuple[Complaint, ...]
    """By kind, the worst first."""

    @property
    def clients(self) -> int:
        return len({it.client for it in self.complaints})

    @property
    def counts(self) -> Mapping[Kind, int]:
        found = {kind: sum(1 for it in self.complaints if it.kind is kind) for kind in Kind}
        return {kind: count for kind, count in found.items() if count}

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`, a row each."""
        return to_arrow(map(flat_complaint, self.complaints), COMPLAINT)
