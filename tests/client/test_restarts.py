"""Waiting for restarts, on a scripted cluster whose start times the test changes."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from rollcall.client import (
    AdminClient,
    NoStartTimeError,
    RestartEvent,
    RestartProgress,
    UnreachableError,
    watch_restarts,
)
from rollcall.protocol import Request
from tests.client.scripted import CLOSE, PATIENT, ScriptedBroker, running, wait_until
from tests.protocol.server_conversation import ServerConversation

CONFIG = replace(PATIENT, backoff=0.01, backoff_max=0.02, rounds=1)
BEFORE, AFTER = 1_700_000_000_000, 1_700_000_500_000


@dataclass
class Member(ScriptedBroker):
    """Reports the start times in `known`."""

    known: dict[int, int] = field(default_factory=dict)
    is_up: bool = True

    async def respond(
        self, request: Request, conversation: ServerConversation, number: int
    ) -> bytes | None:
        return await super().respond(request, conversation, number) if self.is_up else CLOSE

    def listed_nodes(self):  # type: ignore[no-untyped-def]
        return [(i, a, rack, self.known.get(i, 0)) for i, a, rack, _ in self.nodes]


@dataclass
class SmallCluster:
    members: dict[int, Member]

    def set_start(self, broker: int, start: int, *known_to: int) -> None:
        for number in known_to or self.members:
            self.members[number].known[broker] = start

    def down(self, broker: int) -> None:
        self.members[broker].is_up = False
        self.members[broker].close_connections()

    def up(self, broker: int, start: int) -> None:
        self.members[broker].is_up = True
        self.set_start(broker, start, broker)


@asynccontextmanager
async def small_cluster(*starts: int) -> AsyncIterator[tuple[SmallCluster, AdminClient]]:
    members = [Member(id=i) for i in range(1, len(starts) + 1)]
    async with running(*members) as addresses:
        for member in members:
            member.nodes = [(m.id, m.address, None, 0) for m in members]
            member.known = dict(enumerate(starts, start=1))
        async with AdminClient(addresses, CONFIG) as client:
            yield SmallCluster({m.id: m for m in members}), client


async def watch(
    client: AdminClient,
    brokers: list[int] | None,
    *actions: Callable[[], object],
    after: int | None = None,
    seconds: float = 60.0,
) -> list[tuple[int, RestartEvent]]:
    """Events, with the next action run after each event of a broker that is not back."""
    seen: list[RestartProgress] = []
    remaining = list(actions)
    async with asyncio.timeout(seconds):
        async with aclosing(watch_restarts(client, brokers, after=after, poll=0.02)) as progress:
            async for step in progress:
                seen.append(step)
                if remaining and step.event in (
                    RestartEvent.DOWN,
                    RestartEvent.RESTARTED,
                    RestartEvent.WAITING,
                ):
                    remaining.pop(0)()
    return [(step.broker, step.event) for step in seen]


async def test_536_5_broker_is_back_when_it_reports_a_new_start_time_and_the_others_agree() -> None:
    async with small_cluster(BEFORE, BEFORE, BEFORE) as (cluster, client):
        events = await watch(
            client,
            [2],
            lambda: cluster.down(2),
            lambda: cluster.up(2, AFTER),
            lambda: cluster.set_start(2, AFTER),
        )
    assert events == [
        (2, RestartEvent.WAITING),
        (2, RestartEvent.DOWN),
        (2, RestartEvent.RESTARTED),
        (2, RestartEvent.BACK),
    ]


async def test_536_5_broker_is_not_back_before_every_other_broker_reports_its_start_time() -> None:
    async with small_cluster(BEFORE, BEFORE, BEFORE) as (cluster, client):
        cluster.set_start(2, AFTER, 2, 1)  # not to 3
        with pytest.raises(TimeoutError):
            await watch(client, [2], after=BEFORE, seconds=0.3)
        cluster.set_start(2, AFTER)
        assert (await watch(client, [2], after=BEFORE))[-1] == (2, RestartEvent.BACK)


async def test_536_5_start_time_reported_by_others_only_is_not_a_restart() -> None:
    async with small_cluster(BEFORE, BEFORE) as (cluster, client):
        cluster.set_start(2, AFTER, 1)
        with pytest.raises(TimeoutError):
            await watch(client, [2], seconds=0.3)


async def test_536_5_restart_between_two_polls_is_detected() -> None:
    async with small_cluster(BEFORE, BEFORE) as (cluster, client):
        events = await watch(client, [1], lambda: cluster.set_start(1, AFTER))
    assert [event for _, event in events] == [
        RestartEvent.WAITING,
        RestartEvent.RESTARTED,
        RestartEvent.BACK,
    ]


async def test_536_5_lower_start_time_is_a_restart_with_a_warning() -> None:
    async with small_cluster(AFTER, AFTER) as (cluster, client):
        events = await watch(client, [1], lambda: cluster.set_start(1, BEFORE))
    assert [event for _, event in events] == [
        RestartEvent.WAITING,
        RestartEvent.RESTARTED,
        RestartEvent.CLOCK_WENT_BACK,
        RestartEvent.BACK,
    ]


async def test_536_5_after_detects_a_restart_before_the_waiting() -> None:
    async with small_cluster(AFTER, BEFORE) as (_, client):
        events = await watch(client, [1], after=BEFORE)
    assert [event for _, event in events] == [
        RestartEvent.WAITING,
        RestartEvent.RESTARTED,
        RestartEvent.BACK,
    ]


async def test_536_5_broker_that_started_before_the_given_time_has_not_restarted_yet() -> None:
    async with small_cluster(BEFORE, BEFORE) as (cluster, client):
        with pytest.raises(TimeoutError):
            await watch(client, [1], after=BEFORE + 1000, seconds=0.3)
        events = await watch(client, [1], lambda: cluster.set_start(1, AFTER), after=BEFORE + 1000)
    assert events[-1] == (1, RestartEvent.BACK)


async def test_536_5_restart_with_a_clock_behind_the_given_time_is_a_warning() -> None:
    async with small_cluster(BEFORE, BEFORE) as (cluster, client):
        events = await watch(client, [1], lambda: cluster.set_start(1, BEFORE + 5), after=AFTER)
    assert (1, RestartEvent.CLOCK_WENT_BACK) in events
    assert events[-1] == (1, RestartEvent.BACK)


async def test_536_5_whole_cluster_restarts_one_broker_after_another() -> None:
    async with small_cluster(BEFORE, BEFORE, BEFORE) as (cluster, client):
        seen: list[RestartProgress] = []
        cluster.down(1)
        cluster.set_start(1, BEFORE)
        async with asyncio.timeout(60):
            async for progress in watch_restarts(client, poll=0.02):
                seen.append(progress)
                if progress.event is RestartEvent.DOWN:
                    cluster.up(progress.broker, AFTER + progress.broker)
                elif progress.event is RestartEvent.RESTARTED:
                    cluster.set_start(progress.broker, AFTER + progress.broker)
                elif progress.event is RestartEvent.BACK and progress.broker < 3:
                    cluster.down(progress.broker + 1)
    assert [progress.broker for progress in seen if progress.event is RestartEvent.BACK] == [
        1,
        2,
        3,
    ]
    assert [
        (progress.back, progress.of) for progress in seen if progress.event is RestartEvent.BACK
    ] == [
        (1, 3),
        (2, 3),
        (3, 3),
    ]
    assert RestartEvent.DOWN_TOGETHER not in {progress.event for progress in seen}


async def test_536_5_brokers_down_at_the_same_time_are_reported_once() -> None:
    async with small_cluster(BEFORE, BEFORE, BEFORE) as (cluster, client):
        cluster.down(1)
        cluster.down(2)
        events: list[tuple[int, RestartEvent]] = []

        async def collect() -> None:
            async for progress in watch_restarts(client, poll=0.02):
                events.append((progress.broker, progress.event))

        task = asyncio.create_task(collect())
        await wait_until(lambda: (2, RestartEvent.DOWN_TOGETHER) in events)
        await asyncio.sleep(0.5)  # some more polls
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert events.count((1, RestartEvent.DOWN_TOGETHER)) == 1
    assert events.count((2, RestartEvent.DOWN_TOGETHER)) == 1


async def test_536_5_restart_of_the_only_broker_is_detected() -> None:
    async with small_cluster(BEFORE) as (cluster, client):
        events = await watch(client, [1], lambda: cluster.down(1), lambda: cluster.up(1, AFTER))
    assert events == [
        (1, RestartEvent.WAITING),
        (1, RestartEvent.DOWN),
        (1, RestartEvent.RESTARTED),
        (1, RestartEvent.BACK),
    ]


async def test_536_5_broker_without_a_start_time_is_an_error() -> None:
    async with small_cluster(BEFORE, 0) as (_, client):
        with pytest.raises(
            NoStartTimeError, match=r"broker 2 at .* does not report its start time"
        ):
            await watch(client, [2])


async def test_536_5_other_brokers_without_start_times_are_ignored() -> None:
    async with small_cluster(AFTER, 0) as (cluster, client):
        cluster.members[2].known = {}
        assert (await watch(client, [1], after=BEFORE))[-1] == (1, RestartEvent.BACK)


async def test_536_5_start_time_of_a_broker_that_is_down_comes_from_the_others() -> None:
    async with small_cluster(BEFORE, BEFORE) as (cluster, client):
        cluster.down(2)
        events = await watch(client, [2], lambda: None, lambda: cluster.up(2, AFTER),
                           lambda: cluster.set_start(2, AFTER))  # fmt: skip
    assert events[0] == (2, RestartEvent.WAITING)
    assert events[-1] == (2, RestartEvent.BACK)


async def test_536_5_unknown_broker_is_an_error_unless_after_is_given() -> None:
    async with small_cluster(BEFORE) as (_, client):
        with pytest.raises(UnreachableError, match="broker 9 does not exist: the cluster has 1"):
            await watch(client, [9])
        with pytest.raises(TimeoutError):
            await watch(client, [9], after=BEFORE, seconds=0.2)
