"""What roll calls tell of broker starts, as values (KIP-536): by their clocks, and by ours.

A start time is told by the broker's clock, which may be wrong by minutes. The roll calls bound it:
it lies after the last one that saw the start before, and before the first one that saw this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from rollcall.reports.export import flat_broker, to_arrow
from rollcall.reports.shapes import BROKER

FLAPPING_STARTS = 3
"""So many starts, with no long pause between them, are one flapping broker."""


UNLISTED = "unlisted"
"""The failure of a broker that the newest roll calls do not name."""


class Seen(NamedTuple):
    """A broker as roll calls saw it, unchanged, for a while."""

    cluster: str | None
    node_id: int | None
    host: str | None
    port: int | None
    failure: str | None
    start_time: datetime | None
    first: datetime
    last: datetime
    software_name: str | None = None
    software_version: str | None = None
    software_source: str | None = None

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Start:
    told: datetime
    """By the broker's clock."""
    after: datetime | None
    """The last roll call that saw it in the life before; None for the first start seen."""
    seen: datetime
    """The first roll call that saw this start."""
    moved_from: str | None = None
    """Its address before, when that is another."""
    is_earlier: bool = False
    """Its start time is before the last one: the clock was set back, or is another machine's."""

    @property
    def clock_off(self) -> timedelta:
        """By how much its clock is ahead of ours at least; negative when it is behind."""
        if self.told > self.seen:
            return self.told - self.seen
        if self.after is not None and self.told < self.after:
            return self.told - self.after
        return timedelta()

    @property
    def time(self) -> datetime:
        """By our clock, as near as the roll calls tell."""
        return self.told - self.clock_off


@dataclass(frozen=True, slots=True)
class Episode:
    """One start, or many in a row: a restart loop is one flapping broker, not 50 restarts."""

    starts: tuple[Start, ...]

    @property
    def is_flapping(self) -> bool:
        return len(self.starts) >= FLAPPING_STARTS


@dataclass(frozen=True, slots=True)
class BrokerStarts:
    cluster: str | None
    node_id: int | None
    address: str
    software_name: str | None
    software_version: str | None
    software_source: str | None
    episodes: tuple[Episode, ...]
    """In order; empty for a broker that never told a start time."""
    failure: str | None
    """Why it did not answer the newest roll call; None when it did."""
    last_seen: datetime

    @property
    def start(self) -> Start | None:
        return self.episodes[-1].starts[-1] if self.episodes else None

    @property
    def restarts(self) -> int:
        """Starts within the window, a flapping broker's once; the first one seen is none."""
        return sum(1 for it in self.episodes if it.is_flapping or it.starts[-1].after is not None)

    @property
    def is_flapping(self) -> bool:
        return bool(self.episodes) and self.episodes[-1].is_flapping


@dataclass(frozen=True, slots=True)
class Wave:
    """Starts of several brokers, one after another."""

    first: datetime
    last: datetime
    brokers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Restarts:
    first: datetime | None
    last: datetime | None
    brokers: tuple[BrokerStarts, ...]
    """Those that started last first; those that tell no start time last (536.4)."""
    waves: tuple[Wave, ...] = ()
    fewest_up: tuple[int, datetime] | None = None
    """How few answered a roll call together, and when; None when all always did."""

    @property
    def up_together_since(self) -> datetime | None:
        """Since when all brokers run; None while one is down or does not tell."""
        if not self.brokers or any(it.failure or it.start is None for it in self.brokers):
            return None
        return max(it.start.time for it in self.brokers if it.start)

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`, a row each."""
        return to_arrow(map(flat_broker, self.brokers), BROKER)
