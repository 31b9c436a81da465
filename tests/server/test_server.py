import asyncio
import json
import time
from pathlib import Path

import pytest

from rollcall.server import (
    ListenerConfig,
    RequestContext,
    RequestLogConfig,
    ServerConfig,
    SocketServer,
)
from tests.server.wire import (
    API_VERSIONS,
    METADATA,
    TIMEOUT_SECONDS,
    Peer,
    metadata,
    named,
    request,
    served,
)


async def test_stop_refuses_new_connections_and_completes_requests_in_progress(
    tmp_path: Path,
) -> None:
    started, released = asyncio.Event(), asyncio.Event()

    async def gated(context: RequestContext):
        started.set()
        await released.wait()
        return metadata(context)

    log = RequestLogConfig(path=tmp_path / "kafka-request.log")
    server = SocketServer(ServerConfig(request_log=log))
    listener = await server.open_listener(ListenerConfig(name="L"), {METADATA: gated})
    idle, working = [await Peer.connect(listener) for _ in range(2)]
    await idle.call(API_VERSIONS, 3, named())
    working.send(METADATA, 0, request("Metadata"))
    async with asyncio.timeout(TIMEOUT_SECONDS):
        await started.wait()

    stopping = asyncio.create_task(server.stop(grace_seconds=600))
    assert await idle.until_closed() == b""
    with pytest.raises(ConnectionError):
        await Peer.connect(listener)
    released.set()
    assert (await working.next_response()).message.brokers
    assert await working.until_closed() == b""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        await stopping
    assert len(server.registry) == 0
    lines = log.path.read_text().splitlines()
    assert len(lines) == 2, "completed requests are in the log"
    for peer in (idle, working):
        peer.writer.transport.abort()


async def test_stop_aborts_requests_that_do_not_complete_within_the_grace_period() -> None:
    started = asyncio.Event()

    async def never(_: RequestContext):
        started.set()
        await asyncio.Event().wait()

    server = SocketServer()
    listener = await server.open_listener(ListenerConfig(name="L"), {METADATA: never})
    async with await Peer.connect(listener) as peer:
        peer.send(METADATA, 0, request("Metadata"))
        async with asyncio.timeout(TIMEOUT_SECONDS):
            await started.wait()
            await server.stop(grace_seconds=0.2)
        assert await peer.until_closed() == b""
    assert len(server.registry) == 0


async def test_stop_without_connections_does_not_wait_for_the_grace_period() -> None:
    server = SocketServer()
    await server.open_listener(ListenerConfig(name="L"), {})
    began = time.monotonic()
    await server.stop(grace_seconds=600)
    assert time.monotonic() - began < 60


async def test_listeners_of_a_node_share_registry_gauge_and_request_log(tmp_path: Path) -> None:
    log = RequestLogConfig(path=tmp_path / "kafka-request.log")
    listeners = [ListenerConfig(name="A"), ListenerConfig(name="B", dialect="kip")]
    async with served(ServerConfig(request_log=log), *listeners) as server:
        peers = [await Peer.connect(listener) for listener in server.listeners.values()]
        for peer in peers:
            await peer.call(API_VERSIONS, 3, named())
        assert sorted(info.listener for info in server.registry) == ["A", "B"]
        assert {label.listener for label in server.registry.gauge.counts} == {"A", "B"}
        for peer in peers:
            peer.writer.transport.abort()
    lines = log.path.read_text().splitlines()
    records = [line[line.index("{") : line.rindex("}") + 1] for line in lines]
    assert [json.loads(record)["listener"] for record in records] == ["A", "B"]
