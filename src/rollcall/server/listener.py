"""A listener: one address, one dialect, and what every connection to it shares."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rollcall.errors import RollcallError
from rollcall.protocol.dialects import dialect
from rollcall.protocol.framing import FrameReader
from rollcall.protocol.headers import Request
from rollcall.server.api_versions import ApiVersions
from rollcall.server.config import ListenerConfig
from rollcall.server.connection import Connection
from rollcall.server.dialect_conflicts import DisputeWarnings, disputed_versions
from rollcall.server.handlers import Handler, answered_ranges
from rollcall.server.processor import Processor
from rollcall.server.refusals import Reason
from rollcall.server.registry import ConnectionInfo
from rollcall.server.tls import tls_context

if TYPE_CHECKING:
    from rollcall.server.server import SocketServer

BACKLOG = 1024
ANY_HOST = frozenset({"0.0.0.0", "::"})  # noqa: S104 - asked for, not chosen here


class ListenError(RollcallError):
    """An address that cannot be listened on."""


class Listener:
    """Made by `SocketServer.open_listener`."""

    def __init__(
        self,
        config: ListenerConfig,
        handlers: Mapping[int, Handler],
        server: SocketServer,
        processor: Processor,
    ) -> None:
        self.config = config
        self.name = config.name
        self.limits = config.limits
        self.sasl = config.sasl
        self.security_protocol = config.security_protocol.value
        self.dialect = dialect(config.dialect)
        self.handlers = dict(handlers)
        self.ranges = answered_ranges(
            self.dialect, handlers, config.versions, sasl=config.sasl is not None
        )
        self.api_versions = ApiVersions(self.dialect, self.ranges)
        self.disputed = disputed_versions(self.dialect)
        self.tls = None if config.tls is None else tls_context(config.tls)
        self.registry = server.registry
        self.metrics = server.metrics
        self.refusals = server.refusals
        self.request_log = server.request_log
        self.processor = processor
        self.host = config.host
        self.port = config.port
        self._address: str | None = None
        self._disputes = DisputeWarnings()
        self._spare_reader: FrameReader | None = None
        self._shared_texts: dict[str, str] = {}
        self._server: asyncio.Server | None = None

    @property
    def advertised_host(self) -> str:
        return self.config.advertised_host or self.host

    @property
    def advertised_port(self) -> int:
        return self.config.advertised_port or self.port

    async def open(self) -> None:
        """Listen. After it `port` is the one the system chose, if it was to choose."""
        try:
            server = await self._listen(self.port)
            first, *others = [address.getsockname()[1] for address in server.sockets]
            if any(port != first for port in others):
                # A name with several addresses, and the system chose a port for each of them.
                server.close()
                server = await self._listen(first)
        except (OSError, OverflowError) as error:
            raise ListenError(
                f"the listener {self.name} cannot listen on {self.host}:{self.port}: {error}",
                hint="choose another port, or 0 for a free one; the host must be of this machine",
            ) from error
        self._server = server
        host, self.port = server.sockets[0].getsockname()[:2]
        if host not in ANY_HOST and len(server.sockets) == 1:
            self._address = f"{host}:{self.port}"

    async def _listen(self, port: int) -> asyncio.Server:
        return await self.processor.loop.create_server(
            lambda: Connection(self), self.host, port, backlog=BACKLOG
        )

    def close(self) -> None:
        """Refuse new connections; open ones stay."""
        if self._server is not None:
            self._server.close()

    # -- for its connections

    def local_address(self, transport: asyncio.BaseTransport) -> str:
        """Our end of a connection; only a listener on several addresses has to ask which it is."""
        if self._address is not None:
            return self._address
        host, port = (transport.get_extra_info("sockname") or (self.host, self.port))[:2]
        return self.shared(f"{host}:{port}")

    def shared(self, text: str) -> str:
        """The same text as one object, as long as some connection of that address is open."""
        if len(self._shared_texts) > max(1000, 2 * len(self.registry)):
            self._shared_texts.clear()
        return self._shared_texts.setdefault(text, text)

    def full_for(self, host: str) -> Reason | None:
        if self.registry.by_listener[self.name] >= self.limits.max_connections:
            return Reason.TOO_MANY_CONNECTIONS
        if self.registry.by_address[self.name, host] >= self.limits.max_connections_per_address:
            return Reason.TOO_MANY_PER_ADDRESS
        return None

    def admits(self, info: ConnectionInfo) -> bool:
        return self.config.admits is None or self.config.admits(info)

    def note_dispute(self, info: ConnectionInfo, request: Request) -> None:
        self._disputes.note(info, self.dialect.apis[request.api_key].name, request.api_version)

    def take_reader(self) -> FrameReader:
        """A frame reader with nothing in it: mostly one read is one frame, and one serves all."""
        reader, self._spare_reader = self._spare_reader, None
        return reader or FrameReader()

    def give_back_reader(self, reader: FrameReader) -> None:
        self._spare_reader = reader
