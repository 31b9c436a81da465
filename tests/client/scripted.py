"""Scripted brokers on loopback sockets, for tests of the client.

A `ScriptedBroker` responds to ApiVersions, DescribeCluster, Metadata and SASL from its attributes.
A test that needs a misbehaving broker overrides one method.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from rollcall.client import Address, ClientConfig
from rollcall.protocol import KIP, RELEASED, Errors, Request, dialect
from rollcall.protocol.sasl import AuthenticationFailed, Users, new_server
from tests.protocol.server_conversation import ServerConversation

METADATA, HANDSHAKE, API_VERSIONS, AUTHENTICATE, DESCRIBE_CLUSTER = 3, 17, 18, 36, 60
CLOSE = None
NO_RESPONSE = b""
NO_ADDRESS = Address("", 0)

PATIENT = ClientConfig(
    connect_timeout=60, request_timeout=60, api_versions_timeout=60, broker_timeout=60
)
"""For tests without timeouts, on a loaded machine."""

RELEASED_RANGES = {0: (3, 11), 1: (4, 17), 3: (0, 13), 18: (0, 4), 60: (0, 2)}
KIP_RANGES = {3: (0, 11), 18: (0, 3), 60: (0, 1)}
SASL_RANGES = {17: (0, 1), 36: (0, 2)}


@dataclass
class ScriptedBroker:
    ranges: Mapping[int, tuple[int, int]] = field(default_factory=lambda: dict(RELEASED_RANGES))
    dialect_name: str = RELEASED
    id: int = 1
    nodes: list[tuple[int, Address, str | None, int]] = field(default_factory=list)
    """Id, address, rack and start time of every listed broker; only itself when empty."""
    start_time_ms: int = 0
    software: tuple[str | None, str | None] = (None, None)
    cluster_id: str = "scripted"
    controller_id: int = 1
    operations: int = 8096
    supported_features: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    finalized_features: Mapping[str, int] = field(default_factory=dict)
    users: Users | None = None
    delay: float = 0.0
    address: Address = NO_ADDRESS
    requests: list[tuple[int, Request]] = field(default_factory=list)
    """Received requests with the number of their connection, from 1 on."""
    connections: int = 0
    writers: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def open_connections(self) -> int:
        return len(self.writers)

    def close_connections(self) -> None:
        for writer in self.writers:
            writer.transport.abort()

    async def respond(
        self, request: Request, conversation: ServerConversation, number: int
    ) -> bytes | None:
        """Bytes to send, `NO_RESPONSE`, or `CLOSE` to close the connection."""
        key = request.api_key
        if key == API_VERSIONS:
            return self.api_versions(request, conversation)
        low, high = self.ranges.get(key, (0, -1))
        if not low <= request.api_version <= high:
            return CLOSE
        if key == METADATA:
            return conversation.respond(request, self.metadata(request, conversation))
        if key == DESCRIBE_CLUSTER:
            return conversation.respond(request, self.describe_cluster(request, conversation))
        return CLOSE

    def api_versions(self, request: Request, conversation: ServerConversation) -> bytes | None:
        low, high = self.ranges.get(API_VERSIONS, (0, -1))
        if not low <= request.api_version <= high:
            return self.refuse_version(request, conversation, {API_VERSIONS: (low, high)})
        body = self.api_versions_body(conversation, Errors.NONE, self.ranges)
        return conversation.respond(request, body)

    def refuse_version(
        self,
        request: Request,
        conversation: ServerConversation,
        listed: Mapping[int, tuple[int, int]],
    ) -> bytes:
        body = self.api_versions_body(conversation, Errors.UNSUPPORTED_VERSION, listed)
        return conversation.respond(request, body, version=0)

    def api_versions_body(
        self, conversation: ServerConversation, error: int, ranges: Mapping[int, tuple[int, int]]
    ) -> Any:
        cls: Any = conversation.dialect.message_class("ApiVersionsResponse")
        return cls(
            error_code=error,
            api_keys=[
                cls.ApiVersion(api_key=k, min_version=a, max_version=b)
                for k, (a, b) in ranges.items()
            ],
            dialect=KIP if self.dialect_name == KIP else None,
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

    def listed_nodes(self) -> list[tuple[int, Address, str | None, int]]:
        return self.nodes or [(self.id, self.address, "r1", self.start_time_ms)]

    def metadata(self, request: Request, conversation: ServerConversation) -> Any:
        body = request.body(conversation.dialect)
        cls: Any = conversation.dialect.message_class("MetadataResponse")
        wanted = body.include_cluster_authorized_operations
        return cls(
            brokers=[
                cls.MetadataResponseBroker(
                    node_id=i, host=a.host, port=a.port, rack=rack, start_time_ms=start
                )
                for i, a, rack, start in self.listed_nodes()
            ],
            cluster_id=self.cluster_id,
            controller_id=self.controller_id,
            **({"cluster_authorized_operations": self.operations} if wanted else {}),
        )

    def describe_cluster(self, request: Request, conversation: ServerConversation) -> Any:
        body = request.body(conversation.dialect)
        cls: Any = conversation.dialect.message_class("DescribeClusterResponse")
        wanted = body.include_cluster_authorized_operations
        return cls(
            brokers=[
                cls.DescribeClusterBroker(broker_id=i, host=a.host, port=a.port, rack=rack)
                for i, a, rack, _ in self.listed_nodes()
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
        conversation = ServerConversation(dialect(self.dialect_name))
        login = SaslLogin(self.users) if self.users else None
        try:
            while data := await reader.read(65536):
                for request in conversation.receive(data):
                    self.requests.append((number, request))
                    if self.delay:
                        await asyncio.sleep(self.delay)
                    response = login.respond(request, conversation) if login else NO_RESPONSE
                    if response == NO_RESPONSE:
                        response = await self.respond(request, conversation, number)
                    if response is CLOSE:
                        return
                    writer.write(response)
                await writer.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass  # the test is over; asyncio logs a task that ends as cancelled
        finally:
            self.writers.discard(writer)
            writer.close()

    def versions_of(self, key: int) -> list[int]:
        """Versions of the received requests of an API, in order."""
        return [request.api_version for _, request in self.requests if request.api_key == key]


class SaslLogin:
    """SASL on the broker's side; `NO_RESPONSE` for requests that are not part of it."""

    def __init__(self, users: Users) -> None:
        self.users = users
        self.server: Any = None
        self.done = False

    def respond(self, request: Request, conversation: ServerConversation) -> bytes | None:
        if self.done or request.api_key == API_VERSIONS:
            return NO_RESPONSE
        body = request.body(conversation.dialect)
        if request.api_key == HANDSHAKE:
            cls: Any = conversation.dialect.message_class("SaslHandshakeResponse")
            if body.mechanism not in ("PLAIN", "SCRAM-SHA-256"):
                return conversation.respond(request, cls(error_code=33, mechanisms=["PLAIN"]))
            self.server = new_server(body.mechanism, self.users)
            return conversation.respond(request, cls(mechanisms=[body.mechanism]))
        if request.api_key != AUTHENTICATE or self.server is None:
            return CLOSE
        cls = conversation.dialect.message_class("SaslAuthenticateResponse")
        try:
            step = self.server.step(bytes(body.auth_bytes))
        except AuthenticationFailed:
            return conversation.respond(
                request, cls(error_code=58, error_message="bad\x1b[2J login")
            )
        self.done = step.done
        return conversation.respond(request, cls(auth_bytes=step.token))


@asynccontextmanager
async def running(
    *brokers: ScriptedBroker, tls: ssl.SSLContext | None = None, port: int = 0
) -> AsyncIterator[list[Address]]:
    """Start the brokers on loopback ports; several of them list each other."""
    async with AsyncExitStack() as stack:
        for broker in brokers:
            server = await asyncio.start_server(broker.serve, "127.0.0.1", port, ssl=tls)
            stack.callback(broker.close_connections)
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


async def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.005)
