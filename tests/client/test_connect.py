"""Connecting to host names with several addresses, and the limit of open files."""

import asyncio
import errno
import gc
import resource
import socket
import subprocess
import sys
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
    connect,
    open_connection,
)
from rollcall.client.addresses import Address
from rollcall.client.connect import MAX_OPEN_FILES
from tests.client.scripted import PATIENT, ScriptedBroker, running


def resolve_to(monkeypatch: pytest.MonkeyPatch, *hosts: str) -> None:
    """Resolve every host name to these addresses, in this order."""

    async def getaddrinfo(_host: str, port: int, **_: Any) -> list[tuple[Any, ...]]:
        kind = socket.SOCK_STREAM
        return [(socket.AF_INET, kind, socket.IPPROTO_TCP, "", (host, port)) for host in hosts]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)


@contextmanager
def unresponsive_host(host: str, port: int) -> Iterator[None]:
    """A listener that drops connection attempts, as its backlog is full.

    Linux gives up after 127 s, later than the timeouts of `PATIENT`.
    """
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
            for queued in queue:
                queued.close()


async def test_connect_tries_the_next_address_of_a_name_when_the_first_does_not_respond(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(ScriptedBroker()) as [(_, port)]:
        resolve_to(monkeypatch, "127.0.0.9", "127.0.0.1")
        with unresponsive_host("127.0.0.9", port):
            connection = await open_connection(Address("cluster.test", port), PATIENT)
            await connection.close()


async def test_connect_tries_the_next_address_at_once_after_a_refusal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connect, "NEXT_ADDRESS_SECONDS", 600)
    async with running(ScriptedBroker()) as [(_, port)]:
        resolve_to(monkeypatch, *(f"127.0.0.{n}" for n in range(20, 40)), "127.0.0.1")
        connection = await open_connection(Address("cluster.test", port), PATIENT)
        await connection.close()


async def test_connect_is_refused_when_all_addresses_refuse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        resolve_to(monkeypatch, "127.0.0.1", "127.0.0.2")
        with pytest.raises(ConnectionRefusedByBrokerError, match="cluster"):
            await open_connection(Address("cluster.test", held.getsockname()[1]), PATIENT)


@pytest.mark.filterwarnings("error::ResourceWarning")
async def test_connect_times_out_when_no_address_responds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = ClientConfig(connect_timeout=0.6)
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    resolve_to(monkeypatch, "127.0.0.9", "127.0.0.10")
    with unresponsive_host("127.0.0.9", port), unresponsive_host("127.0.0.10", port):
        began = time.monotonic()
        with pytest.raises(RequestTimeoutError, match="did not accept the connection"):
            await open_connection(Address("cluster.test", port), config)
        assert time.monotonic() - began < 60
    gc.collect()


async def test_connect_resolves_a_name_once(monkeypatch: pytest.MonkeyPatch) -> None:
    resolved = []
    loop = asyncio.get_running_loop()
    real = loop.getaddrinfo

    async def counted(host: str, *rest: Any, **more: Any) -> Any:
        resolved.append(host)
        return await real("127.0.0.1", *rest, **more)

    monkeypatch.setattr(loop, "getaddrinfo", counted)
    async with running(ScriptedBroker()) as [(_, port)]:
        resolved.clear()
        connection = await open_connection(Address("cluster.test", port), PATIENT)
        await connection.close()
    assert resolved == ["cluster.test"]


def test_connect_resolves_names_on_uvloop() -> None:
    async def connect_and_close() -> None:
        async with running(ScriptedBroker()) as [(_, port)]:
            connection = await open_connection(Address("localhost", port), PATIENT)
            await connection.close()

    uvloop.run(connect_and_close())


RAISE_LIMIT = """
import resource
from rollcall.client import raise_open_file_limit
raise_open_file_limit()
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def test_raise_open_file_limit_raises_a_low_limit_of_the_process() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1024:
        pytest.skip(f"this system allows at most {hard} open files")
    result = subprocess.run(
        [sys.executable, "-c", RAISE_LIMIT],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard)),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    unlimited = hard == resource.RLIM_INFINITY
    assert int(result.stdout) == (MAX_OPEN_FILES if unlimited else min(hard, MAX_OPEN_FILES))
