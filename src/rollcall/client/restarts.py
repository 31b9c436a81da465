"""Waiting until brokers have restarted (KIP-536).

A broker has restarted when it reports another start time than at the beginning. It is back when
every other broker that reports start times reports the same one. A start time that is lower than
before means that the clock was set back, which is a warning.

With `after`, a broker that started later than that time has restarted: for restarts that began
before the waiting. A broker that started earlier has not restarted yet, as long as it reports the
same start time as at the beginning.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from rollcall.client.admin import AdminClient
from rollcall.client.errors import ClientError, FailureKind, UnreachableError
from rollcall.client.roll_call import BrokerRow, RollCall, roll_call

AFTER_HINT = "if the broker is restarting already, pass its previous start time with --after"


class NoStartTimeError(ClientError):
    """A broker does not report its start time, so a restart cannot be detected."""

    failure = FailureKind.UNSUPPORTED


class RestartEvent(StrEnum):
    WAITING = "waiting"
    """The start time before the restart is known."""
    DOWN = "down"
    RESTARTED = "restarted"
    CLOCK_WENT_BACK = "clock went back"
    """Restarted with an earlier start time than before."""
    BACK = "back"
    """Restarted, and all other brokers report the new start time."""
    DOWN_TOGETHER = "down together"
    """Down at the same time as another broker."""


@dataclass(frozen=True, slots=True)
class RestartProgress:
    broker: int
    event: RestartEvent
    start_time_ms: int = 0
    before_ms: int = 0
    back: int = 0
    """Number of brokers that are back."""
    of: int = 0
    """Number of brokers that are watched."""


@dataclass
class _WatchedBroker:
    id: int
    initial_ms: int
    after_ms: int | None
    restarted: bool = False
    back: bool = False
    down: bool = False
    down_with_others: bool = False

    @property
    def before_ms(self) -> int:
        return self.initial_ms if self.after_ms is None else self.after_ms

    def is_new(self, start_ms: int) -> bool:
        if self.after_ms is not None and start_ms > self.after_ms:
            return True
        return bool(self.initial_ms) and start_ms != self.initial_ms


@dataclass
class _Watch:
    """State of all watched brokers, updated from one roll call after another."""

    brokers: dict[int, _WatchedBroker] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        return all(broker.back for broker in self.brokers.values())

    def begin(
        self, calls: RollCall, broker_ids: Collection[int], after: int | None
    ) -> list[RestartProgress]:
        for broker_id in broker_ids:
            initial_ms = _initial_start_time(calls, broker_id, after)
            self.brokers[broker_id] = _WatchedBroker(broker_id, initial_ms, after)
        return [self._progress(broker, RestartEvent.WAITING) for broker in self.brokers.values()]

    def update(self, calls: RollCall | None) -> Iterator[RestartProgress]:
        """Events since the last update; `calls` is None when no broker could be queried."""
        waiting = [broker for broker in self.brokers.values() if not broker.back]
        for broker in waiting:
            yield from self._update_broker(broker, calls)
        several_down = sum(broker.down for broker in waiting) > 1
        for broker in waiting:
            down_with_others = several_down and broker.down
            if down_with_others and not broker.down_with_others:
                yield self._progress(broker, RestartEvent.DOWN_TOGETHER)
            broker.down_with_others = down_with_others

    def _update_broker(
        self, broker: _WatchedBroker, calls: RollCall | None
    ) -> Iterator[RestartProgress]:
        row = calls.row(broker.id) if calls else None
        if calls is None or row is None or not row.answered:
            if not broker.down:
                broker.down = True
                yield self._progress(broker, RestartEvent.DOWN)
            return
        broker.down = False
        start_ms = _reported_start_time(row)
        if not broker.restarted and broker.is_new(start_ms):
            broker.restarted = True
            yield self._progress(broker, RestartEvent.RESTARTED, start_ms)
            if start_ms < broker.before_ms:
                yield self._progress(broker, RestartEvent.CLOCK_WENT_BACK, start_ms)
        if broker.restarted and _others_agree(calls, broker.id, start_ms):
            broker.back = True
            yield self._progress(broker, RestartEvent.BACK, start_ms)

    def _progress(
        self, broker: _WatchedBroker, event: RestartEvent, start_ms: int = 0
    ) -> RestartProgress:
        back = sum(watched.back for watched in self.brokers.values())
        return RestartProgress(
            broker.id, event, start_ms, broker.before_ms, back, len(self.brokers)
        )


async def watch_restarts(
    client: AdminClient,
    brokers: Collection[int] | None = None,
    *,
    after: int | None = None,
    poll: float = 0.5,
) -> AsyncGenerator[RestartProgress, None]:
    """Yield events until these brokers (default all) have restarted and are back.

    `after` is a time in Unix milliseconds, `poll` the pause between roll calls in seconds.
    """
    watch = _Watch()
    calls: RollCall | None = await roll_call(client, keep_open=True)
    assert calls is not None
    broker_ids = [row.node.id for row in calls.rows] if brokers is None else brokers
    for progress in watch.begin(calls, broker_ids, after):
        yield progress
    while True:
        for progress in watch.update(calls):
            yield progress
        if watch.done:
            return
        await asyncio.sleep(poll)
        try:
            calls = await roll_call(client, keep_open=True)
        except ClientError:  # a cluster of one broker, or all are down at once
            calls = None


def _initial_start_time(calls: RollCall, broker_id: int, after: int | None) -> int:
    """Start time from the broker itself or from another one; 0 if unknown and `after` is given."""
    row = calls.row(broker_id)
    if row is not None and row.answered:
        return _reported_start_time(row)
    start_ms = row.node.start_time_ms if row else 0
    if start_ms or after is not None:
        return start_ms
    if row is None:
        known = ", ".join(str(listed.node.id) for listed in calls.rows)
        raise UnreachableError(
            f"broker {broker_id} does not exist: the cluster has {known}",
            hint=f"check the broker id; {AFTER_HINT}",
        )
    raise UnreachableError(
        f"broker {broker_id} does not respond, and no other broker reports its start time",
        hint=AFTER_HINT,
    )


def _reported_start_time(row: BrokerRow) -> int:
    if not row.start_time_ms:
        raise NoStartTimeError(
            f"broker {row.node.id} at {row.node.address} does not report its start time",
            hint="use brokers with KIP-536: released Apache Kafka does not implement it",
        )
    return row.start_time_ms


def _others_agree(calls: RollCall, broker_id: int, start_ms: int) -> bool:
    others = [
        row.start_times()
        for row in calls.rows
        if row.answered and row.node.id != broker_id and row.start_time_ms
    ]
    return all(start_times.get(broker_id) == start_ms for start_times in others)
