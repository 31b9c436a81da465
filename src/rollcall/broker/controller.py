"""Controller: registers nodes and sends each of them UpdateMetadata (KIP-536).

One task per registration keeps a connection to that node and sends the view in the highest version
that the node supports, whenever it changes. If the node refuses a new connection, it is
unregistered at once, without waiting for its session to expire. A node that hangs keeps its
connections and is unregistered when its session expires.

A controller that has just started has no registrations. It sends nothing until all nodes have
registered or one session timeout has passed, as its first view would remove running nodes.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field

from rollcall.broker.config import INTERNAL
from rollcall.broker.controller_channel import require_open, send_request, sleep_while_open
from rollcall.broker.handlers import broker_heartbeat, broker_registration, update_metadata
from rollcall.broker.metadata_cache import Endpoint
from rollcall.broker.registrations import Registration, Registrations
from rollcall.client import BrokerConnection, ClientError, ConnectionRefusedByBrokerError
from rollcall.protocol import Errors, Message, error_code
from rollcall.server import Handler, RequestContext

TICK_SECONDS = 0.1
NOTHING_PUBLISHED = -1

_log = logging.getLogger(__name__)


@dataclass
class Controller:
    """Registrations, and a task per node that sends the view; `connect` opens a channel."""

    registrations: Registrations
    connect: Callable[[Endpoint], AbstractAsyncContextManager[BrokerConnection]]
    expected: int
    """Number of nodes of the cluster."""
    clock: Callable[[], float] = time.monotonic
    _senders: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _published: int = NOTHING_PUBLISHED
    """Change number of the registrations that the senders may send."""

    def handlers(self) -> dict[int, Handler]:
        def register(context: RequestContext) -> Message:
            return broker_registration.handle(context.body, self.registrations, self.clock())

        def heartbeat(context: RequestContext) -> Message:
            return broker_heartbeat.handle(context.body, self.registrations, self.clock())

        return {broker_registration.KEY: register, broker_heartbeat.KEY: heartbeat}

    async def run(self) -> None:
        """Run until cancelled."""
        publish_at = self.clock() + self.registrations.session_timeout
        try:
            while True:
                self._remove_expired()
                self._update_senders()
                complete = len(self.registrations.registered) >= self.expected
                started = self._published != NOTHING_PUBLISHED
                if complete or started or self.clock() >= publish_at:
                    self._publish()
                await asyncio.sleep(TICK_SECONDS)
        finally:
            for sender in self._senders.values():
                sender.cancel()

    def _remove_expired(self) -> None:
        expired = self.registrations.expired(self.clock())
        for registration in expired:
            _log.warning(
                "node %d: session expired, no heartbeat within %g s: unregistered",
                registration.broker.id,
                self.registrations.session_timeout,
            )
        self.registrations.remove(expired)

    def _update_senders(self) -> None:
        """Start a sender for every new registration, cancel those of old ones."""
        registered = {known.epoch: known for known in self.registrations.registered}
        for epoch in self._senders.keys() - registered.keys():
            self._senders.pop(epoch).cancel()
        for sender in self._senders.values():
            if sender.done():
                sender.result()  # raises the error of a sender that failed
        for epoch in registered.keys() - self._senders.keys():
            self._senders[epoch] = asyncio.create_task(self._send_to(registered[epoch]))

    def _publish(self) -> None:
        if self._published != self.registrations.change:
            self._published = self.registrations.change
            self._changed.set()
            self._changed = asyncio.Event()

    async def _send_to(self, registration: Registration) -> None:
        broker = registration.broker
        endpoint = broker.endpoint(INTERNAL)
        while endpoint is not None:
            try:
                async with self.connect(endpoint) as node:
                    await self._send_changes(node, registration)
            except ConnectionRefusedByBrokerError:
                _log.warning("node %d: connection refused: unregistered", broker.id)
                self.registrations.remove([registration])
                return
            except ClientError as error:
                _log.info("node %d: UpdateMetadata failed: %s", broker.id, error)
            await asyncio.sleep(TICK_SECONDS)

    async def _send_changes(self, node: BrokerConnection, registration: Registration) -> None:
        sent = NOTHING_PUBLISHED
        while True:
            await self._next_change(node, sent)
            sending = self._published
            request = update_metadata.build_request(self.registrations.view, registration.epoch)
            response = await send_request(node, update_metadata.KEY, request)
            if response.error_code == Errors.NONE:
                sent = sending
            else:
                error = error_code(response.error_code).name
                _log.warning("node %d: UpdateMetadata rejected: %s", registration.broker.id, error)
                await sleep_while_open(node, TICK_SECONDS)

    async def _next_change(self, node: BrokerConnection, sent: int) -> None:
        while self._published <= sent:
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._changed.wait()
            require_open(node)
