"""Network processor: the connections of one event loop, their numbers and their deadlines.

Connections have no timers. The processor compares all deadlines with the clock four times a second.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from rollcall.server.refusals import Refusals

if TYPE_CHECKING:
    from rollcall.server.transport import Transport

SWEEP_SECONDS: Final = 0.25
MAX_INDEX: Final = 0x7FFFFFFF


class Processor:
    def __init__(self, number: int, refusals: Refusals) -> None:
        self.number = number
        self.loop = asyncio.get_running_loop()
        self.transports: set[Transport] = set()
        self._refusals = refusals
        self._next_index = 0
        self._sweeper = self.loop.call_later(SWEEP_SECONDS, self._sweep)
        self._emptied: asyncio.Event | None = None

    def next_index(self) -> int:
        """Number of a new connection, part of its connection id."""
        index = self._next_index
        self._next_index = (index + 1) & MAX_INDEX
        return index

    def discard(self, transport: Transport) -> None:
        self.transports.discard(transport)
        if self._emptied is not None and not self.transports:
            self._emptied.set()

    def _sweep(self) -> None:
        now = self.loop.time()
        for transport in [t for t in self.transports if t.deadline < now]:
            transport.expire()
        self._refusals.sweep(now)
        self._sweeper = self.loop.call_later(SWEEP_SECONDS, self._sweep)

    async def stop(self, grace_seconds: float) -> None:
        """Let requests in progress complete, then abort the remaining connections."""
        self._emptied = asyncio.Event()
        for transport in list(self.transports):
            transport.handler.finish()
        try:
            if self.transports:
                async with asyncio.timeout(grace_seconds):
                    await self._emptied.wait()
        except TimeoutError:
            for transport in list(self.transports):
                transport.abort()
            await self._emptied.wait()
        self._sweeper.cancel()
        self._refusals.flush()
