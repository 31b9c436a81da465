"""Limits: slow, idle and malicious peers are disconnected while other clients are served."""

import asyncio
import logging
import random

import pytest

from rollcall.protocol.framing import frame
from rollcall.server import ConnectionLimits, ListenerConfig, RequestContext, SocketServer
from rollcall.server.transport import NEVER
from tests.server.wire import (
    API_VERSIONS,
    DESCRIBE_CLUSTER,
    METADATA,
    Peer,
    eventually,
    expire_all,
    metadata,
    metric,
    named,
    only_listener,
    request,
    response,
    served,
)


def limited(**limits: float) -> ListenerConfig:
    return ListenerConfig(name="L", limits=ConnectionLimits(**limits))


def refused(server: SocketServer, reason: str) -> float | None:
    return metric(server, "rollcall_refused_total", listener="L", reason=reason)


async def test_connection_without_a_request_is_closed_after_idle_seconds() -> None:
    async with served(None, limited(idle_seconds=0.3)) as server:
        async with await Peer.connect(only_listener(server)) as idle:
            assert await idle.until_closed() == b""
        await eventually(lambda: len(server.registry) == 0)


async def test_request_extends_the_idle_deadline() -> None:
    async with served() as server, await Peer.connect(only_listener(server)) as peer:
        await peer.call(API_VERSIONS, 0, request("ApiVersions"))
        (transport,) = server._processor.transports
        transport.deadline -= 60
        before = transport.deadline
        await peer.call(API_VERSIONS, 0, request("ApiVersions"))
        assert before + 60 <= transport.deadline < NEVER


async def test_incomplete_frame_times_out_although_bytes_keep_arriving() -> None:
    async with served(None, limited(frame_seconds=0.4)) as server:
        async with await Peer.connect(only_listener(server)) as peer:
            await peer.call(API_VERSIONS, 0, request("ApiVersions"))
            wire = frame([bytes(100)])
            for byte in wire:
                if refused(server, "frame_timeout"):
                    break
                peer.writer.write(bytes([byte]))
                await asyncio.sleep(0.05)
            assert await peer.until_closed() == b""
        assert refused(server, "frame_timeout") == 1


async def test_client_that_never_reads_is_disconnected() -> None:
    def large(_: RequestContext):
        return response("DescribeCluster", cluster_id="x" * 30_000)

    async with (
        served(None, limited(frame_seconds=0.5), handlers={DESCRIBE_CLUSTER: large}) as server,
        await Peer.connect(only_listener(server), limit=1024) as peer,
    ):
        for _ in range(2000):
            peer.send(DESCRIBE_CLUSTER, 0, request("DescribeCluster"))
        await eventually(lambda: refused(server, "frame_timeout") == 1)
        await eventually(lambda: len(server.registry) == 0)


