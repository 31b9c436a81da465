"""Report of broker starts (KIP-536), from roll calls: restarts, rolling restarts, flapping.

A broker reports its start time by its own clock, which may be wrong by minutes. The roll calls
bound it: the start is after the last roll call with the previous start time and before the first
one with the new start time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

from rollcall.reports.export import BROKER, broker_row, to_arrow
from rollcall.reports.query.database import Reader, Tables, open_tables
from rollcall.reports.query.filters import NO_FILTERS, Filters, check_cluster

FLAPPING_STARTS = 3
"""A broker with this many starts in a row is flapping."""
FLAPPING_GAP = timedelta(hours=2)
"""Maximum time between two starts in a row."""
ROLLING_GAP = timedelta(hours=1)
"""Maximum time between the restarts of two brokers in a rolling restart."""
UNLISTED_AFTER = timedelta(hours=1)
"""A broker that newer roll calls do not list for this long is down: the metadata of a cluster may
omit brokers that are down."""
UNLISTED = "unlisted"
"""The failure of a broker that the newest roll calls do not list."""


class BrokerObservation(NamedTuple):
    """A broker in the same state in every roll call from `first` to `last`."""

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
    software_provenance: str | None = None

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Start:
    reported: datetime
    """By the broker's clock."""
    after: datetime | None
    """The last roll call with the previous start time; None for the first start observed."""
    observed: datetime
    """The first roll call with this start time."""
    moved_from: str | None = None
    """Its previous address, if that was another one."""
    is_earlier: bool = False
    """The start time is before the previous one: the clock was set back or is another machine's."""

    @property
    def clock_ahead(self) -> timedelta:
        """At least how far the broker's clock is ahead of ours; negative if it is behind."""
        if self.reported > self.observed:
            return self.reported - self.observed
        if self.after is not None and self.reported < self.after:
            return self.reported - self.after
        return timedelta()

    @property
    def time(self) -> datetime:
        """By our clock, as exact as the roll calls allow."""
        return self.reported - self.clock_ahead


@dataclass(frozen=True, slots=True)
class StartEpisode:
    """One start, or all starts of a restart loop."""

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
    software_provenance: str | None
    episodes: tuple[StartEpisode, ...]
    """In order; empty for a broker that reports no start time."""
    failure: str | None
    """Why it did not respond to the newest roll call; None if it did."""
    last_seen: datetime

    @property
    def start(self) -> Start | None:
        return self.episodes[-1].starts[-1] if self.episodes else None

    @property
    def restarts(self) -> int:
        """Restarts in the window; a restart loop counts once, the first start does not count."""
        return sum(
            1
            for episode in self.episodes
            if episode.is_flapping or episode.starts[-1].after is not None
        )

    @property
    def is_flapping(self) -> bool:
        return bool(self.episodes) and self.episodes[-1].is_flapping


