"""Roll call: one row for every broker, also for unreachable and misbehaving ones."""

import asyncio
import random
import time
from dataclasses import dataclass, replace

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
from rollcall.protocol import KIP, Request
from tests.client.scripted import (
    API_VERSIONS,
    CLOSE,
    KIP_RANGES,
    METADATA,
    NO_RESPONSE,
    PATIENT,
    ScriptedBroker,
    running,
    unused_address,
)
from tests.protocol.server_conversation import ServerConversation

NOW = 1_700_000_000.0
CONFIG = ClientConfig(
    request_timeout=60, connect_timeout=60, api_versions_timeout=3, broker_timeout=8, rounds=1
)


async def call(address: Address, config: ClientConfig = CONFIG) -> RollCall:
    async with AdminClient([address], config) as client:
        return await roll_call(client, clock=lambda: NOW)


async def test_885_2_software_comes_from_the_broker_itself() -> None:
    brokers = [
        ScriptedBroker(id=1, software=("Kafka", "4.3.0"), start_time_ms=11),
        ScriptedBroker(id=2, software=("rollcall", "0.1"), ranges=KIP_RANGES, dialect_name=KIP),
        ScriptedBroker(id=3, ranges=listed_ranges("3.9")),
    ]
    async with running(*brokers) as [address, *_]:
        calls = await call(address)
    assert [row.node.id for row in calls.rows] == [1, 2, 3]
    software = [(row.identity.name, row.identity.version) for row in calls.rows]
    assert software == [("Kafka", "4.3.0"), ("rollcall", "0.1"), (None, None)]
    assert [row.via.dialect for row in calls.rows if row.via] == ["released", "kip", "released"]
    assert [row.is_controller for row in calls.rows] == [True, False, False]
    assert calls.taken_at_ms == NOW * 1000
    assert calls.missing == ()


@dataclass
class Misbehaving(ScriptedBroker):
    behaviour: str = "no response"

    async def respond(
        self, request: Request, conversation: ServerConversation, number: int
    ) -> bytes | None:
        if self.behaviour == "no response" or (
            self.behaviour == "hangs" and request.api_key != API_VERSIONS
        ):
            return NO_RESPONSE
        if self.behaviour == "closes":
            return CLOSE
        if self.behaviour == "invalid":
            return b"\x00\x00\x00\x05\x00\x00\x00\x63\x00"
        if self.behaviour == "slow":
            await asyncio.sleep(600)
        return await super().respond(request, conversation, number)


async def test_885_2_brokers_that_fail_are_rows_with_a_reason() -> None:
    behaviours = ["no response", "hangs", "closes", "invalid", "slow"]
    good = ScriptedBroker(id=1, software=("Kafka", "4.3.0"))
    bad = [Misbehaving(id=2 + i, behaviour=name) for i, name in enumerate(behaviours)]
    async with running(good, *bad) as [address, *_]:
        good.nodes.append((8, await unused_address(), None, 0))
        good.nodes.append((9, Address("no-such-host.invalid", 9092), "r\x1b[2J", 0))
        began = time.monotonic()
        calls = await call(address)
        seconds = time.monotonic() - began
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
    assert seconds < 3 * CONFIG.broker_timeout  # in parallel: one by one it would be 4 times
    assert calls.rows[0].identity.version == "4.3.0"
    assert calls.rows[-1].node.rack == "r\x1b[2J"


@pytest.mark.parametrize(
    "software", [("Kafka", "4.3"), ("", ""), ("Red\x1b[2Jpanda", "v24 \u202e"), (None, "x" * 9999)]
)
async def test_885_3_reported_software_is_kept_unchanged(
    software: tuple[str | None, str | None],
) -> None:
    async with running(ScriptedBroker(software=software)) as [address]:
        [row] = (await call(address)).rows
    assert (row.identity.name, row.identity.version) == software
    assert row.identity.provenance is Provenance.REPORTED


async def test_885_4_release_of_a_broker_that_reports_none_is_inferred_as_candidates() -> None:
    broker = ScriptedBroker(ranges=listed_ranges("3.0"))
    async with running(broker) as [address]:
        [row] = (await call(address)).rows
    assert (row.identity.name, row.identity.version) == (None, None)
    assert row.identity.provenance is Provenance.INFERRED
    assert row.identity.inference is not None
    assert row.identity.inference.lines == ("3.0",)
    assert [str(release) for release in row.releases] == ["3.0"]


@pytest.mark.parametrize(
    ("to_api_versions", "lines"), [(CLOSE, {"0.8.0", "0.8.1", "0.8.2"}), (NO_RESPONSE, {"0.9"})]
)
async def test_885_4_release_of_a_broker_without_api_versions_is_inferred(
    to_api_versions: bytes | None, lines: set[str]
) -> None:
    class Old(ScriptedBroker):
        def api_versions(self, request: Request, conversation: ServerConversation) -> bytes | None:
            return to_api_versions

    async with running(Old(ranges={METADATA: (0, 0)})) as [address]:
        [row] = (await call(address)).rows
    assert row.identity.provenance is Provenance.INFERRED
    assert row.identity.inference is not None
    assert set(row.identity.inference.lines) == lines


