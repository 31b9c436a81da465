"""Brokers that follow a script: real sockets, real bytes, and any misbehaviour one can write down.

A `ScriptedBroker` answers ApiVersions, DescribeCluster, Metadata and SASL out of its attributes, as
a broker of such a release would. A test that needs a broker to do wrong overrides one method.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from rollcall.client import Address
from rollcall.protocol.conversation import ServerConversation
from rollcall.protocol.dialects import KIP, RELEASED, dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.headers import Request
from rollcall.protocol.sasl import AuthenticationFailed, Users, new_server

METADATA, HANDSHAKE, API_VERSIONS, AUTHENTICATE, DESCRIBE_CLUSTER = 3, 17, 18, 36, 60
HANG_UP = None
SILENCE = b""
NOWHERE = Address("", 0)

RELEASED_RANGES = {0: (3, 11), 1: (4, 17), 3: (0, 13), 18: (0, 4), 60: (0, 2)}
KIP_RANGES = {3: (0, 11), 18: (0, 3), 60: (0, 1)}
SASL_RANGES = {17: (0, 1), 36: (0, 2)}


@dataclass
class ScriptedBroker:
    ranges: Mapping[int, tuple[int, int]] = field(default_factory=lambda: dict(RELEASED_RANGES))
    speaks: str = RELEASED
    id: int = 1
    nodes: list[tuple[int, Address, str | None, int]] = field(default_factory=list)
    """Id, address, rack and start time of every broker; itself alone when it is empty."""
    start_time_ms: int = 0
    software: tuple[str | None, str | None] = (None, None)
    cluster_id: str = "scripted"
    controller_id: int = 1
    operations: int = 8096
    supported_features: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    finalized_features: Mapping[str, int] = field(default_factory=dict)
    users: Users | None = None
    delay: float = 0.0
    address: Address = NOWHERE
    requests: list[tuple[int, Request]] = field(default_factory=list)
    """What was asked, with the number of the connection: 1 is the first."""
    connections: int = 0
    writers: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def open_now(self) -> int:
        return len(self.writers)

    def hang_up(self) -> None:
        for writer in self.writers:
            writer.transport.abort()

    async def answer(self, request: Request, talk: ServerConversation, number: int) -> bytes | None:
        """The bytes to send; `SILENCE` for none, `HANG_UP` to close."""
        key = request.api_key
        if key == API_VERSIONS:
            return self.api_versions(request, talk)
        low, high = self.ranges.get(key, (0, -1))
        if not low <= request.api_version <= high:
            return HANG_UP
        if key == METADATA:
            return talk.respond(request, self.metadata(request, talk))
        if key == DESCRIBE_CLUSTER:
            return talk.respond(request, self.describe_cluster(request, talk))
        return HANG_UP

    def api_versions(self, request: Request, talk: ServerConversation) -> bytes | None:
        low, high = self.ranges.get(API_VERSIONS, (0, -1))
        if not low <= request.api_version <= high:
            return self.refuse_version(request, talk, {API_VERSIONS: (low, high)})
        body = self.api_versions_body(talk, Errors.NONE, self.ranges)
        return talk.respond(request, body)

    def refuse_version(
        self, request: Request, talk: ServerConversation, named: Mapping[int, tuple[int, int]]
    ) -> bytes:
        body = self.api_versions_body(talk, Errors.UNSUPPORTED_VERSION, named)
        return talk.respond(request, body, version=0)

    def api_versions_body(
        self, talk: ServerConversation, error: int, ranges: Mapping[int, tuple[int, int]]
    ) -> Any:
        cls: Any = talk.dialect.message_class("ApiVersionsResponse")
        return cls(
            error_code=error,
            api_keys=[
                cls.ApiVersion(api_key=k, min_version=a, max_version=b)
                for k, (a, b) in ranges.items()
            ],
            dialect=KIP if self.speaks == KIP else None,
            supported_features=[
                cls.SupportedFeatureKey(name=n, min_version=a, max_version=b)
                for n, (a, b) in self.supported_features.items()
            ],
            finalized_features_epoch=1 if self.finalized_features else -1,
            finalized_features=[
                cls.FinalizedFeatureKey(name=n, max_version_level=level, min_version_level=level)
                for n, level in self.finalized_features.items()
            ],
        )

    def everyone(self) -> list[tuple[int, Address, str | None, int]]:
        return self.nodes or [(self.id, self.address, "r1", self.start_time_ms)]

    def metadata(self, request: Request, talk: ServerConversation) -> Any:
        asked = request.body(talk.dialect)
        cls: Any = talk.dialect.message_class("MetadataResponse")
        wanted = asked.include_cluster_authorized_operations
        return cls(
            brokers=[
                cls.MetadataResponseBroker(
                    node_id=i, host=a.host, port=a.port, rack=rack, start_time_ms=start
                )
                for i, a, rack, start in self.everyone()
            ],
            cluster_id=self.cluster_id,
            controller_id=self.controller_id,
            **({"cluster_authorized_operations": self.operations} if wanted else {}),
        )

    def describe_cluster(self, request: Request, talk: ServerConversation) -> Any:
        asked = request.body(talk.dialect)
        cls: Any = talk.dialect.message_class("DescribeClusterResponse")
        wanted = asked.include_cluster_authorized_operations
        return cls(
            brokers=[
                cls.DescribeClusterBroker(broker_id=i, host=a.host, port=a.port, rack=rack)
                for i, a, rack, _ in self.everyone()
            ],
            cluster_id=self.cluster_id,
            controller_id=self.controller_id,
            broker_software_name=self.software[0],
            broker_software_version=self.software[1],
            **({"cluster_authorized_operations": self.operations} if wanted else {}),
        )

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.add(writer)
        number = self.connections
        talk = ServerConversation(dialect(self.speaks))
        login = SaslSide(self.users) if self.users else None
        try:
            while data := await reader.read(65536):
                for request in talk.receive(data):
                    self.requests.append((number, request))
                    if self.delay:
                        await asyncio.sleep(self.delay)
                    reply = login.answer(request, talk) if login else SILENCE
                    if reply == SILENCE:
                        reply = await self.answer(request, talk, number)
                    if reply is HANG_UP:
                        return
                    writer.write(reply)
                await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass  # the test is over; asyncio's own callback does not like a cancelled task
        finally:
            self.writers.discard(writer)
            writer.close()

    def asked(self, key: int) -> list[int]:
        """The versions in which an API was asked, in order."""
        return [request.api_version for _, request in self.requests if request.api_key == key]


class SaslSide:
    """The broker's part of SASL; `SILENCE` means that it is none of its business."""

    def __init__(self, users: Users) -> None:
        self.users = users
        self.server: Any = None
        self.done = False

    def answer(self, request: Request, talk: ServerConversation) -> bytes | None:
        if self.done or request.api_key == API_VERSIONS:
            return SILENCE
        body = request.body(talk.dialect)
        if request.api_key == HANDSHAKE:
            cls: Any = talk.dialect.message_class("SaslHandshakeResponse")
            if body.mechanism not in ("PLAIN", "SCRAM-SHA-256"):
                return talk.respond(request, cls(error_code=33, mechanisms=["PLAIN"]))
            self.server = new_server(body.mechanism, self.users)
            return talk.respond(request, cls(mechanisms=[body.mechanism]))
        if request.api_key != AUTHENTICATE or self.server is None:
            return HANG_UP
        cls = talk.dialect.message_class("SaslAuthenticateResponse")
        try:
            step = self.server.step(bytes(body.auth_bytes))
        except AuthenticationFailed:
            return talk.respond(request, cls(error_code=58, error_message="no\x1b[2J entry"))
        self.done = step.done
        return talk.respond(request, cls(auth_bytes=step.token))


@asynccontextmanager
async def running(
    *brokers: ScriptedBroker, tls: ssl.SSLContext | None = None, port: int = 0
) -> AsyncIterator[list[Address]]:
    """The brokers on loopback ports; several of them know of each other."""
    async with AsyncExitStack() as stack:
        for broker in brokers:
            server = await asyncio.start_server(broker.serve, "127.0.0.1", port, ssl=tls)
            stack.callback(broker.hang_up)
            stack.callback(server.close)
            broker.address = Address("127.0.0.1", server.sockets[0].getsockname()[1])
        for broker in brokers:
            if not broker.nodes and len(brokers) > 1:
                broker.nodes = [(b.id, b.address, f"r{b.id}", b.start_time_ms) for b in brokers]
        yield [broker.address for broker in brokers]


async def unused_address() -> Address:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    address = Address("127.0.0.1", server.sockets[0].getsockname()[1])
    server.close()
    await server.wait_closed()
    return address


async def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    for _ in range(int(seconds / 0.005)):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not come to that in time")
