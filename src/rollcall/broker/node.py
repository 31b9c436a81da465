"""BrokerNode: listeners and handlers, metadata cache, lifecycle; on one node also the controller.

Start: internal listener; registration; the first view from the controller, which fills the cache;
then the client listeners, so that no client sees an empty cache. Stop: unregister, refuse new
connections, finish requests in flight, close the rest.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any

from rollcall.broker.broker_lifecycle import BrokerLifecycle
from rollcall.broker.config import INTERNAL, LOOPBACK, ListenerSettings, NodeConfig
from rollcall.broker.controller import Controller
from rollcall.broker.controller_channel import internal_listener, open_channel
from rollcall.broker.handlers import NodeContext, client_handlers, node_handlers
from rollcall.broker.metadata_cache import (
    ClusterView,
    Endpoint,
    LiveBroker,
    security_protocol_id,
)
from rollcall.broker.registrations import Registrations
from rollcall.client import BrokerConnection
from rollcall.protocol.sasl import Users
from rollcall.server import (
    ListenerConfig,
    RequestLogConfig,
    SaslConfig,
    SecurityProtocol,
    ServerConfig,
    SocketServer,
)

GRACE_SECONDS = 5.0
"""Time for requests in flight when a node stops."""
Report = Callable[[dict[str, object]], None]


class BrokerNode:
    """One broker of the cluster; `report` is called with its state whenever that changes."""

    def __init__(self, config: NodeConfig, report: Report) -> None:
        self.config = config
        software = config.cluster.software_of(config.node_id)
        self.context = NodeContext(
            node_id=config.node_id,
            cluster_id=config.cluster_id,
            start_time_ms=time.time_ns() // 1_000_000,
            software_name=software.name,
            software_version=software.version,
        )
        self._report = report
        self._is_open = False
        self._registered = asyncio.Event()
        self.context.cache.watchers.append(self._view_changed)
        # Two servers: requests within the cluster are not in the request log and the metrics.
        self._internal_server = SocketServer(ServerConfig())
        log = RequestLogConfig(
            path=config.request_log,
            format=config.cluster.log_format,
            level=config.cluster.log_level,
        )
        metrics = config.cluster.metrics
        self.server = SocketServer(
            ServerConfig(
                request_log=log,
                connections_gauge=metrics.connections_gauge,
                max_software=metrics.max_software,
            )
        )
        self.lifecycle = BrokerLifecycle(
            self._live_broker(), self.context, self._connect_to_controller
        )

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set or a background task fails."""
        tasks: list[asyncio.Task[Any]] = []
        grace = 0.0
        try:
            tasks += [asyncio.create_task(run()) for run in await self._open_internal()]
            await _wait_for_any(self._registered.wait(), stop.wait(), tasks=tasks)
            if not stop.is_set():
                await self._open_client_listeners()
                await _wait_for_any(stop.wait(), tasks=tasks)
            await self.lifecycle.shut_down()
            grace = GRACE_SECONDS
        finally:
            await self.server.stop(grace_seconds=grace)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._internal_server.stop(grace_seconds=0)

    async def _open_internal(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        """Open HTTP and the internal listener; returns the background tasks to run."""
        config = self.config
        await self.server.open_http(
            host=config.cluster.host, port=config.http_port, health=self._health
        )
        handlers = node_handlers(self.context)
        background = [self.lifecycle.run]
        if config.is_controller:
            registrations = Registrations(config.cluster_id, config.node_id, config.starts)
            controller = Controller(registrations, self._connect, expected=config.cluster.brokers)
            handlers |= controller.handlers()
            background.append(controller.run)
        listener = internal_listener(LOOPBACK, config.ports[INTERNAL], config.secret)
        await self._internal_server.open_listener(listener, handlers)
        return background

    async def _open_client_listeners(self) -> None:
        cluster = self.config.cluster
        users = Users(cluster.users, secret=self.config.secret.encode())
        for settings in cluster.listeners:
            handlers = client_handlers(
                self.context,
                cluster.authorizer_of(settings),
                require_describe=settings.require_describe,
            )
            await self.server.open_listener(self._listener_config(settings, users), handlers)
        self._is_open = True
        self._view_changed(self.context.cache.view)

    def _listener_config(self, settings: ListenerSettings, users: Users) -> ListenerConfig:
        cluster = self.config.cluster
        sasl = settings.security_protocol.sasl
        return ListenerConfig(
            name=settings.name,
            host=cluster.host,
            port=self.config.ports[settings.name],
            advertised_host=cluster.advertised_host,
            dialect=settings.dialect,
            security_protocol=settings.security_protocol,
            tls=settings.tls,
            sasl=SaslConfig(users=users, mechanisms=settings.mechanisms) if sasl else None,
            on_unsupported=settings.on_unsupported,
            limits=cluster.limits,
        )

    def _live_broker(self) -> LiveBroker:
        cluster, ports = self.config.cluster, self.config.ports
        host = cluster.advertised_host or cluster.host
        endpoints = [
            Endpoint(
                settings.name,
                host,
                ports[settings.name],
                security_protocol_id(settings.security_protocol),
            )
            for settings in cluster.listeners
        ]
        internal = security_protocol_id(SecurityProtocol.SASL_PLAINTEXT)
        endpoints.append(Endpoint(INTERNAL, LOOPBACK, ports[INTERNAL], internal))
        rack = cluster.rack_of(self.config.node_id)
        return LiveBroker(self.config.node_id, tuple(endpoints), rack, self.context.start_time_ms)

    def _view_changed(self, view: ClusterView) -> None:
        if any(broker.id == self.config.node_id for broker in view.brokers):
            self._registered.set()
        self._report({"open": self._is_open, "brokers": [broker.id for broker in view.brokers]})

    def _health(self) -> dict[str, object]:
        view = self.context.cache.view
        return {
            "status": "ready" if self._is_open else "starting",
            "node_id": self.config.node_id,
            "cluster_id": self.config.cluster_id,
            "controller_id": view.controller_id,
            "start_time_ms": self.context.start_time_ms,
            "brokers": [broker.id for broker in view.brokers],
        }

    def _connect(self, endpoint: Endpoint) -> AbstractAsyncContextManager[BrokerConnection]:
        client_id = f"node-{self.config.node_id}"
        return open_channel(endpoint.host, endpoint.port, self.config.secret, client_id)

    def _connect_to_controller(self) -> AbstractAsyncContextManager[BrokerConnection]:
        return self._connect(Endpoint(INTERNAL, LOOPBACK, self.config.controller_port, 0))


async def _wait_for_any(
    *events: Coroutine[Any, Any, object], tasks: list[asyncio.Task[Any]]
) -> None:
    """Wait for one of the events; raise the error of a background task that ends before."""
    waiting = [asyncio.create_task(event) for event in events]
    try:
        await asyncio.wait([*waiting, *tasks], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for event_task in waiting:
            event_task.cancel()
    for task in tasks:
        if task.done():
            task.result()
