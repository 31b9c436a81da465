"""Waiting for restarts, on a small cluster whose start times the test moves."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field

import pytest

from rollcall.client import AdminClient, ClientConfig, UnreachableError
from rollcall.client.restarts import NoStartTimeError, RestartEvent, RestartProgress, watch_restarts
from rollcall.protocol.conversation import ServerConversation
from rollcall.protocol.headers import Request
from tests.client.scripted import HANG_UP, ScriptedBroker, running

CONFIG = ClientConfig(broker_timeout=5, backoff=0.01, backoff_max=0.02, rounds=1)
BEFORE, AFTER = 1_700_000_000_000, 1_700_000_500_000


@dataclass
class Member(ScriptedBroker):
    """Tells its own start time, and of the others what it has heard so far."""

    heard: dict[int, int] = field(default_factory=dict)
    is_up: bool = True

    async def answer(self, request: Request, talk: ServerConversation, number: int) -> bytes | None:
        return await super().answer(request, talk, number) if self.is_up else HANG_UP

    def everyone(self):  # type: ignore[no-untyped-def]
        return [(i, a, rack, self.heard.get(i, 0)) for i, a, rack, _ in self.nodes]


@dataclass
class Small:
    members: dict[int, Member]

    def hear(self, broker: int, start: int, *listeners: int) -> None:
        for number in listeners or self.members:
            self.members[number].heard[broker] = start

    def down(self, broker: int) -> None:
        self.members[broker].is_up = False
        self.members[broker].hang_up()

    def up(self, broker: int, start: int) -> None:
        self.members[broker].is_up = True
        self.hear(broker, start, broker)


@asynccontextmanager
async def small(*starts: int) -> AsyncIterator[tuple[Small, AdminClient]]:
    members = [Member(id=i) for i in range(1, len(starts) + 1)]
    async with running(*members) as addresses:
        for member in members:
            member.nodes = [(m.id, m.address, None, 0) for m in members]
            member.heard = dict(enumerate(starts, start=1))
        async with AdminClient(addresses, CONFIG) as client:
            yield Small({m.id: m for m in members}), client


async def watch(
    client: AdminClient,
    brokers: list[int] | None,
    *acts: Callable[[], object],
    after: int | None = None,
    seconds: float = 20.0,
) -> list[tuple[int, RestartEvent]]:
    """What is told, with the next act done after each time that something new was told."""
    told: list[RestartProgress] = []
    remaining = list(acts)
    async with asyncio.timeout(seconds):
        async with aclosing(watch_restarts(client, brokers, after=after, poll=0.02)) as progress:
            async for one in progress:
                told.append(one)
                if remaining and one.event in (
                    RestartEvent.DOWN,
                    RestartEvent.RESTARTED,
                    RestartEvent.WAITING,
                ):
                    remaining.pop(0)()
    return [(one.broker, one.event) for one in told]


async def test_536_5_a_broker_has_restarted_when_it_says_so_and_the_others_agree() -> None:
    async with small(BEFORE, BEFORE, BEFORE) as (cluster, client):
        told = await watch(
            client,
            [2],
            lambda: cluster.down(2),
            lambda: cluster.up(2, AFTER),
            lambda: cluster.hear(2, AFTER),
        )
    assert told == [
        (2, RestartEvent.WAITING),
        (2, RestartEvent.DOWN),
        (2, RestartEvent.RESTARTED),
        (2, RestartEvent.BACK),
    ]


async def test_536_5_it_is_not_back_before_every_other_broker_knows() -> None:
    async with small(BEFORE, BEFORE, BEFORE) as (cluster, client):
        cluster.hear(2, AFTER, 2, 1)  # 3 has not heard
        with pytest.raises(TimeoutError):
            await watch(client, [2], after=BEFORE, seconds=0.3)
        cluster.hear(2, AFTER)
        assert (await watch(client, [2], after=BEFORE))[-1] == (2, RestartEvent.BACK)


async def test_536_5_the_word_of_the_others_alone_is_not_enough() -> None:
    async with small(BEFORE, BEFORE) as (cluster, client):
        cluster.hear(2, AFTER, 1)
        with pytest.raises(TimeoutError):
            await watch(client, [2], seconds=0.3)


async def test_536_5_a_restart_too_quick_to_be_seen_down_counts() -> None:
    async with small(BEFORE, BEFORE) as (cluster, client):
        told = await watch(client, [1], lambda: cluster.hear(1, AFTER))
    assert [event for _, event in told] == [
        RestartEvent.WAITING,
        RestartEvent.RESTARTED,
        RestartEvent.BACK,
    ]


async def test_536_5_a_lower_start_time_is_a_restart_and_a_warning() -> None:
    async with small(AFTER, AFTER) as (cluster, client):
        told = await watch(client, [1], lambda: cluster.hear(1, BEFORE))
    events = [event for _, event in told]
    assert events == [
        RestartEvent.WAITING,
        RestartEvent.RESTARTED,
        RestartEvent.CLOCK_WENT_BACK,
        RestartEvent.BACK,
    ]


async def test_536_5_a_time_can_be_given_for_a_restart_that_was_missed() -> None:
    async with small(AFTER, BEFORE) as (_, client):
        told = await watch(client, [1], after=BEFORE)
    assert [event for _, event in told] == [
        RestartEvent.WAITING,
        RestartEvent.RESTARTED,
        RestartEvent.BACK,
    ]


async def test_536_5_a_broker_that_started_before_that_time_has_not_restarted_yet() -> None:
    async with small(BEFORE, BEFORE) as (cluster, client):
        with pytest.raises(TimeoutError):
            await watch(client, [1], after=BEFORE + 1000, seconds=0.3)
        told = await watch(client, [1], lambda: cluster.hear(1, AFTER), after=BEFORE + 1000)
    assert told[-1] == (1, RestartEvent.BACK)


async def test_536_5_restarted_with_a_clock_behind_the_given_time_is_a_warning() -> None:
    async with small(BEFORE, BEFORE) as (cluster, client):
        told = await watch(client, [1], lambda: cluster.hear(1, BEFORE + 5), after=AFTER)
    assert (1, RestartEvent.CLOCK_WENT_BACK) in told
    assert told[-1] == (1, RestartEvent.BACK)


async def test_536_5_the_whole_cluster_one_after_another() -> None:
    async with small(BEFORE, BEFORE, BEFORE) as (cluster, client):
        told: list[RestartProgress] = []
        cluster.down(1)
        cluster.hear(1, BEFORE)
        async with asyncio.timeout(20):
            async for one in watch_restarts(client, poll=0.02):
                told.append(one)
                if one.event is RestartEvent.DOWN:
                    cluster.up(one.broker, AFTER + one.broker)
                elif one.event is RestartEvent.RESTARTED:
                    cluster.hear(one.broker, AFTER + one.broker)
                elif one.event is RestartEvent.BACK and one.broker < 3:
                    cluster.down(one.broker + 1)
    assert [one.broker for one in told if one.event is RestartEvent.BACK] == [1, 2, 3]
    assert [(one.back, one.of) for one in told if one.event is RestartEvent.BACK] == [
        (1, 3),
        (2, 3),
        (3, 3),
    ]
    assert RestartEvent.DOWN_TOGETHER not in {one.event for one in told}


async def test_536_5_two_that_are_down_together_are_told_once() -> None:
    async with small(BEFORE, BEFORE, BEFORE) as (cluster, client):
        cluster.down(1)
        cluster.down(2)
        told: list[tuple[int, RestartEvent]] = []

        async def listen() -> None:
            async for one in watch_restarts(client, poll=0.02):
                told.append((one.broker, one.event))

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(listen(), 2)
    assert told.count((1, RestartEvent.DOWN_TOGETHER)) == 1
    assert told.count((2, RestartEvent.DOWN_TOGETHER)) == 1


async def test_536_5_the_only_broker_of_a_cluster_can_be_waited_for() -> None:
    async with small(BEFORE) as (cluster, client):
        told = await watch(client, [1], lambda: cluster.down(1), lambda: cluster.up(1, AFTER))
    assert told == [
        (1, RestartEvent.WAITING),
        (1, RestartEvent.DOWN),
        (1, RestartEvent.RESTARTED),
        (1, RestartEvent.BACK),
    ]


async def test_536_5_a_broker_without_start_time_ends_it_at_once() -> None:
    async with small(BEFORE, 0) as (_, client):
        with pytest.raises(NoStartTimeError, match=r"broker 2 at .* tells no start time"):
            await watch(client, [2])


async def test_536_5_another_broker_without_start_times_has_no_say() -> None:
    async with small(AFTER, 0) as (cluster, client):
        cluster.members[2].heard = {}
        assert (await watch(client, [1], after=BEFORE))[-1] == (1, RestartEvent.BACK)


async def test_536_5_down_at_the_beginning_the_others_know_when_it_had_started() -> None:
    async with small(BEFORE, BEFORE) as (cluster, client):
        cluster.down(2)
        told = await watch(client, [2], lambda: None, lambda: cluster.up(2, AFTER),
                           lambda: cluster.hear(2, AFTER))  # fmt: skip
    assert told[0] == (2, RestartEvent.WAITING)
    assert told[-1] == (2, RestartEvent.BACK)


async def test_536_5_a_broker_nobody_knows_is_an_error_unless_a_time_is_given() -> None:
    async with small(BEFORE) as (_, client):
        with pytest.raises(UnreachableError, match="there is no broker 9: the cluster has 1"):
            await watch(client, [9])
        with pytest.raises(TimeoutError):
            await watch(client, [9], after=BEFORE, seconds=0.2)
