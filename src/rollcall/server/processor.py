"""A network processor: the connections of one event loop, numbered, and who watches their clocks.

Connections have no timers of their own. Each has one moment at which its patience ends, and the
sweeper looks at all of them a few times a second.
"""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, Final

from rollcall.server.refusals import Refusals

if TYPE_CHECKING:
    from rollcall.server.transport import Link

SWEEP_SECONDS: Final = 0.25
MAX_INDEX: Final = 0x7FFFFFFF
NEVER: Final = math.inf


class Processor:
    def __init__(self, number: int, refusals: Refusals) -> None:
        self.number = number
        self.loop = asyncio.get_running_loop()
        self.connections: set[Link] = set()
        self._refusals = refusals
        self._next_index = 0
        self._sweeper = self.loop.call_later(SWEEP_SECONDS, self._sweep)
        self._emptied: asyncio.Event | None = None

    def next_index(self) -> int:
        index = self._next_index
        self._next_index = (index + 1) & MAX_INDEX
        return index

    def discard(self, connection: Link) -> None:
        self.connections.discard(connection)
        if self._emptied is not None and not self.connections:
            self._emptied.set()

    def _sweep(self) -> None:
        now = self.loop.time()
        for connection in [c for c in self.connections if c.deadline < now]:
            connection.expire()
        self._refusals.sweep(now)
        self._sweeper = self.loop.call_later(SWEEP_SECONDS, self._sweep)

    async def stop(self, grace_seconds: float) -> None:
        """Let requests in work be answered, then cut what is left."""
        self._emptied = asyncio.Event()
        for connection in list(self.connections):
            connection.finish()
        try:
            if self.connections:
                async with asyncio.timeout(grace_seconds):
                    await self._emptied.wait()
        except TimeoutError:
            for connection in list(self.connections):
                connection.abort()
            await self._emptied.wait()
        self._sweeper.cancel()
        self._refusals.flush()