async def test_885_4_configured_release_has_provenance_configured() -> None:
    class Old(ScriptedBroker):
        def api_versions(self, request: Request, conversation: ServerConversation) -> bytes | None:
            return CLOSE

    config = replace(PATIENT, release="0.8.2")
    async with running(Old(ranges={METADATA: (0, 0)})) as [address]:
        [row] = (await call(address, config)).rows
    assert row.identity.provenance is Provenance.CONFIGURED
    assert row.identity.version == "0.8.2"


async def test_885_4_unreachable_broker_has_no_software_and_no_start_time() -> None:
    good = ScriptedBroker()
    async with running(good) as [address]:
        good.nodes = [(7, await unused_address(), None, 12345)]
        [row] = (await call(address)).rows
    assert row.identity.provenance is Provenance.MISSING
    assert (row.identity.name, row.identity.version, row.identity.inference) == (None, None, None)
    assert row.start_time_ms == 0  # reported by another broker only
    assert row.node.start_time_ms == 12345


async def test_536_4_start_time_comes_from_the_broker_itself() -> None:
    one = ScriptedBroker(id=1, start_time_ms=1000)
    two = ScriptedBroker(id=2, start_time_ms=2000)
    async with running(one, two) as [address, _]:
        one.nodes = [(1, one.address, None, 1000), (2, two.address, None, 1999)]
        calls = await call(address)
    assert [row.start_time_ms for row in calls.rows] == [1000, 2000]
    assert calls.rows[0].start_times() == {1: 1000, 2: 1999}
    assert [row.start_time_provenance for row in calls.rows] == [Provenance.REPORTED] * 2


async def test_536_4_start_time_before_1970_is_unknown() -> None:
    async with running(ScriptedBroker(start_time_ms=-1)) as [address]:
        [row] = (await call(address)).rows
    assert (row.start_time_ms, row.start_time_provenance) == (0, Provenance.MISSING)
    assert row.start_times() == {}


async def test_start_time_in_the_future_shows_that_the_clock_is_ahead() -> None:
    broker = ScriptedBroker(start_time_ms=int(NOW * 1000) + 90_000)
    async with running(broker) as [address]:
        [row] = (await call(address)).rows
    assert row.clock_ahead_ms == 90_000


async def test_cluster_without_listed_brokers_has_a_row_for_the_queried_one() -> None:
    class Empty(ScriptedBroker):
        def listed_nodes(self):  # type: ignore[no-untyped-def]
            return []

    async with running(Empty()) as [address]:
        [row] = (await call(address)).rows
    assert (row.node.id, row.node.address, row.answered) == (-1, address, True)


async def test_roll_call_limits_the_brokers_queried_in_parallel() -> None:
    brokers = [ScriptedBroker(id=i, delay=0.02) for i in range(12)]
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, sum(broker.open_connections for broker in brokers))
            await asyncio.sleep(0.002)

    async with running(*brokers) as [address, *_]:
        watching = asyncio.create_task(watch())
        calls = await call(address, replace(PATIENT, parallel=3))
        watching.cancel()
    assert len(calls.rows) == 12
    assert calls.missing == ()
    assert most <= 5  # three, the first connection, and one that is just closing


async def test_brokers_behind_one_address_share_a_connection() -> None:
    proxy = ScriptedBroker(delay=0.002)
    async with running(proxy) as [address]:
        proxy.nodes = [(i, address, None, 1000 + i) for i in range(20)]
        calls = await call(address, replace(PATIENT, parallel=3))
    assert calls.missing == ()
    assert [row.start_time_ms for row in calls.rows] == [1000 + i for i in range(20)]
    assert proxy.connections == 1


async def test_broker_that_timed_out_is_queried_on_a_new_connection_the_next_time() -> None:
    broker = Misbehaving(id=2, behaviour="good")
    async with (
        running(ScriptedBroker(id=1), broker) as [address, _],
        AdminClient([address], CONFIG) as client,
    ):
        failures = []
        for behaviour in ("good", "hangs", "good"):
            broker.behaviour = behaviour
            row = (await roll_call(client, keep_open=True)).row(2)
            assert row is not None
            failures.append(row.failure)
    assert failures == [None, FailureKind.NO_RESPONSE, None]
    assert broker.connections == 2


async def test_mutated_responses_affect_only_the_row_of_their_broker() -> None:
    @dataclass
    class Mutating(ScriptedBroker):
        seed: int = 0

        async def respond(
            self, request: Request, conversation: ServerConversation, number: int
        ) -> bytes | None:
            good = await super().respond(request, conversation, number)
            generator = random.Random(f"{self.seed} {request.api_key} {number}")
            if good is None or generator.random() < 0.3:
                return good
            mutated = bytearray(good)
            for _ in range(generator.choice((1, 1, 2, 8))):
                mutated[generator.randrange(8, len(mutated))] = generator.randrange(256)
            return bytes(mutated)

    good = ScriptedBroker(id=1000, software=("Kafka", "4.3.0"))
    mutating = [Mutating(id=i, seed=i, ranges=listed_ranges("3.9")) for i in range(120)]
    async with running(good, *mutating) as [address, *_]:
        calls = await call(address)
    assert len(calls.rows) == 121
    assert calls.rows[-1].identity.version == "4.3.0"
    assert 10 < len(calls.missing) < 121
