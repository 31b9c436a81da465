"""AdminClient: a cluster to ask, through one connection per broker.

It begins with the addresses it was given, remembers the brokers that answers name, and goes on with
any of them. A connection that broke is opened again when it is next needed, with a pause that grows
with every failure; what the broker can do is asked anew each time (35.6).
"""

from __future__ import annotations

import asyncio
import random
from asyncio import FIRST_COMPLETED
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from rollcall.client.addresses import Address, parse_bootstrap
from rollcall.client.cluster import ClusterDescription, description_of
from rollcall.client.cluster_requests import ClusterResponses, query_cluster
from rollcall.client.config import ClientConfig
from rollcall.client.connection import Connection, open_connection
from rollcall.client.errors import (
    ClientError,
    ConnectionLostError,
    RequestTimeoutError,
    UnreachableError,
)
from rollcall.client.response_cache import ResponseCache

OTHERS_TRIED = 8
"""One after another: in a large cluster that is gone, trying all of them would take hours."""
HEAD_START = 0.25
"""Seconds before the next of those we began with is asked too: a mute one delays nobody."""


@dataclass(eq=False)
class _Line:
    """The way to one address."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    connection: Connection | None = None
    failures: int = 0
    not_before: float = 0.0


class AdminClient:
    def __init__(
        self, bootstrap: str | Iterable[str | Address], config: ClientConfig | None = None
    ) -> None:
        self.bootstrap = parse_bootstrap(bootstrap)
        self.config = config or ClientConfig()
        self._context = self.config.tls.context() if self.config.tls else None
        self._memory = ResponseCache()
        self._lines: dict[Address, _Line] = {}
        self._known: tuple[Address, ...] = ()
        self.failures: Mapping[Address, ClientError] = {}
        """Who could not tell of the cluster when it was last asked for, and why."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def describe_cluster(
        self, include_authorized_operations: bool = False, *, include_fenced: bool = False
    ) -> ClusterDescription:
        """The cluster as the first broker that answers sees it."""
        self.failures = failures = dict[Address, ClientError]()
        for number in range(self.config.rounds):
            if number:
                await asyncio.sleep(self._pause(number))
            ask = partial(
                self.query_broker, operations=include_authorized_operations, fenced=include_fenced
            )
            told = await self._first_answer(ask, failures)
            if told is not None:
                description = description_of(told)
                self._known = tuple(node.address for node in description.nodes)
                return description
            if not any(map(_may_pass, failures.values())):
                break
        raise _nobody(failures)

    async def _first_answer(
        self,
        ask: Callable[[Address], Coroutine[Any, Any, ClusterResponses]],
        failures: dict[Address, ClientError],
    ) -> ClusterResponses | None:
        """One more is asked whenever one has failed, or one we began with is late."""
        waiting, asked = deque(self._candidates()), dict[asyncio.Task[ClusterResponses], Address]()
        try:
            while waiting or asked:
                if waiting:
                    address = waiting.popleft()
                    asked[asyncio.create_task(ask(address))] = address
                patience = HEAD_START if waiting and waiting[0] in self.bootstrap else None
                done, _ = await asyncio.wait(asked, timeout=patience, return_when=FIRST_COMPLETED)
                for task in done:
                    try:
                        return task.result()
                    except ClientError as error:
                        failures[asked.pop(task)] = error
            return None
        finally:
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)

    async def query_broker(
        self, address: Address, *, operations: bool = False, fenced: bool = False
    ) -> ClusterResponses:
        """What the broker at this address tells about the cluster."""
        connection = await self.connection(address)
        try:
            return await query_cluster(connection, operations=operations, fenced=fenced)
        except ConnectionLostError:  # it may have been closed long ago, and we did not hear of it
            connection = await self.connection(address)
            return await query_cluster(connection, operations=operations, fenced=fenced)

    async def connection(self, address: Address) -> Connection:
        """The connection to this address: the one there is, or a new one."""
        line = self._lines.setdefault(address, _Line())
        async with line.lock:
            if line.connection is not None and line.connection.is_open:
                return line.connection
            line.connection = None
            loop = asyncio.get_running_loop()
            await asyncio.sleep(max(0.0, line.not_before - loop.time()))
            try:
                line.connection = await open_connection(
                    address, self.config, self._context, self._memory.decode
                )
            except BaseException:
                line.failures += 1
                line.not_before = loop.time() + self._pause(line.failures)
                raise
            line.failures, line.not_before = 0, 0.0
            return line.connection

    async def release(self, address: Address) -> None:
        """Close the connection to this address, if there is one."""
        line = self._lines.get(address)
        if line is not None and line.connection is not None:
            connection, line.connection = line.connection, None
            await connection.close()

    async def close(self) -> None:
        lines, self._lines = list(self._lines.values()), {}
        await asyncio.gather(*(line.connection.close() for line in lines if line.connection))

    def _candidates(self) -> list[Address]:
        """Those with an open connection first, then where we began, then some we heard of."""
        others = [address for address in self._known if address not in self.bootstrap]
        others.sort(key=lambda address: not self._is_open(address))
        everyone = [*self.bootstrap, *others[:OTHERS_TRIED]]
        return sorted(everyone, key=lambda address: not self._is_open(address))

    def _is_open(self, address: Address) -> bool:
        line = self._lines.get(address)
        return line is not None and line.connection is not None and line.connection.is_open

    def _pause(self, failures: int) -> float:
        pause: float = self.config.backoff * 2 ** min(failures - 1, 30)
        return min(pause, self.config.backoff_max) * random.uniform(0.8, 1.2)  # noqa: S311 - so that clients do not come together


def _may_pass(error: ClientError) -> bool:
    """Whether trying again can help: a broker that answered, or never does, has decided."""
    if isinstance(error, RequestTimeoutError):
        return False
    return isinstance(error, UnreachableError | ConnectionLostError)


def _nobody(failures: dict[Address, ClientError]) -> ClientError:
    if len(failures) == 1:
        return next(iter(failures.values()))
    reasons = "; ".join(error.message for error in failures.values())
    first = next(iter(failures.values()))
    return UnreachableError(f"no broker could be asked: {reasons}", hint=first.hint)
