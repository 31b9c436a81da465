"""Lifecycle of a node at the controller: register, send heartbeats, shut down.

    connect -> register -> heartbeat, heartbeat, ... -> (connection lost) -> connect ...

Every connection begins with a registration: a restarted controller has no registrations, and one
that was not restarted returns the same epoch to the same process.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from rollcall.broker.controller_channel import send_request, sleep_while_open
from rollcall.broker.handlers import NodeContext, broker_heartbeat, broker_registration
from rollcall.broker.metadata_cache import LiveBroker
from rollcall.client import BrokerConnection, ClientError
from rollcall.protocol import Errors, error_code

HEARTBEAT_SECONDS = 0.5
REGISTRATION_RETRY_SECONDS = 0.1
SHUT_DOWN_TIMEOUT_SECONDS = 0.5
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 0.5

_log = logging.getLogger(__name__)


@dataclass
class BrokerLifecycle:
    """Keeps one node registered; `connect` opens a channel to the controller."""

    broker: LiveBroker
    node: NodeContext
    connect: Callable[[], AbstractAsyncContextManager[BrokerConnection]]
    incarnation: UUID = field(default_factory=uuid4)
    _controller: BrokerConnection | None = None
    _shutting_down: bool = False
    _last_error: str = ""

    async def run(self) -> None:
        """Stay registered until cancelled."""
        pause = FIRST_PAUSE
        while True:
            try:
                async with self.connect() as controller:
                    self._controller = controller
                    pause, self._last_error = FIRST_PAUSE, ""
                    await self._stay_registered(controller)
            except ClientError as error:
                self._log_once(error.message)
            finally:
                self._controller = None
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    def _log_once(self, error: str) -> None:
        """Log an error once, as the next attempt follows within 0.5 s."""
        if error != self._last_error:
            _log.warning("node %d: no connection to the controller: %s", self.broker.id, error)
        self._last_error = error

    async def shut_down(self) -> None:
        """Unregister, so that the other nodes do not wait for the session to expire."""
        self._shutting_down = True
        if self._controller is None:
            return
        request = broker_heartbeat.build_request(
            self.broker.id, self.node.broker_epoch, shut_down=True
        )
        try:
            async with asyncio.timeout(SHUT_DOWN_TIMEOUT_SECONDS):
                await send_request(self._controller, broker_heartbeat.KEY, request)
        except (ClientError, TimeoutError) as error:
            _log.info("node %d: could not unregister: %s", self.broker.id, error)

    async def _stay_registered(self, controller: BrokerConnection) -> None:
        while not self._shutting_down:
            if await self._register(controller):
                await self._send_heartbeats(controller)
            else:
                await sleep_while_open(controller, REGISTRATION_RETRY_SECONDS)

    async def _register(self, controller: BrokerConnection) -> bool:
        request = broker_registration.build_request(
            self.broker, self.node.cluster_id, self.incarnation
        )
        response = await send_request(controller, broker_registration.KEY, request)
        if response.error_code != Errors.NONE:
            error = error_code(response.error_code).name
            _log.warning("node %d: registration rejected: %s", self.broker.id, error)
            return False
        self.node.broker_epoch = response.broker_epoch
        _log.info("node %d: registered with epoch %d", self.broker.id, response.broker_epoch)
        return True

    async def _send_heartbeats(self, controller: BrokerConnection) -> None:
        """Until the controller rejects one, as it no longer has this registration."""
        while True:
            await sleep_while_open(controller, HEARTBEAT_SECONDS)
            request = broker_heartbeat.build_request(self.broker.id, self.node.broker_epoch)
            response = await send_request(controller, broker_heartbeat.KEY, request)
            if response.error_code != Errors.NONE:
                error = error_code(response.error_code).name
                _log.warning("node %d: heartbeat rejected: %s", self.broker.id, error)
                return
