"""Fuzz test: mutated and random frames on connections without a socket.

50,000 frames by default; set FUZZ_FRAMES for another number.
"""

import asyncio
import gc
import logging
import os
import random
from collections.abc import Iterator

import pytest

from rollcall.protocol.dialects import DIALECT_NAMES
from rollcall.protocol.framing import frame
from rollcall.protocol.sasl import Users
from rollcall.server import Listener, ListenerConfig, SaslConfig, SecurityProtocol, SocketServer
from rollcall.server.connection import Connection
from tests.server.wire import (
    API_VERSIONS,
    DESCRIBE_CLUSTER,
    HANDLERS,
    METADATA,
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
    Peer,
    named,
    only_listener,
    request,
    served,
)

FRAMES = int(os.environ.get("FUZZ_FRAMES", "50000"))
FRAMES_PER_CONNECTION = 20
LISTENERS = {
    **{name: ListenerConfig(name="L", dialect=name) for name in DIALECT_NAMES},
    "sasl": ListenerConfig(
        name="L",
        security_protocol=SecurityProtocol.SASL_PLAINTEXT,
        sasl=SaslConfig(users=Users({"alice": "secret"}), failure_delay=0),
    ),
}


class NullSocket(asyncio.Transport):
    """Discards what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = False
        self.written = 0

    def get_extra_info(self, name: str, default: object = None) -> object:
        return ("127.0.0.1", 1234)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += len(data)

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True


async def good_frames(listener: Listener) -> list[bytes]:
    async with await Peer.connect(listener) as peer:
        return [
            peer.encode(key, version, body)[4:]
            for key, version, body in (
                (API_VERSIONS, 0, request("ApiVersions")),
                (API_VERSIONS, 3, named("librdkafka", "2.3.0")),
                (METADATA, 0, request("Metadata")),
                (METADATA, 9, request("Metadata", topics=None)),
                (DESCRIBE_CLUSTER, 0, request("DescribeCluster")),
                (SASL_HANDSHAKE, 0, request("SaslHandshake", mechanism="PLAIN")),
                (SASL_HANDSHAKE, 1, request("SaslHandshake", mechanism="SCRAM-SHA-256")),
                (SASL_AUTHENTICATE, 0, request("SaslAuthenticate", auth_bytes=b"n,,n=alice,r=x")),
            )
        ]


def mutated(good: list[bytes], rng: random.Random) -> bytes:
    if rng.random() < 0.1:
        return rng.randbytes(rng.randrange(64))
    body = bytearray(rng.choice(good))
    for _ in range(rng.randrange(4)):
        at = rng.randrange(len(body))
        kind = rng.randrange(4)
        if kind == 0:
            body[at] = rng.randrange(256)
        elif kind == 1:
            body[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del body[at : at + rng.randrange(8)]
        else:
            body[at:at] = rng.randbytes(rng.randrange(8))
        if not body:
            break
    return bytes(body)


def pieces(data: bytes, rng: random.Random) -> Iterator[bytes]:
    while data:
        size = rng.randrange(1, len(data) + 1) if rng.random() < 0.3 else len(data)
        yield data[:size]
        data = data[size:]


def fuzz_connection(listener: Listener, good: list[bytes], rng: random.Random) -> int:
    """Feed frames to a connection until it closes; return their number."""
    connection = Connection(listener)
    transport = connection.transport
    transport.connection_made(NullSocket())
    frames = 0
    while frames < FRAMES_PER_CONNECTION and not connection._stopped:
        data = frame([mutated(good, rng) if rng.random() < 0.5 else rng.choice(good)])
        if rng.random() < 0.02:
            data = rng.randbytes(4) + data
        for piece in pieces(data, rng):
            transport.data_received(piece)
        frames += 1
    transport.connection_lost(None)
    return frames


def sizes(server: SocketServer) -> list[int]:
    return [
        len(server.registry),
        len(server.registry.by_address),
        len(server.registry.gauge.counts),
        len(server._processor.transports),
    ]


@pytest.mark.timeout(60 + FRAMES // 500)
@pytest.mark.parametrize("kind", LISTENERS)
async def test_mutated_frames_cause_no_crash_no_error_and_no_memory_growth(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    rng = random.Random(f"{kind} 7")
    async with served(None, LISTENERS[kind], handlers=HANDLERS) as server:
        listener = only_listener(server)
        good = await good_frames(listener)
        frames, share = 0, FRAMES // len(LISTENERS)
        objects = []
        for part in (share // 2, share):
            while frames < part:
                frames += fuzz_connection(listener, good, rng)
                if rng.random() < 0.01:
                    await asyncio.sleep(0)
            await asyncio.sleep(0.01)
            gc.collect()
            objects.append(len(gc.get_objects()))
        completed = sum(server.metrics.requests.values())
        assert frames / 10 < completed < frames, "some frames are valid, some are not"
        assert sizes(server) == [0, 0, 0, 0]
        assert objects[1] - objects[0] < 2000
        async with await Peer.connect(listener) as peer:
            assert (await peer.call(API_VERSIONS, 3, named())).error_code == 0
    assert [record.getMessage() for record in caplog.records] == []
