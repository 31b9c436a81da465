"""What an answer rests on: the window, the brokers heard, how much was heard, and the limits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Limit(StrEnum):
    """What the logs cannot show, or did not."""

    RAW_SASL = "raw-sasl"
    """SASL without a handshake, and all that comes before authentication, is never logged."""
    INFO_ONLY = "info-only"
    """Logs at INFO hold deprecated requests only (3.9.1 and later): the inventory is incomplete."""
    NO_NAMES = "no-names"
    """Brokers before 2.5 write no software names in their lines (before 2.4, none at all)."""
    FORGEABLE = "forgeable"
    """Text forms hold client ids unescaped: whoever may connect can forge an identity."""
    NO_ERRORS = "no-errors"
    """Text forms hold no error codes that could be counted."""
    NO_ROLL_CALL = "no-roll-call"
    """No roll call was read, so nobody knows how many brokers there are."""
    REJECTS = "rejects"
    """Some lines could not be read."""


@dataclass(frozen=True, slots=True)
class HeardBroker:
    cluster: str | None
    broker: str | None
    requests: int
    hours: int
    """Hours with a line."""
    info_only: bool = False


@dataclass(frozen=True, slots=True)
class Basis:
    first: datetime | None = None
    last: datetime | None = None
    days: int = 0
    """Days with a line."""
    heard: tuple[HeardBroker, ...] = ()
    """By the names that logs have for them: a broker with two addresses is two."""
    brokers_known: int = 0
    """Brokers of roll calls; of clusters that none was made of, as many as were heard at least: a
    name of IPv4 and one of IPv6 may be the same broker's."""
    not_heard: tuple[str, ...] = ()
    """Brokers that a roll call names, and of which there is no line in the window."""
    lines: int = 0
    """Of all files read, whatever the window."""
    rejected: int = 0
    requests: int = 0
    replica_requests: int = 0
    forwarded_requests: int = 0
    unidentified_requests: int | None = None
    """Of clients whose library neither told its name nor could be inferred; None: not asked."""
    listed_requests: int | None = None
    """Of the clients that were asked for, identified or not; None: not asked."""
    limits: tuple[Limit, ...] = ()

    @property
    def brokers_heard(self) -> int:
        return self.brokers_known - len(self.not_heard)

    @property
    def client_requests(self) -> int:
        return self.requests - self.replica_requests - self.forwarded_requests

    @property
    def unidentified_share(self) -> float | None:
        """Of what is listed: of all clients, or of those that were asked for."""
        if self.unidentified_requests is None or not self.listed_requests:
            return None
        return self.unidentified_requests / self.listed_requests

    def is_thin(self, min_days: int) -> bool:
        """Too little to call anything safe for good."""
        return self.days < min_days or bool(self.not_heard) or Limit.INFO_ONLY in self.limits
