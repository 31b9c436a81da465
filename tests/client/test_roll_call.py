"""The roll call: a row for every broker, whatever it does."""

import asyncio
import random
import time
from dataclasses import dataclass

import pytest

from rollcall.catalog import Provenance, listed_ranges
from rollcall.client import (
    Address,
    AdminClient,
    ClientConfig,
    FailureKind,
    RollCall,
    roll_call,
)
from rollcall.protocol.conversation import ServerConversation
from rollcall.protocol.dialects import KIP
from rollcall.protocol.headers import Request
from tests.client.scripted import (
    API_VERSIONS,
    HANG_UP,
    KIP_RANGES,
    METADATA,
    SILENCE,
    ScriptedBroker,
    running,
    unused_address,
)

NOW = 1_700_000_000.0
CONFIG = ClientConfig(
    request_timeout=9, connect_timeout=2, api_versions_timeout=1.0, broker_timeout=2.5, rounds=1
)


async def call(address: Address, config: ClientConfig = CONFIG) -> RollCall:
    async with AdminClient([address], config) as client:
        return await roll_call(client, clock=lambda: NOW)


async def test_885_2_every_broker_speaks_for_itself_only() -> None:
    brokers = [
        ScriptedBroker(id=1, software=("Kafka", "4.3.0"), start_time_ms=11),
        ScriptedBroker(id=2, software=("rollcall", "0.1"), ranges=KIP_RANGES, speaks=KIP),
        ScriptedBroker(id=3, ranges=listed_ranges("3.9")),
    ]
    async with running(*brokers) as [address, *_]:
        calls = await call(address)
    assert [row.node.id for row in calls.rows] == [1, 2, 3]
    told = [(row.identity.name, row.identity.version) for row in calls.rows]
    assert told == [("Kafka", "4.3.0"), ("rollcall", "0.1"), (None, None)]
    assert [row.via.dialect for row in calls.rows if row.via] == ["released", "kip", "released"]
    assert [row.is_controller for row in calls.rows] == [True, False, False]
    assert calls.taken_at_ms == NOW * 1000
    assert calls.missing == ()


@dataclass
class Bad(ScriptedBroker):
    how: str = "mute"

    async def answer(self, request: Request, talk: ServerConversation, number: int) -> bytes | None:
        if self.how == "mute" or (self.how == "hangs" and request.api_key != API_VERSIONS):
            return SILENCE
        if self.how == "rude":
            return HANG_UP
        if self.how == "garbled":
            return b"\x00\x00\x00\x05\x00\x00\x00\x63\x00"
        if self.how == "slow":
            await asyncio.sleep(8)
        return await super().answer(request, talk, number)


async def test_885_2_dead_refused_and_mute_brokers_are_rows_with_a_reason() -> None:
    hows = ["mute", "hangs", "rude", "garbled", "slow"]
    good = ScriptedBroker(id=1, software=("Kafka", "4.3.0"))
    bad = [Bad(id=2 + i, how=how) for i, how in enumerate(hows)]
    async with running(good, *bad) as [address, *_]:
        good.nodes.append((8, await unused_address(), None, 0))
        good.nodes.append((9, Address("no-such-host.invalid", 9092), "r\x1b[2J", 0))
        began = time.monotonic()
        calls = await call(address)
        took = time.monotonic() - began
    failures = {row.node.id: row.failure for row in calls.rows}
    assert failures == {
        1: None,
        2: FailureKind.NO_RESPONSE,
        3: FailureKind.NO_RESPONSE,
        4: FailureKind.UNREACHABLE,
        5: FailureKind.INVALID_RESPONSE,
        6: FailureKind.NO_RESPONSE,
        8: FailureKind.REFUSED,
        9: FailureKind.UNREACHABLE,
    }
    assert all(row.reason for row in calls.missing)
    assert took < 2 * CONFIG.broker_timeout  # the dead cost their time once
    assert calls.rows[0].identity.version == "4.3.0"
    assert calls.rows[-1].node.rack == "r\x1b[2J"


@pytest.mark.parametrize(
    "software", [("Kafka", "4.3"), ("", ""), ("Red\x1b[2Jpanda", "v24 \u202e"), (None, "x" * 9999)]
)
async def test_885_3_what_a_broker_says_of_itself_is_kept_as_it_came(
    software: tuple[str | None, str | None],
) -> None:
    async with running(ScriptedBroker(software=software)) as [address]:
        [row] = (await call(address)).rows
    assert (row.identity.name, row.identity.version) == software
    assert row.identity.provenance is Provenance.REPORTED


async def test_885_4_a_silent_broker_is_inferred_as_candidates_and_never_as_a_fact() -> None:
    broker = ScriptedBroker(ranges=listed_ranges("3.0"))
    async with running(broker) as [address]:
        [row] = (await call(address)).rows
    assert (row.identity.name, row.identity.version) == (None, None)
    assert row.identity.provenance is Provenance.INFERRED
    assert row.identity.inference is not None
    assert row.identity.inference.lines == ("3.0",)
    assert [str(release) for release in row.releases] == ["3.0"]


@pytest.mark.parametrize(
    ("to_api_versions", "lines"), [(HANG_UP, {"0.8.0", "0.8.1", "0.8.2"}), (SILENCE, {"0.9"})]
)
async def test_885_4_a_broker_without_api_versions_is_inferred_from_that(
    to_api_versions: bytes | None, lines: set[str]
) -> None:
    class Old(ScriptedBroker):
        def api_versions(self, request: Request, talk: ServerConversation) -> bytes | None:
            return to_api_versions

    async with running(Old(ranges={METADATA: (0, 0)})) as [address]:
        [row] = (await call(address)).rows
    assert row.identity.provenance is Provenance.INFERRED
    assert row.identity.inference is not None
    assert set(row.identity.inference.lines) == lines


