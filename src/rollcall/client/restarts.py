"""Waiting for restarts: the reason for KIP-536.

A broker has restarted when it says so itself, with another start time than it had at the beginning;
it is back when every other broker that tells start times tells that one too. A start time that is
lower than the one before says that a clock went back, which is worth a warning.

A time may be given instead of what is seen at the beginning, for restarts that began before the
waiting did: a broker that started later has restarted. One that started earlier is taken for not
yet restarted, as long as its start time stays what it was at the beginning.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from rollcall.client.admin import AdminClient
from rollcall.client.errors import ClientError, FailureKind, UnreachableError
from rollcall.client.roll_call import BrokerRow, RollCall, roll_call

SAY_AFTER = "say with --after when it had started before"


class NoStartTimeError(ClientError):
    """A broker tells no start time: there is nothing to wait for."""

    failure = FailureKind.UNSUPPORTED


class RestartEvent(StrEnum):
    WAITING = "waiting"
    """Its start time at the beginning is known."""
    DOWN = "down"
    RESTARTED = "restarted"
    CLOCK_WENT_BACK = "clock went back"
    """It restarted, and yet started earlier than before."""
    BACK = "back"
    """It restarted, and all others know."""
    DOWN_TOGETHER = "down together"
    """Not the only one that is down."""


@dataclass(frozen=True, slots=True)
class RestartProgress:
    broker: int
    event: RestartEvent
    start_time_ms: int = 0
    before_ms: int = 0
    back: int = 0
    """How many are back."""
    of: int = 0


@dataclass
class _Watched:
    """One broker that is waited for."""

    id: int
    at_beginning: int
    after: int | None
    restarted: bool = False
    back: bool = False
    down: bool = False
    down_with_others: bool = False

    @property
    def before(self) -> int:
        return self.at_beginning if self.after is None else self.after

    def is_new(self, start: int) -> bool:
        if self.after is not None and start > self.after:
            return True
        return bool(self.at_beginning) and start != self.at_beginning


@dataclass
class _Watch:
    watched: dict[int, _Watched] = field(default_factory=dict)

    def begin(self, calls: RollCall, brokers: Collection[int], after: int | None) -> None:
        for broker in brokers:
            start = _at_beginning(calls, broker, after)
            self.watched[broker] = _Watched(broker, start, after)

    def look(self, calls: RollCall | None) -> Iterator[RestartProgress]:
        """What is new since the last look; None when nobody could be asked."""
        waiting = [one for one in self.watched.values() if not one.back]
        for one in waiting:
            row = calls.row(one.id) if calls else None
            yield from self._look_at(one, row, calls)
        several = sum(one.down for one in waiting) > 1
        for one in waiting:
            if several and one.down and not one.down_with_others:
                yield self._progress(one, RestartEvent.DOWN_TOGETHER)
            one.down_with_others = several and one.down

    def _look_at(
        self, one: _Watched, row: BrokerRow | None, calls: RollCall | None
    ) -> Iterator[RestartProgress]:
        if row is None or not row.answered or calls is None:
            if not one.down:
                one.down = True
                yield self._progress(one, RestartEvent.DOWN)
            return
        one.down = False
        start = _told_start(row)
        if not one.restarted and one.is_new(start):
            one.restarted = True
            yield self._progress(one, RestartEvent.RESTARTED, start)
            if start < one.before:
                yield self._progress(one, RestartEvent.CLOCK_WENT_BACK, start)
        if one.restarted and _others_agree(calls, one.id, start):
            one.back = True
            yield self._progress(one, RestartEvent.BACK, start)

    def beginning(self) -> Iterator[RestartProgress]:
        return (self._progress(one, RestartEvent.WAITING) for one in self.watched.values())

    @property
    def done(self) -> bool:
        return all(one.back for one in self.watched.values())

    def _progress(self, one: _Watched, event: RestartEvent, start: int = 0) -> RestartProgress:
        back = sum(each.back for each in self.watched.values())
        return RestartProgress(one.id, event, start, one.before, back, len(self.watched))


async def watch_restarts(
    client: AdminClient,
    brokers: Collection[int] | None = None,
    *,
    after: int | None = None,
    poll: float = 0.5,
) -> AsyncGenerator[RestartProgress, None]:
    """Tells what happens until these brokers (all of the cluster) have restarted and are back."""
    watch = _Watch()
    calls: RollCall | None = await roll_call(client, keep_open=True)
    assert calls is not None
    everyone = [row.node.id for row in calls.rows]
    watch.begin(calls, everyone if brokers is None else brokers, after)
    for progress in watch.beginning():
        yield progress
    while True:
        for progress in watch.look(calls):
            yield progress
        if watch.done:
            return
        await asyncio.sleep(poll)
        try:
            calls = await roll_call(client, keep_open=True)
        except ClientError:  # the only broker, or all of them at once
            calls = None


def _at_beginning(calls: RollCall, broker: int, after: int | None) -> int:
    """Its own word, or else that of the others; 0 if a time is given and nobody tells."""
    row = calls.row(broker)
    if row is not None and row.answered:
        return _told_start(row)
    told = row.node.start_time_ms if row else 0
    if told or after is not None:
        return told
    if row is None:
        known = ", ".join(str(each.node.id) for each in calls.rows)
        raise UnreachableError(
            f"there is no broker {broker}: the cluster has {known}",
            hint=f"check the number; if it is restarting already, {SAY_AFTER}",
        )
    raise UnreachableError(
        f"broker {broker} does not answer, and no other broker tells when it started",
        hint=f"if it is restarting already, {SAY_AFTER}",
    )


def _told_start(row: BrokerRow) -> int:
    if not row.start_time_ms:
        raise NoStartTimeError(
            f"broker {row.node.id} at {row.node.address} tells no start time",
            hint="released Apache Kafka has none (KIP-536 is not in it): only time tells there",
        )
    return row.start_time_ms


def _others_agree(calls: RollCall, broker: int, start: int) -> bool:
    told = [
        row.start_times()
        for row in calls.rows
        if row.answered and row.node.id != broker and row.start_time_ms
    ]
    return all(times.get(broker) == start for times in told)
