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
    Peer,
    eventually,
    metadata,
    named,
    request,
    served,
)


async def test_stop_refuses_new_connections_completes_requests_and_aborts_the_rest(
    tmp_path: Path,
) -> None:
    released = asyncio.Event()
    started = []

    async def gated(context: RequestContext):
        started.append(METADATA)
        await released.wait()
        return metadata(context)

    async def never(_: RequestContext):
        started.append(60)
        await asyncio.Event().wait()

    log = RequestLogConfig(path=tmp_path / "kafka-request.log")
    server = SocketServer(ServerConfig(request_log=log))
    listener = await server.open_listener(ListenerConfig(name="L"), {METADATA: gated, 60: never})
    idle, working, stuck = [await Peer.connect(listener) for _ in range(3)]
    await idle.call(API_VERSIONS, 3, named())
    working.send(METADATA, 0, request("Metadata"))
    stuck.send(60, 0, request("DescribeCluster"))
    await eventually(lambda: len(started) == 2)

    began = time.monotonic()
    stopping = asyncio.create_task(server.stop(grace_seconds=0.5))
    assert await idle.until_closed() == b""
    with pytest.raises(ConnectionError):
        await Peer.connect(listener)
    released.set()
    assert (await working.next_response()).message.brokers
    assert await working.until_closed() == b""
    assert await stuck.until_closed() == b""
    await stopping
    assert time.monotonic() - began > 0.4
    assert len(server.registry) == 0
    lines = log.path.read_text().splitlines()
    assert len(lines) == 2, "completed requests are in the log"
    for peer in (idle, working, stuck):
        peer.writer.transport.abort()


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
