import asyncio
from dataclasses import replace

import pytest

from rollcall.client import (
    Address,
    AdminClient,
    ConnectionRefusedByBrokerError,
    UnreachableError,
    roll_call,
)
from rollcall.client.versions import METADATA
from rollcall.protocol import KIP
from tests.client.scripted import (
    API_VERSIONS,
    KIP_RANGES,
    NO_RESPONSE,
    PATIENT,
    RELEASED_RANGES,
    ScriptedBroker,
    running,
    unused_address,
    wait_until,
)

TWO_ROUNDS = replace(PATIENT, backoff=0.01, rounds=2)


async def test_35_6_versions_are_negotiated_again_after_a_reconnect() -> None:
    """A broker that restarts on the same address with other ranges and another dialect."""
    before = ScriptedBroker(ranges={**RELEASED_RANGES, METADATA: (0, 12), 60: (0, 1)})
    after = ScriptedBroker(ranges=KIP_RANGES, dialect_name=KIP, software=("rollcall", "2"))
    async with running(before) as [address]:
        client = AdminClient([address], TWO_ROUNDS)
        first = await client.describe_cluster()
        assert (await client.connection(address)).version_for(METADATA) == 12
    async with running(after, port=address.port):
        second = await client.describe_cluster()
        connection = await client.connection(address)
        await client.close()
    assert (first.via.dialect, first.via.version) == ("released", 1)
    assert (second.via.dialect, second.via.version) == (KIP, 1)
    assert second.broker_software_name == "rollcall"
    assert connection.version_for(METADATA) == 11
    assert len(before.versions_of(API_VERSIONS)) == 1
    assert after.versions_of(API_VERSIONS) == [4, 3]


async def test_open_connection_is_reused() -> None:
    broker = ScriptedBroker()
    async with running(broker) as [address], AdminClient([address], TWO_ROUNDS) as client:
        await client.describe_cluster()
        await asyncio.gather(*(client.describe_cluster() for _ in range(5)))
    assert broker.connections == 1
    await wait_until(lambda: broker.open_connections == 0)


class ClosesOnce(ScriptedBroker):
    async def respond(self, request, conversation, number):  # type: ignore[no-untyped-def]
        if number == 1 and request.api_key != API_VERSIONS:
            return None
        return await super().respond(request, conversation, number)


async def test_broken_connection_is_opened_again() -> None:
    broker = ClosesOnce()
    async with running(broker) as [address], AdminClient([address], TWO_ROUNDS) as client:
        assert (await client.describe_cluster()).cluster_id == "scripted"
    assert broker.connections == 2


async def test_next_bootstrap_address_is_tried_when_one_refuses() -> None:
    refusing = await unused_address()
    async with (
        running(ScriptedBroker()) as [address],
        AdminClient([refusing, address], TWO_ROUNDS) as client,
    ):
        assert (await client.describe_cluster()).queried == address


class Unresponsive(ScriptedBroker):
    async def respond(self, request, conversation, number):  # type: ignore[no-untyped-def]
        return NO_RESPONSE


async def test_unresponsive_bootstrap_address_delays_no_other_and_is_a_row() -> None:
    unresponsive, good = Unresponsive(id=1), ScriptedBroker(id=2)
    async with (
        running(unresponsive, good) as [first, second],
        AdminClient([first, second], replace(TWO_ROUNDS, broker_timeout=10)) as client,
    ):
        assert (await client.describe_cluster()).queried == second
        assert first not in client.failures  # it had not failed yet
        rows = (await roll_call(client)).rows
    assert [(row.node.id, row.answered) for row in rows] == [(1, False), (2, True)]


async def test_listed_brokers_are_tried_when_the_bootstrap_broker_is_down() -> None:
    one, two = ScriptedBroker(id=1), ScriptedBroker(id=2)
    async with running(two) as [address_two]:
        async with running(one) as [address_one]:
            one.nodes = [(1, address_one, None, 0), (2, address_two, None, 0)]
            client = AdminClient([address_one], TWO_ROUNDS)
            await client.describe_cluster()
            await client.release(address_one)
        assert (await client.describe_cluster()).queried == address_two
        await client.close()


async def test_only_some_brokers_of_a_large_cluster_are_tried_when_all_are_down() -> None:
    broker = ScriptedBroker()
    broker.nodes = [(i, await unused_address(), None, 0) for i in range(30)]
    async with running(broker) as [address]:
        client = AdminClient([address], replace(PATIENT, rounds=1))
        await client.describe_cluster()
    with pytest.raises(UnreachableError) as caught:
        await client.describe_cluster()
    await client.close()
    assert caught.value.message.count("refused the connection") == 1 + 8


async def test_error_names_every_address_and_reason_when_no_broker_responds() -> None:
    one, two = await unused_address(), await unused_address()
    async with AdminClient([one, two], TWO_ROUNDS) as client:
        with pytest.raises(UnreachableError) as caught:
            await client.describe_cluster()
    assert f"{one} refused" in caught.value.message
    assert f"{two} refused" in caught.value.message


async def test_error_of_a_single_address_is_raised_unchanged() -> None:
    async with AdminClient([await unused_address()], TWO_ROUNDS) as client:
        with pytest.raises(ConnectionRefusedByBrokerError):
            await client.describe_cluster()


async def test_pause_before_a_reconnect_grows_and_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refusing = await unused_address()
    pauses = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    async with AdminClient([refusing], replace(PATIENT, backoff=60, backoff_max=240)) as client:
        for _ in range(6):
            with pytest.raises(ConnectionRefusedByBrokerError):
                await client.connection(refusing)
    expected = [0, 60, 120, 240, 240, 240]
    for pause, seconds in zip(pauses, expected, strict=True):
        assert 0.7 * seconds <= pause <= 1.2 * seconds


async def test_broker_that_starts_between_two_rounds_is_found() -> None:
    address = await unused_address()
    config = replace(PATIENT, backoff=0.2, rounds=100)
    async with AdminClient([address], config) as client:
        task = asyncio.create_task(client.describe_cluster())
        await wait_until(lambda: bool(client.failures))
        async with running(ScriptedBroker(), port=address.port):
            assert (await task).cluster_id == "scripted"


def test_admin_client_parses_a_bootstrap_list() -> None:
    client = AdminClient("a:1, PLAINTEXT://b.example , [::1]:3,a:1,")
    assert client.bootstrap == (Address("a", 1), Address("b.example", 9092), Address("::1", 3))
