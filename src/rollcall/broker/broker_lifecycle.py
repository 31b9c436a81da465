"""A node's membership: it registers with the controller, and then says that it is still there.

    connect -> register -> heartbeat, heartbeat, ... -> (the connection is lost) -> connect ...

Every connection begins with a registration: a controller that was restarted knows nobody, and one
that was not gives the same process the same epoch again.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from uuid import UUID, uuid4

from rollcall.broker.controller_channel import ask, rest
from rollcall.broker.handlers import NodeContext, broker_heartbeat, broker_registration
from rollcall.broker.metadata_cache import LiveBroker
from rollcall.client import ClientError, Connection
from rollcall.protocol.error_codes import Errors, error_code

HEARTBEAT_SECONDS = 0.5
GOODBYE_SECONDS = 0.5
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 0.5

_log = logging.getLogger(__name__)


@dataclass
class BrokerLifecycle:
    """Keeps one node on the controller's roster."""

    broker: LiveBroker
    facts: NodeContext
    link: Callable[[], AbstractAsyncContextManager[Connection]]
    incarnation: UUID = field(default_factory=uuid4)
    _open: Connection | None = None
    _leaving: bool = False
    _trouble: str = ""

    async def keep(self) -> None:
        """Until cancelled."""
        pause = FIRST_PAUSE
        while True:
            try:
                async with self.link() as controller:
                    self._open = controller
                    pause, self._trouble = FIRST_PAUSE, ""
                    await self._attend(controller)
            except ClientError as error:
                self._note(error.message)
            finally:
                self._open = None
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    def _note(self, failure: str) -> None:
        """Once, as the next try is only moments away."""
        if failure != self._trouble:
            _log.warning("no word with the controller: %s", failure)
        self._trouble = failure

    async def leave(self) -> None:
        """Say goodbye, so that the others need not find out by themselves."""
        self._leaving = True
        if self._open is None:
            return
        goodbye = broker_heartbeat.write(self.broker.id, self.facts.broker_epoch, leaving=True)
        try:
            async with asyncio.timeout(GOODBYE_SECONDS):
                await ask(self._open, broker_heartbeat.KEY, goodbye)
        except (ClientError, TimeoutError) as error:
            _log.info("the controller was not told that this node leaves: %s", error)

    async def _attend(self, controller: Connection) -> None:
        while not self._leaving:
            if await self._register(controller):
                await self._beat(controller)
            else:
                await rest(controller, HEARTBEAT_SECONDS / 5)

    async def _register(self, controller: Connection) -> bool:
        request = broker_registration.write(self.broker, self.facts.cluster_id, self.incarnation)
        answer = await ask(controller, broker_registration.KEY, request)
        if answer.error_code != Errors.NONE:
            _log.warning("the controller refuses: %s", error_code(answer.error_code).name)
            return False
        self.facts.broker_epoch = answer.broker_epoch
        _log.info("registered with epoch %d", answer.broker_epoch)
        return True

    async def _beat(self, controller: Connection) -> None:
        """Until the controller does not know this registration any more."""
        while True:
            await rest(controller, HEARTBEAT_SECONDS)
            beat = broker_heartbeat.write(self.broker.id, self.facts.broker_epoch)
            answer = await ask(controller, broker_heartbeat.KEY, beat)
            if answer.error_code != Errors.NONE:
                _log.warning("the controller forgot: %s", error_code(answer.error_code).name)
                return
