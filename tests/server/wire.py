"""A server with a made-up API or two, and a peer that speaks to it in bytes."""

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

API_VERSIONS = 18
SASL_HANDSHAKE = 17
SASL_AUTHENTICATE = 36
METADATA = 3
DESCRIBE_CLUSTER = 60
PATIENCE = 5.0


def request(name: str, **fields: Any) -> Message:
    return dialect(RELEASED).message_class(f"{name}Request")(**fields)


def named(name: str = "tester", version: str = "1.0") -> Message:
    return request("ApiVersions", client_software_name=name, client_software_version=version)


def response(name: str, **fields: Any) -> Message:
    return dialect(RELEASED).message_class(f"{name}Response")(**fields)


def metadata(context: RequestContext) -> Message:
    """A cluster of one: whoever was asked."""
    broker = response("Metadata").MetadataResponseBroker(
        node_id=1, host=context.listener.advertised_host, port=context.listener.advertised_port
    )
    return response("Metadata", brokers=[broker], controller_id=1, cluster_id="cluster-of-one")


def describe_cluster(context: RequestContext) -> Message:
    return response("DescribeCluster", cluster_id=context.principal)


HANDLERS: Mapping[int, Handler] = {METADATA: metadata, DESCRIBE_CLUSTER: describe_cluster}


@asynccontextmanager
async def served(
    config: ServerConfig | None = None,
    *listeners: ListenerConfig,
    handlers: Mapping[int, Handler] = HANDLERS,
) -> AsyncIterator[SocketServer]:
    """A server with its listeners open, PLAINTEXT if none is named; stopped at the end."""
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
    """The other end of a connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    talk: ClientConversation
    answers: list[Response] = field(default_factory=list)

    @classmethod
    async def connect(
        cls, listener: Listener, client_id: str | None = "peer", **options: Any
    ) -> Self:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port, **options)
        spoken = dialect(KIP if listener.dialect.name == KIP else RELEASED)
        return cls(reader, writer, ClientConversation(spoken, client_id))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.transport.abort()

    def send(self, api_key: int, version: int, body: Message) -> None:
        self.writer.write(self.talk.send(api_key, version, body)[1])

    async def next_answer(self) -> Response:
        async with asyncio.timeout(PATIENCE):
            while not self.answers:
                data = await self.reader.read(65536)
                assert data, "the server closed the connection"
                self.answers += self.talk.receive(data)
        return self.answers.pop(0)

    async def ask(self, api_key: int, version: int, body: Message) -> Message:
        self.send(api_key, version, body)
        answer = await self.next_answer()
        assert answer.message is not None
        return answer.message

    async def frame(self) -> bytes:
        """The next frame as it came, without its length."""
        async with asyncio.timeout(PATIENCE):
            size = int.from_bytes(await self.reader.readexactly(4), "big")
            return await self.reader.readexactly(size)

    async def until_closed(self) -> bytes:
        """What still came before the server closed."""
        async with asyncio.timeout(PATIENCE):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""


async def eventually(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait, with a bound, for what another task is about to do."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - nobody tells a peer what the server did
            await asyncio.sleep(0.005)


def metric(server: SocketServer, name: str, **labels: str) -> float | None:
    return server.metrics.registry.get_sample_value(name, labels)