@dataclass(frozen=True, slots=True)
class RollingRestart:
    """Restarts of several brokers, one after another."""

    first: datetime
    last: datetime
    brokers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Restarts:
    first: datetime | None
    last: datetime | None
    brokers: tuple[BrokerStarts, ...]
    """By start time, the newest first; brokers with an unknown start time last (536.4)."""
    rolling_restarts: tuple[RollingRestart, ...] = ()
    fewest_up: tuple[int, datetime] | None = None
    """The lowest number of brokers that responded to a roll call; None if all always did."""

    @property
    def up_together_since(self) -> datetime | None:
        """Since when all brokers are running; None if one is down or its start is unknown."""
        starts = [broker.start for broker in self.brokers if not broker.failure]
        times = [start.time for start in starts if start is not None]
        return max(times) if times and len(times) == len(self.brokers) else None

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` with one row per broker."""
        return to_arrow(map(broker_row, self.brokers), BROKER)


ORDER = "PARTITION BY cluster, broker_id ORDER BY first, last, host, port, failure, start_time"
# Consecutive hours in which a broker responded the same are one row: there are thousands of them.
OBSERVATIONS = """
WITH hours AS (
  SELECT cluster, coalesce(CAST(node_id AS VARCHAR), concat(host, ':', port)) AS broker_id,
    node_id, host, port, failure, start_time, min(first_seen) AS first, max(last_seen) AS last,
    any_value(software_name) AS name, any_value(software_version) AS version,
    any_value(software_source) AS provenance
  FROM {brokers} WHERE source = 'roll call' AND {where}
  GROUP BY cluster, node_id, host, port, failure, start_time, hour
), states AS (
  SELECT *, row(host, port, failure, start_time, name, version, provenance) AS state
  FROM hours
), changes AS (
  SELECT *, failure IS NOT NULL OR state IS DISTINCT FROM lag(state) OVER ({order}) AS is_new
  FROM states
), runs AS (
  SELECT *, count_if(is_new) OVER ({order} ROWS UNBOUNDED PRECEDING) AS run FROM changes
)
SELECT cluster, any_value(node_id), any_value(host), any_value(port), any_value(failure),
  any_value(start_time), min(first), max(last), any_value(name), any_value(version),
  any_value(provenance)
FROM runs GROUP BY cluster, broker_id, run
"""


def restarts(tables: Tables, *, filters: Filters = NO_FILTERS) -> Restarts:
    reader = open_tables(tables, filters)
    check_cluster(reader)
    return judge_restarts([BrokerObservation(*row) for row in reader.rows(_query(reader))])


def _query(reader: Reader) -> str:
    return OBSERVATIONS.format(brokers=reader.table("brokers"), where=reader.window(), order=ORDER)


def judge_restarts(observations: Sequence[BrokerObservation]) -> Restarts:
    newest: dict[str | None, datetime] = {}
    for observation in observations:
        newest[observation.cluster] = max(
            observation.last, newest.get(observation.cluster, observation.last)
        )
    brokers = [
        _broker_starts(list(rows), newest[key[0]])
        for key, rows in groupby(sorted(observations, key=_order), key=_broker_key)
    ]
    started = [broker for broker in brokers if broker.start is not None]
    started.sort(key=_start_time, reverse=True)
    brokers = [*started, *(broker for broker in brokers if broker.start is None)]
    unlisted = [
        (broker, newest[broker.cluster]) for broker in brokers if broker.failure == UNLISTED
    ]
    return Restarts(
        min((observation.first for observation in observations), default=None),
        max((observation.last for observation in observations), default=None),
        tuple(brokers),
        tuple(_rolling_restarts(brokers)),
        _fewest_up(observations, unlisted),
    )


def _broker_key(broker: BrokerObservation | BrokerStarts) -> tuple[str | None, int | str]:
    """Cluster and node id; the address of a broker without an id."""
    if broker.node_id is not None:
        return broker.cluster, broker.node_id
    return broker.cluster, broker.address


def _order(observation: BrokerObservation) -> tuple[object, ...]:
    cluster, name = _broker_key(observation)
    return cluster or "", isinstance(name, str), name, observation.first, observation.last


def _start_time(broker: BrokerStarts) -> datetime:
    return broker.start.time if broker.start else broker.last_seen


def _broker_starts(rows: list[BrokerObservation], newest: datetime) -> BrokerStarts:
    last = max(rows, key=lambda row: row.last)
    with_version = [row for row in rows if row.software_version is not None]
    software = with_version[-1][8:11] if with_version else (None, None, None)
    return BrokerStarts(
        last.cluster,
        last.node_id,
        last.address,
        *software,
        tuple(_episodes(list(_starts(rows)))),
        last.failure if newest - last.last <= UNLISTED_AFTER else UNLISTED,
        last.last,
    )


def _starts(rows: Iterable[BrokerObservation]) -> Iterator[Start]:
    """A start per change of the start time; a lower start time is a new start as well."""
    previous: BrokerObservation | None = None
    for row in rows:
        if row.start_time is None or row.failure is not None:
            continue
        if previous is None:
            yield Start(row.start_time, None, row.first)
        elif row.start_time != previous.start_time:
            moved = (row.host, row.port) != (previous.host, previous.port)
            yield Start(
                row.start_time,
                previous.last,
                row.first,
                previous.address if moved else None,
                previous.start_time is not None and row.start_time < previous.start_time,
            )
        previous = row


def _episodes(starts: Sequence[Start]) -> Iterator[StartEpisode]:
    runs: list[list[Start]] = []
    for start in starts:
        if runs and start.time - runs[-1][-1].time <= FLAPPING_GAP:
            runs[-1].append(start)
        else:
            runs.append([start])
    for run in runs:
        if len(run) >= FLAPPING_STARTS:
            yield StartEpisode(tuple(run))
        else:
            yield from (StartEpisode((start,)) for start in run)


def _rolling_restarts(brokers: Sequence[BrokerStarts]) -> Iterator[RollingRestart]:
    times = sorted(
        (episode.starts[-1].time, -1 if broker.node_id is None else broker.node_id)
        for broker in brokers
        for episode in broker.episodes
        if episode.starts[-1].after is not None and not episode.is_flapping
    )
    runs: list[list[tuple[datetime, int]]] = []
    for time, node_id in times:
        if runs and time - runs[-1][-1][0] <= ROLLING_GAP:
            runs[-1].append((time, node_id))
        else:
            runs.append([(time, node_id)])
    for run in runs:
        names = tuple(dict.fromkeys("?" if node_id < 0 else str(node_id) for _, node_id in run))
        if len(names) > 1:
            yield RollingRestart(run[0][0], run[-1][0], names)


def _fewest_up(
    observations: Sequence[BrokerObservation], unlisted: Sequence[tuple[BrokerStarts, datetime]]
) -> tuple[int, datetime] | None:
    down = [
        (_broker_key(row), row.first, row.last) for row in observations if row.failure is not None
    ]
    down += [(_broker_key(broker), newest, newest) for broker, newest in unlisted]
    known = len({_broker_key(row) for row in observations})
    fewest: tuple[int, datetime] | None = None
    for time in sorted({first for _, first, _ in down}):
        up = known - len({broker for broker, first, last in down if first <= time <= last})
        if fewest is None or up < fewest[0]:
            fewest = up, time
    return fewest
