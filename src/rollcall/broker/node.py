"""A node: listeners and answers, its cache, its membership, and on one of them the controller.

It starts in this order: the internal listener; registration; the controller's first word, which
fills the cache; only then the listeners for clients: nobody meets a node that knows nothing. It
ends in stages: the controller is told, new connections are refused, what is in flight is finished,
the rest is cut.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any

from rollcall.broker.broker_lifecycle import BrokerLifecycle
from rollcall.broker.config import INTERNAL, LOOPBACK, ListenerSettings
from rollcall.broker.controller import Controller
from rollcall.broker.controller_channel import internal_listener, linked
from rollcall.broker.handlers import NodeContext
from rollcall.broker.handlers.table import client_handlers, node_handlers
from rollcall.broker.metadata_cache import ClusterView, Endpoint, LiveBroker
from rollcall.broker.node_config import NodeConfig
from rollcall.broker.registrations import Registrations
from rollcall.broker.security import number_of
from rollcall.client import Connection
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
Tell = Callable[[dict[str, object]], None]


class BrokerNode:
    """One broker of the cluster. `tell` hears of its view whenever that changes."""

    def __init__(self, config: NodeConfig, tell: Tell) -> None:
        self.config = config
        software = config.cluster.software_of(config.node_id)
        self.facts = NodeContext(
            node_id=config.node_id,
            cluster_id=config.cluster_id,
            start_time_ms=time.time_ns() // 1_000_000,
            software_name=software.name,
            software_version=software.version,
        )
        self._tell = tell
        self._open = False
        self._known = asyncio.Event()
        self.facts.cache.watchers.append(self._heard)
        # Two servers: what the cluster says to itself is no client's business, nor in the log.
        self._inside = SocketServer(ServerConfig())
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
        self.membership = BrokerLifecycle(self._described(), self.facts, self._link_to_controller)

    async def run(self, stop: asyncio.Event) -> None:
        """Until told to stop, or until a part of it fails."""
        tasks: list[asyncio.Task[Any]] = []
        grace = 0.0
        try:
            tasks += [asyncio.create_task(run()) for run in await self._open_inside()]
            await _first_of(self._known.wait(), stop.wait(), parts=tasks)
            if not stop.is_set():
                await self._open_to_clients()
                await _first_of(stop.wait(), parts=tasks)
            await self.membership.leave()
            grace = GRACE_SECONDS
        finally:
            await self.server.stop(grace_seconds=grace)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._inside.stop(grace_seconds=0)

    async def _open_inside(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        """The internal listener and HTTP; what has to run from then on."""
        config = self.config
        await self.server.open_http(
            host=config.cluster.host, port=config.http_port, health=self._health
        )
        handlers = node_handlers(self.facts)
        parts = [self.membership.keep]
        if config.is_controller:
            roster = Registrations(config.cluster_id, config.node_id, config.starts)
            controller = Controller(roster, self._link_to, expected=config.cluster.brokers)
            handlers |= controller.handlers()
            parts.append(controller.run)
        listener = internal_listener(LOOPBACK, config.ports[INTERNAL], config.secret)
        await self._inside.open_listener(listener, handlers)
        return parts

    async def _open_to_clients(self) -> None:
        cluster = self.config.cluster
        users = Users(cluster.users, secret=self.config.secret.encode())
        for plan in cluster.listeners:
            handlers = client_handlers(
                self.facts, cluster.authorizer_of(plan), require_describe=plan.require_describe
            )
            await self.server.open_listener(self._listener(plan, users), handlers)
        self._open = True
        self._heard(self.facts.cache.view)

    def _listener(self, plan: ListenerSettings, users: Users) -> ListenerConfig:
        cluster = self.config.cluster
        sasl = plan.security_protocol.sasl
        return ListenerConfig(
            name=plan.name,
            host=cluster.host,
            port=self.config.ports[plan.name],
            advertised_host=cluster.advertised_host,
            dialect=plan.dialect,
            security_protocol=plan.security_protocol,
            tls=plan.tls,
            sasl=SaslConfig(users=users, mechanisms=plan.mechanisms) if sasl else None,
            on_unsupported=plan.on_unsupported,
            limits=cluster.limits,
        )

    def _described(self) -> LiveBroker:
        cluster, ports = self.config.cluster, self.config.ports
        host = cluster.advertised_host or cluster.host
        endpoints = [
            Endpoint(plan.name, host, ports[plan.name], number_of(plan.security_protocol))
            for plan in cluster.listeners
        ]
        inside = number_of(SecurityProtocol.SASL_PLAINTEXT)
        endpoints.append(Endpoint(INTERNAL, LOOPBACK, ports[INTERNAL], inside))
        rack = cluster.rack_of(self.config.node_id)
        return LiveBroker(self.config.node_id, tuple(endpoints), rack, self.facts.start_time_ms)

    def _heard(self, view: ClusterView) -> None:
        if any(broker.id == self.config.node_id for broker in view.brokers):
            self._known.set()
        self._tell(self._state())

    def _state(self) -> dict[str, object]:
        view = self.facts.cache.view
        return {"open": self._open, "brokers": [broker.id for broker in view.brokers]}

    def _health(self) -> dict[str, object]:
        view = self.facts.cache.view
        return {
            "status": "ready" if self._open else "starting",
            "node_id": self.config.node_id,
            "cluster_id": self.config.cluster_id,
            "controller_id": view.controller_id,
            "start_time_ms": self.facts.start_time_ms,
            "brokers": [broker.id for broker in view.brokers],
        }

    def _link_to(self, endpoint: Endpoint) -> AbstractAsyncContextManager[Connection]:
        name = f"node-{self.config.node_id}"
        return linked(endpoint.host, endpoint.port, self.config.secret, name)

    def _link_to_controller(self) -> AbstractAsyncContextManager[Connection]:
        return self._link_to(Endpoint(INTERNAL, LOOPBACK, self.config.controller_port, 0))


async def _first_of(*events: Coroutine[Any, Any, object], parts: list[asyncio.Task[Any]]) -> None:
    """Wait for one of the events. A part that ends before has failed, and its error is raised."""
    waiting = [asyncio.create_task(event) for event in events]
    try:
        await asyncio.wait([*waiting, *parts], return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waiting:
            task.cancel()
    for part in parts:
        if part.done():
            part.result()
