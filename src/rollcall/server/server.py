"""Socket server of a node: its listeners, and the registry, metrics and logs they share."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from rollcall.errors import ConfigError
from rollcall.server.config import ListenerConfig, ServerConfig
from rollcall.server.handlers import Handler
from rollcall.server.http import Health, HttpServer
from rollcall.server.listener import Listener
from rollcall.server.metrics import Metrics
from rollcall.server.processor import Processor
from rollcall.server.refusals import Refusals
from rollcall.server.registry import ConnectionRegistry
from rollcall.server.request_log import RequestLog

logger = logging.getLogger(__name__)


class SocketServer:
    """Listeners on the running event loop; create, use and stop it on that loop."""

    def __init__(self, config: ServerConfig | None = None) -> None:
        self.config = config or ServerConfig()
        self.registry = ConnectionRegistry(self.config.max_software)
        self.refusals = Refusals()
        log = self.config.request_log
        self.request_log = None if log is None else RequestLog(log)
        self.metrics = Metrics(
            self.registry,
            self.refusals,
            self.request_log,
            gauge_name=self.config.connections_gauge,
            processor=self.config.processor,
        )
        self.listeners: dict[str, Listener] = {}
        self.http: HttpServer | None = None
        self._processor = Processor(self.config.processor, self.refusals)

    async def open_listener(
        self, config: ListenerConfig, handlers: Mapping[int, Handler]
    ) -> Listener:
        """Start a listener that serves the APIs of the handlers."""
        if config.name in self.listeners:
            raise ConfigError(
                f"two listeners have the name {config.name}", hint="use different names"
            )
        listener = Listener(config, handlers, self, self._processor)
        await listener.open()
        self.listeners[config.name] = listener
        logger.info(
            "listener %s (%s, dialect %s) opened at %s:%d",
            listener.name,
            listener.security_protocol,
            listener.dialect.name,
            listener.host,
            listener.port,
        )
        return listener

    async def open_http(
        self, *, host: str = "127.0.0.1", port: int = 0, health: Callable[[], Health] | None = None
    ) -> HttpServer:
        """Serve /metrics, /connections and /health."""
        if self.http is not None:
            raise ConfigError("the HTTP server is already open", hint="open it once")
        self.http = HttpServer(self.registry, self.metrics, health)
        await self.http.open(host, port)
        return self.http

    async def stop(self, grace_seconds: float = 5.0) -> None:
        """Stop listening, complete requests in progress, then abort the remaining connections."""
        for listener in self.listeners.values():
            listener.close()
        await self._processor.stop(grace_seconds)
        if self.http is not None:
            await self.http.close()
        if self.request_log is not None:
            await asyncio.to_thread(self.request_log.close)
        logger.info("all listeners closed")