async def test_885_4_a_release_from_the_settings_is_marked_as_configured() -> None:
    class Old(ScriptedBroker):
        def api_versions(self, request: Request, talk: ServerConversation) -> bytes | None:
            return HANG_UP

    config = ClientConfig(release="0.8.2", request_timeout=1)
    async with running(Old(ranges={METADATA: (0, 0)})) as [address]:
        [row] = (await call(address, config)).rows
    assert row.identity.provenance is Provenance.CONFIGURED
    assert row.identity.version == "0.8.2"


async def test_885_4_a_broker_that_does_not_answer_has_nothing() -> None:
    good = ScriptedBroker()
    async with running(good) as [address]:
        good.nodes = [(7, await unused_address(), None, 12345)]
        [row] = (await call(address)).rows
    assert row.identity.provenance is Provenance.MISSING
    assert (row.identity.name, row.identity.version, row.identity.inference) == (None, None, None)
    assert row.start_time_ms == 0  # another broker's word is not its own
    assert row.node.start_time_ms == 12345


async def test_536_4_the_start_time_is_the_brokers_own_word() -> None:
    one = ScriptedBroker(id=1, start_time_ms=1000)
    two = ScriptedBroker(id=2, start_time_ms=2000)
    async with running(one, two) as [address, _]:
        one.nodes = [(1, one.address, None, 1000), (2, two.address, None, 1999)]
        calls = await call(address)
    assert [row.start_time_ms for row in calls.rows] == [1000, 2000]
    assert calls.rows[0].start_times() == {1: 1000, 2: 1999}
    assert [row.start_time_provenance for row in calls.rows] == [Provenance.REPORTED] * 2


async def test_536_4_a_start_before_1970_is_none() -> None:
    async with running(ScriptedBroker(start_time_ms=-1)) as [address]:
        [row] = (await call(address)).rows
    assert (row.start_time_ms, row.start_time_provenance) == (0, Provenance.MISSING)
    assert row.start_times() == {}


async def test_a_start_in_the_future_shows_that_a_clock_is_ahead() -> None:
    broker = ScriptedBroker(start_time_ms=int(NOW * 1000) + 90_000)
    async with running(broker) as [address]:
        [row] = (await call(address)).rows
    assert row.clock_ahead_ms == 90_000


async def test_a_cluster_that_names_nobody_still_has_the_broker_that_was_asked() -> None:
    class Empty(ScriptedBroker):
        def everyone(self):  # type: ignore[no-untyped-def]
            return []

    async with running(Empty()) as [address]:
        [row] = (await call(address)).rows
    assert (row.node.id, row.node.address, row.answered) == (-1, address, True)


async def test_no_more_brokers_are_asked_at_a_time_than_allowed() -> None:
    brokers = [ScriptedBroker(id=i, delay=0.02) for i in range(12)]
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, sum(broker.open_now for broker in brokers))
            await asyncio.sleep(0.002)

    async with running(*brokers) as [address, *_]:
        watching = asyncio.create_task(watch())
        calls = await call(address, ClientConfig(parallel=3))
        watching.cancel()
    assert len(calls.rows) == 12
    assert calls.missing == ()
    assert most <= 5  # three, the first connection, and one that is just closing


async def test_brokers_behind_one_address_do_not_close_each_others_connection() -> None:
    proxy = ScriptedBroker(delay=0.002)
    async with running(proxy) as [address]:
        proxy.nodes = [(i, address, None, 1000 + i) for i in range(20)]
        calls = await call(address, ClientConfig(parallel=3))
    assert calls.missing == ()
    assert [row.start_time_ms for row in calls.rows] == [1000 + i for i in range(20)]
    assert proxy.connections == 1


async def test_a_broker_that_hung_is_asked_on_a_new_connection_the_next_time() -> None:
    broker = Bad(id=2, how="good")
    async with (
        running(ScriptedBroker(id=1), broker) as [address, _],
        AdminClient([address], CONFIG) as client,
    ):
        failures = []
        for how in ("good", "hangs", "good"):
            broker.how = how
            row = (await roll_call(client, keep_open=True)).row(2)
            assert row is not None
            failures.append(row.failure)
    assert failures == [None, FailureKind.NO_RESPONSE, None]
    assert broker.connections == 2


async def test_random_answers_are_rows_with_trouble_and_nothing_else() -> None:
    """Whatever bytes come back, a broker costs its row and no more."""

    @dataclass
    class Mutating(ScriptedBroker):
        seed: int = 0

        async def answer(
            self, request: Request, talk: ServerConversation, number: int
        ) -> bytes | None:
            good = await super().answer(request, talk, number)
            dice = random.Random(f"{self.seed} {request.api_key} {number}")
            if good is None or dice.random() < 0.3:
                return good
            bad = bytearray(good)
            for _ in range(dice.choice((1, 1, 2, 8))):
                bad[dice.randrange(8, len(bad))] = dice.randrange(256)
            return bytes(bad)

    good = ScriptedBroker(id=1000, software=("Kafka", "4.3.0"))
    mutating = [Mutating(id=i, seed=i, ranges=listed_ranges("3.9")) for i in range(120)]
    async with running(good, *mutating) as [address, *_]:
        calls = await call(address)
    assert len(calls.rows) == 121
    assert calls.rows[-1].identity.version == "4.3.0"
    assert 10 < len(calls.missing) < 121
