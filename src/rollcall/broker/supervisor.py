"""The supervisor: a cluster of node processes, from the first to the last.

It decides once what all nodes must agree on (ids, ports, the cluster id, the secret) and leaves
each node to its keeper. The cluster is ready when every node's cache holds all nodes.
"""

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rollcall.broker.config import INTERNAL, ClusterConfig
from rollcall.broker.data_directory import DataDirectory
from rollcall.broker.node import GRACE_SECONDS
from rollcall.broker.node_config import REQUEST_LOG_NAME, NodeConfig
from rollcall.broker.node_process import LOG_NAME, NodeProcess, NodeState
from rollcall.broker.ports import HTTP, Ports
from rollcall.errors import RollcallError

CONTROLLER_ID = 1
START_SECONDS = 30.0
START_SECONDS_PER_NODE = 2.0


@dataclass(frozen=True)
class NodeDescription:
    """A node, as those outside need to know it."""

    id: int
    pid: int | None
    rack: str | None
    listeners: dict[str, str]
    """Name to `host:port`, the first for clients of today."""
    http: str
    request_log: Path
    state: NodeState
    starts: int
    ended: str | None
    view: frozenset[int]


class ClusterSupervisor:
    """`async with ClusterSupervisor(config, folder) as cluster:` is a cluster that is ready."""

    def __init__(
        self,
        config: ClusterConfig,
        folder: Path,
        changed: Callable[[NodeDescription], None] = lambda _: None,
    ) -> None:
        self.config = config
        self.folder = folder
        self.cluster_id = ""
        self._report = changed
        self._secret = secrets.token_urlsafe(32)
        self._ports = Ports()
        self._data = DataDirectory(folder)
        self._keepers = {
            node_id: NodeProcess(node_id, self._configure(node_id), self._changed)
            for node_id in range(1, config.brokers + 1)
        }
        self._tasks: list[asyncio.Task[None]] = []
        self._wake = asyncio.Event()

    @property
    def controller_id(self) -> int:
        return CONTROLLER_ID

    @property
    def nodes(self) -> list[NodeDescription]:
        return [self.describe(node_id) for node_id in self._keepers]

    def describe(self, node_id: int) -> NodeDescription:
        keeper, ports = self._keepers[node_id], self._ports.by_node[node_id]
        host = self.config.advertised_host or self.config.host
        host = f"[{host}]" if ":" in host else host
        return NodeDescription(
            id=node_id,
            pid=keeper.pid,
            rack=self.config.rack_of(node_id),
            listeners={plan.name: f"{host}:{ports[plan.name]}" for plan in self.config.listeners},
            http=f"http://{host}:{ports[HTTP]}",
            request_log=self._data.of_node(node_id) / REQUEST_LOG_NAME,
            state=keeper.state,
            starts=keeper.starts,
            ended=keeper.ended,
            view=keeper.view,
        )

    @property
    def ready(self) -> bool:
        everyone = frozenset(self._keepers)
        return all(
            keeper.state is NodeState.UP and keeper.view == everyone
            for keeper in self._keepers.values()
        )

    async def __aenter__(self) -> Self:
        try:
            self._data.take()
            self.cluster_id = self._data.cluster_id(self.config.cluster_id)
            self._ports = Ports.take(self.config)
            self._tasks = [asyncio.create_task(k.keep()) for k in self._keepers.values()]
            await self._until_ready()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """End all nodes; a node has its grace and a little more before it is ended by force."""
        keepers = self._keepers.values()
        await asyncio.gather(*(keeper.stop(GRACE_SECONDS + 1) for keeper in keepers))
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._ports.release()
        self._data.release()

    async def wait(self) -> None:
        """Until a keeper fails, which it never should."""
        done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()

    async def _until_ready(self) -> None:
        seconds = START_SECONDS + START_SECONDS_PER_NODE * self.config.brokers
        deadline = asyncio.get_running_loop().time() + seconds
        while not self.ready:
            failures = [k.failure for k in self._keepers.values() if k.failure is not None]
            if failures:
                raise failures[0]
            if asyncio.get_running_loop().time() > deadline:
                raise self._too_late(seconds)
            self._wake.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._wake.wait()

    def _too_late(self, seconds: float) -> RollcallError:
        missing = [
            f"node {node_id} is {keeper.state} and knows {len(keeper.view)}"
            for node_id, keeper in self._keepers.items()
            if keeper.view != frozenset(self._keepers)
        ]
        return RollcallError(
            f"the cluster is not ready after {seconds:g} s: {'; '.join(missing)}",
            hint=f"see {LOG_NAME} in the folders of {self.folder}, kept with --data-dir",
        )

    def _changed(self, node_id: int) -> None:
        self._wake.set()
        self._report(self.describe(node_id))

    def _configure(self, node_id: int) -> Callable[[int], NodeConfig]:
        def configure(starts: int) -> NodeConfig:
            ports = self._ports.by_node[node_id]
            return NodeConfig(
                node_id=node_id,
                cluster=self.config,
                cluster_id=self.cluster_id,
                ports=ports,
                http_port=ports[HTTP],
                folder=self._data.of_node(node_id),
                controller_id=CONTROLLER_ID,
                controller_port=self._ports.by_node[CONTROLLER_ID][INTERNAL],
                starts=starts,
                secret=self._secret,
            )

        return configure
