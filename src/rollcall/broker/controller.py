"""The controller: it keeps the roster, and feeds every node on it with UpdateMetadata (KIP-536).

One task per registration holds a connection to that node and sends it the view, in the highest
version it has, whenever the roster has changed. That connection also tells first when a node dies:
if nobody listens there any more, the node is taken off at once, without waiting for its session to
end. A node that hangs keeps its connections; its missing heartbeats give it away.

A controller that has just started knows nobody. It says nothing until all nodes have registered or
a session has passed, as its first words would wipe the living from everyone's view.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field

from rollcall.broker.config import INTERNAL
from rollcall.broker.controller_channel import ask, require_open, rest
from rollcall.broker.handlers import broker_heartbeat, broker_registration
from rollcall.broker.handlers import update_metadata as update
from rollcall.broker.metadata_cache import Endpoint
from rollcall.broker.registrations import Registration, Registrations
from rollcall.client import ClientError, Connection, ConnectionRefusedByBrokerError
from rollcall.protocol.error_codes import Errors, error_code
from rollcall.protocol.messages import Message
from rollcall.server import Handler, RequestContext

TICK_SECONDS = 0.1

_log = logging.getLogger(__name__)


@dataclass
class Controller:
    """Registrations and feeds. `link` connects to an internal listener."""

    roster: Registrations
    link: Callable[[Endpoint], AbstractAsyncContextManager[Connection]]
    expected: int
    """How many nodes the cluster has."""
    clock: Callable[[], float] = time.monotonic
    _feeds: dict[int, asyncio.Task[None]] = field(default_factory=dict)
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _told: int = -1
    """The change of the roster that the feeds may tell; -1 while they are to say nothing."""

    def handlers(self) -> dict[int, Handler]:
        def register(context: RequestContext) -> Message:
            return broker_registration.answer(context.body, self.roster, self.clock())

        def heartbeat(context: RequestContext) -> Message:
            return broker_heartbeat.answer(context.body, self.roster, self.clock())

        return {broker_registration.KEY: register, broker_heartbeat.KEY: heartbeat}

    async def run(self) -> None:
        """Until cancelled."""
        silent_until = self.clock() + self.roster.session_seconds
        try:
            while True:
                self._remove_silent()
                self._match_feeds()
                settled = len(self.roster.registered) >= self.expected
                if settled or self._told >= 0 or self.clock() >= silent_until:
                    self._tell()
                await asyncio.sleep(TICK_SECONDS)
        finally:
            for feed in self._feeds.values():
                feed.cancel()

    def _remove_silent(self) -> None:
        silent = self.roster.silent(self.clock())
        for registration in silent:
            _log.warning("node %d has not been heard, it is off", registration.broker.id)
        self.roster.remove(silent)

    def _match_feeds(self) -> None:
        """One feed for every registration there is now, and none for those of the past."""
        registered = {known.epoch: known for known in self.roster.registered}
        for epoch in self._feeds.keys() - registered.keys():
            self._feeds.pop(epoch).cancel()
        for feed in self._feeds.values():
            if feed.done():
                feed.result()  # a feed ends with its registration, or by a fault of ours
        for epoch in registered.keys() - self._feeds.keys():
            self._feeds[epoch] = asyncio.create_task(self._feed(registered[epoch]))

    def _tell(self) -> None:
        if self._told != self.roster.change:
            self._told = self.roster.change
            self._news.set()
            self._news = asyncio.Event()

    async def _feed(self, registration: Registration) -> None:
        broker = registration.broker
        endpoint = broker.endpoint(INTERNAL)
        while endpoint is not None:
            try:
                async with self.link(endpoint) as node:
                    await self._send_changes(node, registration)
            except ConnectionRefusedByBrokerError:
                _log.warning("nobody listens for node %d any more, it is off", broker.id)
                self.roster.remove([registration])
                return
            except ClientError as error:
                _log.info("no word with node %d: %s", broker.id, error)
            await asyncio.sleep(TICK_SECONDS)

    async def _send_changes(self, node: Connection, registration: Registration) -> None:
        sent = -1
        while True:
            await self._next_change(node, sent)
            telling = self._told
            request = update.write(self.roster.view, registration.epoch)
            answer = await ask(node, update.KEY, request)
            if answer.error_code == Errors.NONE:
                sent = telling
            else:
                name = error_code(answer.error_code).name
                _log.warning("node %d refuses the view: %s", registration.broker.id, name)
                await rest(node, TICK_SECONDS)

    async def _next_change(self, node: Connection, sent: int) -> None:
        while self._told <= sent:
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._news.wait()
            require_open(node)
