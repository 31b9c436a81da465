"""NodeProcess: starts the process of one node, reads its state, restarts it after a crash.

After a run of at least 10 s the node is restarted at once. After a shorter run there is a pause,
which doubles each time.
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from enum import StrEnum

from rollcall.broker.config import NodeConfig
from rollcall.errors import RollcallError

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 10.0
STABLE_SECONDS = 10.0
"""A run of this length resets the pause."""

LOG_NAME = "server.log"

Spawn = Callable[[NodeConfig], Awaitable[asyncio.subprocess.Process]]


class NodeState(StrEnum):
    STARTING = "starting"
    UP = "up"
    DOWN = "down"
    """The process ended unexpectedly and will be restarted."""
    STOPPED = "stopped"


async def spawn_node(config: NodeConfig) -> asyncio.subprocess.Process:
    config.directory.mkdir(parents=True, exist_ok=True)
    with (config.directory / LOG_NAME).open("ab") as log:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *("-P", "-m", "rollcall.broker.node_main"),
            f"node-{config.node_id}",  # shown in the list of processes
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            start_new_session=True,  # Ctrl-C goes to the supervisor, which stops the nodes
        )


class NodeProcess:
    """One node process, restarted until `stop` is called."""

    def __init__(
        self,
        node_id: int,
        configure: Callable[[int], NodeConfig],
        changed: Callable[[int], None],
        *,
        spawn: Spawn = spawn_node,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.node_id = node_id
        self.state = NodeState.DOWN
        self.pid: int | None = None
        self.starts = 0
        self.last_exit: str | None = None
        """How the process ended the last time."""
        self.view: frozenset[int] = frozenset()
        """Ids of the brokers in its metadata cache."""
        self.failure: RollcallError | None = None
        """Error that the node reported before it ended."""
        self._configure = configure
        self._changed = changed
        self._spawn = spawn
        self._clock = clock
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Run and restart the process until `stop` is called."""
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            began = self._clock()
            await self._run_once()
            if self._clock() - began > STABLE_SECONDS:
                pause = FIRST_PAUSE
            await self._pause(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    async def stop(self, seconds: float) -> None:
        """Terminate the process; kill it if it does not end in time."""
        self._stopping.set()
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            async with asyncio.timeout(seconds):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    async def _run_once(self) -> None:
        self.starts += 1
        self.failure = None
        config = self._configure(self.starts)
        process = self._process = await self._spawn(config)
        self.pid = process.pid
        self._enter(NodeState.STARTING)
        try:
            await self._read_reports(process, config)
        finally:
            if process.returncode is None:  # this task was cancelled
                process.kill()
            code = await process.wait()
        self.pid, self.view = None, frozenset()
        self.last_exit = self._exit_reason(code)
        self._enter(NodeState.STOPPED if self._stopping.is_set() else NodeState.DOWN)

    async def _read_reports(self, process: asyncio.subprocess.Process, config: NodeConfig) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(config.pack())
        async for line in process.stdout:
            self._read_report(json.loads(line))
        await process.wait()

    def _read_report(self, report: dict[str, object]) -> None:
        if "failed" in report:
            hint = report["hint"]
            message = f"node {self.node_id}: {report['failed']}"
            self.failure = RollcallError(message, hint=str(hint) if hint else None)
            return
        brokers = report["brokers"]
        assert isinstance(brokers, list)
        self.view = frozenset(brokers)
        self._enter(NodeState.UP if report["open"] else NodeState.STARTING)

    def _exit_reason(self, code: int) -> str:
        if self.failure is not None:
            return self.failure.message
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def _enter(self, state: NodeState) -> None:
        self.state = state
        self._changed(self.node_id)
