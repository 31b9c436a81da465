"""AdminClient: queries a cluster through one connection per broker.

It starts with the bootstrap addresses and remembers the brokers that responses list. A broken
connection is opened again when it is next needed, after a pause that grows with every failure.
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
from rollcall.client.connection import BrokerConnection, open_connection
from rollcall.client.errors import ClientError, ConnectionLostError, UnreachableError
from rollcall.client.response_cache import ResponseCache

MAX_LEARNED_ADDRESSES = 8
"""Addresses outside the bootstrap list that are tried: all of a large cluster would take hours."""
HEAD_START = 0.25
"""Seconds before the next bootstrap address is tried in parallel with one that does not respond."""


@dataclass(eq=False)
class _Peer:
    """Connection to one address, and when the next attempt is due."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    connection: BrokerConnection | None = None
    failures: int = 0
    not_before: float = 0.0

    @property
    def is_open(self) -> bool:
        return self.connection is not None and self.connection.is_open


class AdminClient:
    def __init__(
        self, bootstrap: str | Iterable[str | Address], config: ClientConfig | None = None
    ) -> None:
        self.bootstrap = parse_bootstrap(bootstrap)
        self.config = config or ClientConfig()
        self._context = self.config.tls.context() if self.config.tls else None
        self._response_cache = ResponseCache()
        self._peers: dict[Address, _Peer] = {}
        self._learned: tuple[Address, ...] = ()
        self.failures: Mapping[Address, ClientError] = {}
        """Addresses that failed during the last `describe_cluster`."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def describe_cluster(
        self, include_authorized_operations: bool = False, *, include_fenced: bool = False
    ) -> ClusterDescription:
        """The cluster as described by the first broker that responds."""
        self.failures = failures = dict[Address, ClientError]()
        query = partial(
            self.query_broker, operations=include_authorized_operations, fenced=include_fenced
        )
        for attempt in range(self.config.rounds):
            if attempt:
                await asyncio.sleep(self._pause(attempt))
            responses = await self._first_success(query, failures)
            if responses is not None:
                description = description_of(responses)
                self._learned = tuple(node.address for node in description.nodes)
                return description
            if not any(map(_is_retriable, failures.values())):
                break
        raise _no_broker_error(failures)

    async def _first_success(
        self,
        query: Callable[[Address], Coroutine[Any, Any, ClusterResponses]],
        failures: dict[Address, ClientError],
    ) -> ClusterResponses | None:
        """Try the next address when one has failed, or when a bootstrap address is slow."""
        waiting = deque(self._candidates())
        tasks = dict[asyncio.Task[ClusterResponses], Address]()
        try:
            while waiting or tasks:
                if waiting:
                    address = waiting.popleft()
                    tasks[asyncio.create_task(query(address))] = address
                timeout = HEAD_START if waiting and waiting[0] in self.bootstrap else None
                done, _ = await asyncio.wait(tasks, timeout=timeout, return_when=FIRST_COMPLETED)
                for task in done:
                    try:
                        return task.result()
                    except ClientError as error:
                        failures[tasks.pop(task)] = error
            return None
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def query_broker(
        self, address: Address, *, operations: bool = False, fenced: bool = False
    ) -> ClusterResponses:
        """Query the broker at this address about itself and the cluster."""
        connection = await self.connection(address)
        try:
            return await query_cluster(connection, operations=operations, fenced=fenced)
        except ConnectionLostError:  # an idle connection may have been closed unnoticed
            connection = await self.connection(address)
            return await query_cluster(connection, operations=operations, fenced=fenced)

    async def connection(self, address: Address) -> BrokerConnection:
        """The open connection to this address, or a new one."""
        peer = self._peers.setdefault(address, _Peer())
        async with peer.lock:
            if peer.connection is not None and peer.is_open:
                return peer.connection
            peer.connection = None
            loop = asyncio.get_running_loop()
            await asyncio.sleep(max(0.0, peer.not_before - loop.time()))
            try:
                peer.connection = await open_connection(
                    address, self.config, self._context, self._response_cache.decode
                )
            except BaseException:
                peer.failures += 1
                peer.not_before = loop.time() + self._pause(peer.failures)
                raise
            peer.failures, peer.not_before = 0, 0.0
            return peer.connection

    async def release(self, address: Address) -> None:
        """Close the connection to this address, if there is one."""
        peer = self._peers.get(address)
        if peer is not None and peer.connection is not None:
            connection, peer.connection = peer.connection, None
            await connection.close()

    async def close(self) -> None:
        peers, self._peers = list(self._peers.values()), {}
        await asyncio.gather(*(peer.connection.close() for peer in peers if peer.connection))

    def _candidates(self) -> list[Address]:
        """Addresses to try: open connections first, then bootstrap, then learned ones."""
        learned = [address for address in self._learned if address not in self.bootstrap]
        learned.sort(key=self._is_not_open)
        return sorted([*self.bootstrap, *learned[:MAX_LEARNED_ADDRESSES]], key=self._is_not_open)

    def _is_not_open(self, address: Address) -> bool:
        return address not in self._peers or not self._peers[address].is_open

    def _pause(self, failures: int) -> float:
        pause: float = self.config.backoff * 2 ** min(failures - 1, 30)
        jitter = random.uniform(0.8, 1.2)  # noqa: S311 - so that clients do not retry together
        return min(pause, self.config.backoff_max) * jitter


def _is_retriable(error: ClientError) -> bool:
    """Whether another attempt can help: not after a response or a timeout."""
    return isinstance(error, UnreachableError | ConnectionLostError)


def _no_broker_error(failures: dict[Address, ClientError]) -> ClientError:
    first = next(iter(failures.values()))
    if len(failures) == 1:
        return first
    reasons = "; ".join(error.message for error in failures.values())
    return UnreachableError(f"no broker could be queried: {reasons}", hint=first.hint)
