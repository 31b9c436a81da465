"""ClusterSupervisor: starts, watches and stops the node processes of a cluster.

It chooses what all nodes must agree on (ids, ports, cluster id, secret). The cluster is ready when
the metadata cache of every node has all nodes.
"""

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from rollcall.broker.config import INTERNAL, REQUEST_LOG_NAME, ClusterConfig, NodeConfig
from rollcall.broker.data_directory import DataDirectory
from rollcall.broker.node import GRACE_SECONDS
from rollcall.broker.node_process import LOG_NAME, NodeProcess, NodeState
from rollcall.broker.ports import HTTP, Ports
from rollcall.errors import RollcallError

CONTROLLER_ID = 1
START_SECONDS = 30.0
START_SECONDS_PER_NODE = 2.0
"""Start timeout of the cluster: 30 s, and 2 s for each node."""


@dataclass(frozen=True)
class NodeDescription:
    """State and addresses of a node."""

    id: int
    pid: int | None
    rack: str | None
    listeners: dict[str, str]
    """Listener name to `host:port`; the first one has the dialect of released Kafka."""
    http: str
    request_log: Path
    state: NodeState
    starts: int
    last_exit: str | None
    """How the process ended the last time."""
    view: frozenset[int]
    """Ids of the brokers in its metadata cache."""


class ClusterSupervisor:
    """`async with ClusterSupervisor(config, directory) as cluster:` is a cluster that is ready."""

    def __init__(
        self,
        config: ClusterConfig,
        directory: Path,
        changed: Callable[[NodeDescription], None] = lambda _: None,
    ) -> None:
        self.config = config
        self.directory = directory
        self.cluster_id = ""
        self._report = changed
        self._secret = secrets.token_urlsafe(32)
        self._ports = Ports()
        self._data = DataDirectory(directory)
        self._processes = {
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
        return [self.describe(node_id) for node_id in self._processes]

    def describe(self, node_id: int) -> NodeDescription:
        process, ports = self._processes[node_id], self._ports.by_node[node_id]
        host = self.config.advertised_host or self.config.host
        host = f"[{host}]" if ":" in host else host
        return NodeDescription(
            id=node_id,
            pid=process.pid,
            rack=self.config.rack_of(node_id),
            listeners={
                listener.name: f"{host}:{ports[listener.name]}"
                for listener in self.config.listeners
            },
            http=f"http://{host}:{ports[HTTP]}",
            request_log=self._data.of_node(node_id) / REQUEST_LOG_NAME,
            state=process.state,
            starts=process.starts,
            last_exit=process.last_exit,
            view=process.view,
        )

    @property
    def ready(self) -> bool:
        all_nodes = frozenset(self._processes)
        return all(
            process.state is NodeState.UP and process.view == all_nodes
            for process in self._processes.values()
        )

    async def __aenter__(self) -> Self:
        try:
            self._data.lock()
            self.cluster_id = self._data.cluster_id(self.config.cluster_id)
            self._ports = Ports.reserve(self.config)
            self._tasks = [
                asyncio.create_task(process.run()) for process in self._processes.values()
            ]
            await self._wait_until_ready()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Stop all nodes; a node that does not stop in its grace period is killed."""
        processes = self._processes.values()
        await asyncio.gather(*(process.stop(GRACE_SECONDS + 1) for process in processes))
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._ports.release()
        self._data.release()

    async def wait(self) -> None:
        """Wait until the task of a node fails, which indicates a bug."""
        done, _ = await asyncio.wait(self._tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()

    async def _wait_until_ready(self) -> None:
        seconds = START_SECONDS + START_SECONDS_PER_NODE * self.config.brokers
        deadline = asyncio.get_running_loop().time() + seconds
        while not self.ready:
            for process in self._processes.values():
                if process.failure is not None:
                    raise process.failure
            if asyncio.get_running_loop().time() > deadline:
                raise self._start_timeout(seconds)
            self._wake.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._wake.wait()

    def _start_timeout(self, seconds: float) -> RollcallError:
        not_ready = [
            f"node {node_id} is {process.state} and has {len(process.view)} brokers"
            for node_id, process in self._processes.items()
            if process.view != frozenset(self._processes)
        ]
        return RollcallError(
            f"the cluster is not ready after {seconds:g} s: {'; '.join(not_ready)}",
            hint=f"see {LOG_NAME} in the directories of {self.directory}, kept with --data-dir",
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
                directory=self._data.of_node(node_id),
                controller_id=CONTROLLER_ID,
                controller_port=self._ports.by_node[CONTROLLER_ID][INTERNAL],
                starts=starts,
                secret=self._secret,
            )

        return configure
