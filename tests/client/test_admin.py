import asyncio
import time
from dataclasses import replace
from itertools import pairwise

import pytest

from rollcall.client import (
    Address,
    AdminClient,
    ClientConfig,
    ConnectionRefusedByBrokerError,
    UnreachableError,
    roll_call,
)
from rollcall.client.versions import METADATA
from rollcall.protocol.dialects import KIP
from tests.client.scripted import (
    API_VERSIONS,
    KIP_RANGES,
    RELEASED_RANGES,
    SILENCE,
    ScriptedBroker,
    running,
    until,
    unused_address,
)

QUICK = ClientConfig(
    request_timeout=5, connect_timeout=5, api_versions_timeout=5, backoff=0.01, rounds=2
)


async def test_35_6_after_a_reconnect_the_ranges_are_asked_again() -> None:
    """A node that is restarted on the same address, with other ranges and another dialect."""
    before = ScriptedBroker(ranges={**RELEASED_RANGES, METADATA: (0, 12), 60: (0, 1)})
    after = ScriptedBroker(ranges=KIP_RANGES, speaks=KIP, software=("rollcall", "2"))
    async with running(before) as [address]:
        client = AdminClient([address], QUICK)
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
    assert len(before.asked(API_VERSIONS)) == 1
    assert after.asked(API_VERSIONS) == [4, 3]


async def test_a_connection_is_used_again_while_it_is_open() -> None:
    broker = ScriptedBroker()
    async with running(broker) as [address], AdminClient([address], QUICK) as client:
        await client.describe_cluster()
        await asyncio.gather(*(client.describe_cluster() for _ in range(5)))
    assert broker.connections == 1
    await until(lambda: broker.open_now == 0)


class HangsUpOnce(ScriptedBroker):
    async def answer(self, request, talk, number):  # type: ignore[no-untyped-def]
        if number == 1 and request.api_key != API_VERSIONS:
            return None
        return await super().answer(request, talk, number)


async def test_a_connection_that_broke_is_opened_again() -> None:
    broker = HangsUpOnce()
    async with running(broker) as [address], AdminClient([address], QUICK) as client:
        assert (await client.describe_cluster()).cluster_id == "scripted"
    assert broker.connections == 2


async def test_the_next_bootstrap_address_is_tried_when_one_is_dead() -> None:
    dead = await unused_address()
    async with (
        running(ScriptedBroker()) as [address],
        AdminClient([dead, address], QUICK) as client,
    ):
        assert (await client.describe_cluster()).asked == address


class Mute(ScriptedBroker):
    async def answer(self, request, talk, number):  # type: ignore[no-untyped-def]
        return SILENCE


async def test_a_mute_bootstrap_address_delays_nobody_and_is_a_row_of_the_roll_call() -> None:
    mute, good = Mute(id=1), ScriptedBroker(id=2)
    async with (
        running(mute, good) as [first, second],
        AdminClient([first, second], replace(QUICK, broker_timeout=1)) as client,
    ):
        began = time.monotonic()
        assert (await client.describe_cluster()).asked == second
        assert time.monotonic() - began < QUICK.api_versions_timeout / 2
        rows = (await roll_call(client)).rows
    assert [(row.node.id, row.answered) for row in rows] == [(1, False), (2, True)]


async def test_brokers_that_were_named_help_out_when_the_bootstrap_is_gone() -> None:
    one, two = ScriptedBroker(id=1), ScriptedBroker(id=2)
    async with running(two) as [address_two]:
        async with running(one) as [address_one]:
            one.nodes = [(1, address_one, None, 0), (2, address_two, None, 0)]
            client = AdminClient([address_one], QUICK)
            await client.describe_cluster()
            await client.release(address_one)
        assert (await client.describe_cluster()).asked == address_two
        await client.close()


async def test_of_a_large_cluster_that_is_gone_only_some_are_tried() -> None:
    broker = ScriptedBroker()
    broker.nodes = [(i, await unused_address(), None, 0) for i in range(30)]
    async with running(broker) as [address]:
        client = AdminClient([address], ClientConfig(rounds=1))
        await client.describe_cluster()
    with pytest.raises(UnreachableError) as caught:
        await client.describe_cluster()
    await client.close()
    assert caught.value.message.count("refused the connection") == 1 + 8


async def test_when_nobody_answers_each_is_named_with_its_reason() -> None:
    one, two = await unused_address(), await unused_address()
    async with AdminClient([one, two], QUICK) as client:
        with pytest.raises(UnreachableError) as caught:
            await client.describe_cluster()
    assert f"{one} refused" in caught.value.message
    assert f"{two} refused" in caught.value.message


async def test_a_single_dead_address_is_told_as_it_is() -> None:
    async with AdminClient([await unused_address()], QUICK) as client:
        with pytest.raises(ConnectionRefusedByBrokerError):
            await client.describe_cluster()


async def test_the_pause_before_a_reconnect_grows_and_is_bounded() -> None:
    dead = await unused_address()
    config = ClientConfig(backoff=0.05, backoff_max=0.2)
    async with AdminClient([dead], config) as client:
        times = []
        for _ in range(6):
            with pytest.raises(ConnectionRefusedByBrokerError):
                await client.connection(dead)
            times.append(time.monotonic())
    pauses = [b - a for a, b in pairwise(times)]
    assert pauses[0] > 0.03
    assert 0.12 < pauses[-1] < 1.2  # without a bound it would be 1.6 by now


async def test_a_broker_that_comes_back_is_found_within_the_rounds() -> None:
    address = await unused_address()
    config = ClientConfig(backoff=0.2, rounds=6)
    async with AdminClient([address], config) as client:
        task = asyncio.create_task(client.describe_cluster())
        await asyncio.sleep(0.1)
        async with running(ScriptedBroker(), port=address.port):
            assert (await task).cluster_id == "scripted"


def test_addresses_are_read_as_people_write_them() -> None:
    client = AdminClient("a:1, PLAINTEXT://b.example , [::1]:3,a:1,")
    assert client.bootstrap == (Address("a", 1), Address("b.example", 9092), Address("::1", 3))
