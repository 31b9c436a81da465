"""Listener: one address and dialect, and the state that its connections share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from rollcall.errors import RollcallError
from rollcall.protocol import Request, dialect
from rollcall.server.api_versions import ApiVersions
from rollcall.server.config import ListenerConfig
from rollcall.server.connection import Connection
from rollcall.server.dialect_conflicts import ConflictWarnings, conflicting_versions
from rollcall.server.handlers import Handler, supported_ranges
from rollcall.server.processor import Processor
from rollcall.server.refusals import RefusalCause, RefusalReason
from rollcall.server.registry import ConnectionInfo
from rollcall.server.tls import tls_context
from rollcall.server.transport import Transport, TransportSettings

if TYPE_CHECKING:
    from rollcall.server.server import SocketServer

BACKLOG = 1024
ANY_HOST = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not bound to


class ListenError(RollcallError):
    """A listener cannot be opened at its address."""


class Listener:
    """An open listener, created by `SocketServer.open_listener`."""

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
        self.ranges = supported_ranges(
            self.dialect, handlers, config.versions, sasl=config.sasl is not None
        )
        self.api_versions = ApiVersions(self.dialect, self.ranges)
        self.conflicting_versions = conflicting_versions(self.dialect)
        self.registry = server.registry
        self.metrics = server.metrics
        self.refusals = server.refusals
        self.request_log = server.request_log
        self.processor = processor
        self.transport_settings = TransportSettings(
            traffic=server.metrics.traffic[config.name],
            clock=processor.loop.time,
            tls=None if config.tls is None else tls_context(config.tls),
            close_seconds=config.limits.frame_seconds,
        )
        self.host = config.host
        self.port = config.port
        self._address: str | None = None
        self._conflicts = ConflictWarnings()
        self._shared_texts: dict[str, str] = {}
        self._server: asyncio.Server | None = None

    @property
    def advertised_host(self) -> str:
        return self.config.advertised_host or self.host

    @property
    def advertised_port(self) -> int:
        return self.config.advertised_port or self.port

    async def open(self) -> None:
        """Start listening; a port of 0 is replaced by the one that the system chose."""
        try:
            server = await self._listen(self.port)
            first, *others = [address.getsockname()[1] for address in server.sockets]
            if any(port != first for port in others):
                # The host name has several addresses, and the system chose a port for each.
                server.close()
                server = await self._listen(first)
        except (OSError, OverflowError) as error:
            raise ListenError(
                f"listener {self.name} cannot listen on {self.host}:{self.port}: {error}",
                hint="choose a free port (or 0) and an address of this machine",
            ) from error
        self._server = server
        host, self.port = server.sockets[0].getsockname()[:2]
        if host not in ANY_HOST and len(server.sockets) == 1:
            self._address = f"{host}:{self.port}"

    async def _listen(self, port: int) -> asyncio.Server:
        return await self.processor.loop.create_server(
            lambda: Connection(self).transport, self.host, port, backlog=BACKLOG
        )

    def close(self) -> None:
        """Stop listening; open connections stay open."""
        if self._server is not None:
            self._server.close()

    # -- used by connections

    def describe(self, transport: Transport) -> ConnectionInfo:
        """Registry entry of a new connection."""
        # A peer that has disconnected already has no address.
        peer_host, peer_port = transport.address("peername") or ("unknown", 0)
        return ConnectionInfo(
            index=self.processor.next_index(),
            processor=self.processor.number,
            listener=self.name,
            security_protocol=self.security_protocol,
            local=self._local_address(transport),
            peer_host=self._shared(peer_host),
            peer_port=peer_port,
            since=time.time(),
        )

    def accept(self, info: ConnectionInfo, transport: Transport) -> bool:
        """Register a connection, unless there are too many already."""
        limits, registry = self.limits, self.registry
        if registry.by_listener[self.name] >= limits.max_connections:
            self.refuse(
                info,
                RefusalReason.TOO_MANY_CONNECTIONS,
                "refused: %d connections are open (max_connections)",
                limits.max_connections,
            )
            return False
        if registry.by_address[self.name, info.peer_host] >= limits.max_connections_per_address:
            self.refuse(
                info,
                RefusalReason.TOO_MANY_PER_ADDRESS,
                "refused: %d connections from this address are open (max_connections_per_address)",
                limits.max_connections_per_address,
            )
            return False
        registry.add(info)
        self.processor.transports.add(transport)
        self.metrics.accepted[self.name] += 1
        return True

    def release(self, info: ConnectionInfo, transport: Transport) -> None:
        """Remove a closed connection."""
        self.registry.remove(info)
        self.processor.discard(transport)

    def admits(self, info: ConnectionInfo) -> bool:
        return self.config.admits is None or self.config.admits(info)

    def refuse(
        self,
        info: ConnectionInfo,
        reason: RefusalReason,
        text: str,
        *arguments: object,
        detail: object = None,
    ) -> bool:
        """Count a refused connection or request; True if it was logged as well."""
        cause = RefusalCause(self.name, reason, info.peer_host, detail or text)
        now = self.processor.loop.time()
        return self.refusals.note(cause, now, "connection %s " + text, info.id, *arguments)

    def count_authentication(self, mechanism: str, result: str) -> None:
        self.metrics.authentications[self.name, mechanism, result] += 1

    def warn_of_conflict(self, info: ConnectionInfo, request: Request) -> None:
        self._conflicts.warn(info, self.dialect.apis[request.api_key].name, request.api_version)

    def _local_address(self, transport: Transport) -> str:
        """Our end of a connection; the kernel is queried only if the listener has several."""
        if self._address is not None:
            return self._address
        host, port = transport.address("sockname") or (self.host, self.port)
        return self._shared(f"{host}:{port}")

    def _shared(self, text: str) -> str:
        """The same text as one object, so that connections of one address share it."""
        if len(self._shared_texts) > max(1000, 2 * len(self.registry)):
            self._shared_texts.clear()
        return self._shared_texts.setdefault(text, text)