async def test_request_in_progress_does_not_count_as_idle() -> None:
    async def slow(context: RequestContext):
        await asyncio.sleep(1.0)
        return metadata(context)

    async with (
        served(None, limited(idle_seconds=0.3), handlers={METADATA: slow}) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        peer.send(METADATA, 0, request("Metadata"))
        received = await peer.next_response()
        assert received.message is not None


async def test_connections_are_limited_and_a_closed_one_can_be_replaced() -> None:
    async with served(None, limited(max_connections=3)) as server:
        listener = only_listener(server)
        peers = [await Peer.connect(listener) for _ in range(3)]
        for peer in peers:
            await peer.call(API_VERSIONS, 0, request("ApiVersions"))
        for _ in range(5):
            async with await Peer.connect(listener) as beyond:
                assert await beyond.until_closed() == b""
        assert refused(server, "too_many_connections") == 5
        assert len(server.registry) == 3
        await peers[0].call(API_VERSIONS, 0, request("ApiVersions"))
        peers.pop().writer.transport.abort()
        await eventually(lambda: len(server.registry) == 2)
        async with await Peer.connect(listener) as again:
            await again.call(API_VERSIONS, 0, request("ApiVersions"))
        for peer in peers:
            peer.writer.transport.abort()


async def test_connections_are_limited_per_address() -> None:
    async with served(None, limited(max_connections_per_address=2)) as server:
        listener = only_listener(server)
        peers = [await Peer.connect(listener) for _ in range(2)]
        async with await Peer.connect(listener) as beyond:
            assert await beyond.until_closed() == b""
        assert refused(server, "too_many_connections_per_address") == 1
        async with await Peer.connect(listener, local_addr=("127.0.0.2", 0)) as neighbour:
            await neighbour.call(API_VERSIONS, 0, request("ApiVersions"))
        for peer in peers:
            peer.writer.transport.abort()


async def test_connections_per_address_are_limited_per_listener() -> None:
    limits = ConnectionLimits(max_connections_per_address=1)
    listeners = [ListenerConfig(name=name, limits=limits) for name in ("L", "M")]
    async with served(None, *listeners) as server:
        one, other = server.listeners.values()
        async with await Peer.connect(one) as first, await Peer.connect(other) as second:
            await first.call(API_VERSIONS, 0, request("ApiVersions"))
            await second.call(API_VERSIONS, 0, request("ApiVersions"))
            async with await Peer.connect(one) as beyond:
                assert await beyond.until_closed() == b""


async def test_timeout_of_a_frame_and_of_a_blocked_client_have_different_log_lines(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served(None, limited(frame_seconds=0.3)) as server:
        async with await Peer.connect(only_listener(server)) as half:
            half.writer.write(b"\0\0")
            assert await half.until_closed() == b""
        async with await Peer.connect(only_listener(server)) as blocked:
            await blocked.call(API_VERSIONS, 0, request("ApiVersions"))
            (transport,) = server._processor.transports
            transport.pause_writing()  # as asyncio does while the peer does not read
            assert await blocked.until_closed() == b""
    lines = [record.getMessage().rpartition(": ")[2] for record in caplog.records]
    assert "request not received completely within 0.3 s (frame_seconds)" in lines
    assert "client did not read its responses within 0.3 s (frame_seconds)" in lines


@pytest.mark.parametrize("size", [1001, 0x7FFFFFFF, -1, -0x80000000])
async def test_frame_length_is_checked_before_memory_is_allocated(size: int) -> None:
    async with served(None, limited(max_frame_bytes=1000)) as server:
        async with await Peer.connect(only_listener(server)) as peer:
            peer.writer.write(size.to_bytes(4, "big", signed=True))
            assert await peer.until_closed() == b""
        assert refused(server, "frame_size") == 1


async def test_clients_are_served_while_200_peers_are_idle_or_slow() -> None:
    async with served() as server:
        listener = only_listener(server)
        peers = [await Peer.connect(listener) for _ in range(200)]
        for number, peer in enumerate(peers):
            peer.writer.write([b"", b"\0\0\0", b"\0\0\0\x64\0\x12"][number % 3])
        for _ in range(20):
            async with await Peer.connect(listener) as client:
                await client.call(API_VERSIONS, 3, named())
        await eventually(lambda: len(server.registry) == 200)
        expire_all(server)
        await eventually(lambda: len(server.registry) == 0)
        for peer in peers:
            peer.writer.transport.abort()


@pytest.mark.parametrize("seed", range(4))
async def test_random_and_mutated_frames_leave_no_connection_and_no_error(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    rng = random.Random(seed)
    async with served() as server:
        listener = only_listener(server)
        async with await Peer.connect(listener) as model:
            good = [
                model.encode(API_VERSIONS, 3, named()),
                model.encode(METADATA, 9, request("Metadata")),
                model.encode(DESCRIBE_CLUSTER, 1, request("DescribeCluster")),
            ]
        for _ in range(150):
            async with await Peer.connect(listener) as peer:
                for _ in range(rng.randrange(1, 20)):
                    body = bytearray(rng.choice(good)[4:])
                    for _ in range(rng.randrange(4)):
                        body[rng.randrange(len(body))] = rng.randrange(256)
                    if rng.random() < 0.2:
                        body = bytearray(rng.randbytes(rng.randrange(60)))
                    peer.writer.write(frame([bytes(body)]))
                peer.writer.write_eof()
                await peer.until_closed()
        await eventually(lambda: len(server.registry) == 0)
        assert not server._processor.transports
        async with await Peer.connect(listener) as client:
            assert (await client.call(API_VERSIONS, 3, named())).error_code == 0
    assert [r for r in caplog.records if r.levelno >= logging.ERROR] == []


async def test_request_of_2_mb_is_refused_by_default_and_accepted_with_a_larger_limit() -> None:
    async with served(None, ListenerConfig(name="L")) as server:
        async with await Peer.connect(only_listener(server)) as peer:
            peer.writer.write((2 * 1024 * 1024).to_bytes(4, "big"))
            assert await peer.until_closed() == b""
        assert refused(server, "frame_size") == 1
    async with served(None, limited(max_frame_bytes=4 * 1024 * 1024)) as server:
        topic = request("Metadata").MetadataRequestTopic(name="t" * 20_000)
        async with await Peer.connect(only_listener(server)) as peer:
            received = await peer.call(METADATA, 9, request("Metadata", topics=[topic] * 100))
            assert received.controller_id == 1
