"""Test server with two APIs, and a test client that sends and receives raw bytes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from rollcall.protocol.conversation import ClientConversation, Response
from rollcall.protocol.dialects import KIP, RELEASED, dialect
from rollcall.protocol.messages import Message
from rollcall.server import (
    Handler,
    Listener,
    ListenerConfig,
    RequestContext,
    ServerConfig,
    SocketServer,
)
from rollcall.server.transport import NEVER

API_VERSIONS = 18
SASL_HANDSHAKE = 17
SASL_AUTHENTICATE = 36
METADATA = 3
DESCRIBE_CLUSTER = 60
TIMEOUT_SECONDS = 60.0


def request(name: str, **fields: Any) -> Message:
    return dialect(RELEASED).message_class(f"{name}Request")(**fields)


def named(name: str = "tester", version: str = "1.0") -> Message:
    """An ApiVersions request that reports client software."""
    return request("ApiVersions", client_software_name=name, client_software_version=version)


def response(name: str, **fields: Any) -> Message:
    return dialect(RELEASED).message_class(f"{name}Response")(**fields)


def metadata(context: RequestContext) -> Message:
    """Handler: a cluster with this listener as its only broker."""
    broker = response("Metadata").MetadataResponseBroker(
        node_id=1, host=context.listener.advertised_host, port=context.listener.advertised_port
    )
    return response("Metadata", brokers=[broker], controller_id=1, cluster_id="cluster-of-one")


def describe_cluster(context: RequestContext) -> Message:
    """Handler: the principal as the cluster id."""
    return response("DescribeCluster", cluster_id=context.principal)


HANDLERS: Mapping[int, Handler] = {METADATA: metadata, DESCRIBE_CLUSTER: describe_cluster}


@asynccontextmanager
async def served(
    config: ServerConfig | None = None,
    *listeners: ListenerConfig,
    handlers: Mapping[int, Handler] = HANDLERS,
) -> AsyncIterator[SocketServer]:
    """A server with open listeners (default: one named PLAINTEXT), stopped at the end."""
    server = SocketServer(config)
    try:
        for listener in listeners or (ListenerConfig(name="PLAINTEXT"),):
            await server.open_listener(listener, handlers)
        yield server
    finally:
        await server.stop(grace_seconds=0.2)


def only_listener(server: SocketServer) -> Listener:
    (listener,) = server.listeners.values()
    return listener


@dataclass
class Peer:
    """The client's end of a connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    conversation: ClientConversation
    responses: list[Response] = field(default_factory=list)

    @classmethod
    async def connect(
        cls, listener: Listener, client_id: str | None = "peer", **options: Any
    ) -> Self:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port, **options)
        client_dialect = dialect(KIP if listener.dialect.name == KIP else RELEASED)
        return cls(reader, writer, ClientConversation(client_dialect, client_id))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.transport.abort()

    def encode(self, api_key: int, version: int, body: Message) -> bytes:
        """The frame of a request, to be written by the caller."""
        return self.conversation.send(api_key, version, body)[1]

    def send(self, api_key: int, version: int, body: Message) -> None:
        self.writer.write(self.encode(api_key, version, body))

    async def next_response(self) -> Response:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not self.responses:
                data = await self.reader.read(65536)
                assert data, "the server closed the connection"
                self.responses += self.conversation.receive(data)
        return self.responses.pop(0)

    async def call(self, api_key: int, version: int, body: Message) -> Message:
        """Send a request and return the response."""
        self.send(api_key, version, body)
        received = await self.next_response()
        assert received.message is not None
        return received.message

    async def next_frame(self) -> bytes:
        """The next frame as received, without its length."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            size = int.from_bytes(await self.reader.readexactly(4), "big")
            return await self.reader.readexactly(size)

    async def until_closed(self) -> bytes:
        """The bytes received until the server closed the connection."""
        async with asyncio.timeout(TIMEOUT_SECONDS):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""


async def eventually(condition: Callable[[], object], seconds: float = TIMEOUT_SECONDS) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - the server has no event to wait for
            await asyncio.sleep(0.005)


def metric(server: SocketServer, name: str, **labels: str) -> float | None:
    return server.metrics.registry.get_sample_value(name, labels)


def expire_all(server: SocketServer) -> None:
    """Make the deadlines of all connections pass, instead of waiting for them."""
    for transport in server._processor.transports:
        if transport.deadline < NEVER:
            transport.deadline = 0.0
