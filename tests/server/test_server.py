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


async def test_stopping_refuses_new_connections_finishes_what_is_in_flight_and_cuts_the_rest(
    tmp_path: Path,
) -> None:
    released = asyncio.Event()

    async def gated(context: RequestContext):
        await released.wait()
        return metadata(context)

    async def never(_: RequestContext):
        await asyncio.Event().wait()

    log = RequestLogConfig(path=tmp_path / "kafka-request.log")
    server = SocketServer(ServerConfig(request_log=log))
    listener = await server.open_listener(ListenerConfig(name="L"), {METADATA: gated, 60: never})
    idle, working, stuck = [await Peer.connect(listener) for _ in range(3)]
    await idle.ask(API_VERSIONS, 3, named())
    working.send(METADATA, 0, request("Metadata"))
    stuck.send(60, 0, request("DescribeCluster"))
    await eventually(lambda: sum(bool(c._work) for c in server._processor.connections) == 2)

    began = time.monotonic()
    stopping = asyncio.create_task(server.stop(grace_seconds=0.5))
    assert await idle.until_closed() == b""
    with pytest.raises(ConnectionError):
        await Peer.connect(listener)
    released.set()
    assert (await working.next_answer()).message.brokers
    assert await working.until_closed() == b""
    assert await stuck.until_closed() == b""
    await stopping
    assert 0.4 < time.monotonic() - began < 3
    assert len(server.registry) == 0
    lines = log.path.read_text().splitlines()
    assert len(lines) == 2, "what was answered is in the log"
    for peer in (idle, working, stuck):
        peer.writer.transport.abort()


async def test_stopping_with_nobody_there_is_quick() -> None:
    server = SocketServer()
    await server.open_listener(ListenerConfig(name="L"), {})
    began = time.monotonic()
    await server.stop(grace_seconds=30)
    assert time.monotonic() - began < 1


async def test_listeners_of_a_node_share_registry_metrics_and_log(tmp_path: Path) -> None:
    log = RequestLogConfig(path=tmp_path / "kafka-request.log")
    listeners = [ListenerConfig(name="A"), ListenerConfig(name="B", dialect="kip")]
    async with served(ServerConfig(request_log=log), *listeners) as server:
        peers = [await Peer.connect(listener) for listener in server.listeners.values()]
        for peer in peers:
            await peer.ask(API_VERSIONS, 3, named())
        assert sorted(info.listener for info in server.registry) == ["A", "B"]
        assert {label.listener for label in server.registry.gauge.counts} == {"A", "B"}
        for peer in peers:
            peer.writer.transport.abort()
    lines = log.path.read_text().splitlines()
    records = [line[line.index("{") : line.rindex("}") + 1] for line in lines]
    assert [json.loads(record)["listener"] for record in records] == ["A", "B"]
