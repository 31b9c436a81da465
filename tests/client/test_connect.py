"""Getting through to names that stand for several addresses."""

import asyncio
import errno
import gc
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvloop

from rollcall.client import (
    ClientConfig,
    ConnectionRefusedByBrokerError,
    RequestTimeoutError,
    open_connection,
)
from rollcall.client.addresses import Address
from tests.client.scripted import ScriptedBroker, running

QUICK = ClientConfig(connect_timeout=3, request_timeout=3)


def on_addresses(monkeypatch: pytest.MonkeyPatch, *hosts: str) -> None:
    """From now on every name has these addresses, in this order."""

    async def told(_host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        kind = socket.SOCK_STREAM
        return [(socket.AF_INET, kind, socket.IPPROTO_TCP, "", (host, port)) for host in hosts]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", told)


@contextmanager
def mute_host(host: str, port: int) -> Iterator[None]:
    """One that drops what comes: its queue of connections is full, so it answers no more."""
    queue: list[socket.socket] = []
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(0)
        for _ in range(4):
            queue.append(socket.socket())
            queue[-1].setblocking(False)
            assert queue[-1].connect_ex((host, port)) in (0, errno.EINPROGRESS)
        try:
            yield
        finally:
            for each in queue:
                each.close()


async def test_a_name_is_reached_although_the_first_of_its_hosts_is_down(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(ScriptedBroker()) as [(_, port)]:
        on_addresses(monkeypatch, "127.0.0.9", "127.0.0.1")
        with mute_host("127.0.0.9", port):
            began = time.monotonic()
            connection = await open_connection(Address("cluster.test", port), QUICK)
            assert time.monotonic() - began < 2
            await connection.close()


async def test_hosts_of_a_name_that_refuse_cost_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(ScriptedBroker()) as [(_, port)]:
        on_addresses(monkeypatch, *(f"127.0.0.{n}" for n in range(20, 40)), "127.0.0.1")
        began = time.monotonic()
        connection = await open_connection(Address("cluster.test", port), QUICK)
        assert time.monotonic() - began < 2
        await connection.close()


async def test_a_name_whose_hosts_all_refuse_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        on_addresses(monkeypatch, "127.0.0.1", "127.0.0.2")
        with pytest.raises(ConnectionRefusedByBrokerError, match="cluster"):
            await open_connection(Address("cluster.test", held.getsockname()[1]), QUICK)


@pytest.mark.filterwarnings("error::ResourceWarning")
async def test_a_name_whose_hosts_are_all_mute_has_its_time_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = ClientConfig(connect_timeout=0.6)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    on_addresses(monkeypatch, "127.0.0.9", "127.0.0.10")
    with mute_host("127.0.0.9", port), mute_host("127.0.0.10", port):
        began = time.monotonic()
        with pytest.raises(RequestTimeoutError, match="did not take the connection"):
            await open_connection(Address("cluster.test", port), config)
        assert time.monotonic() - began < 2
    gc.collect()


async def test_a_name_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    loop = asyncio.get_running_loop()
    real = loop.getaddrinfo

    async def counted(host: str, *rest: Any, **more: Any) -> Any:
        asked.append(host)
        return await real("127.0.0.1", *rest, **more)

    monkeypatch.setattr(loop, "getaddrinfo", counted)
    async with running(ScriptedBroker()) as [(_, port)]:
        asked.clear()
        connection = await open_connection(Address("cluster.test", port), QUICK)
        await connection.close()
    assert asked == ["cluster.test"]


def test_names_are_looked_up_on_the_loop_of_the_commands() -> None:
    async def reach() -> None:
        async with running(ScriptedBroker()) as [(_, port)]:
            connection = await open_connection(Address("localhost", port), QUICK)
            await connection.close()

    uvloop.run(reach())
