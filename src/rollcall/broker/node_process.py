"""The keeper of one node: it starts the process, listens to it, and starts it again when it dies.

A node that lived for a while is started again at once; one that dies at once gets a pause, which
doubles each time.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO

from rollcall.broker.node_config import NodeConfig
from rollcall.errors import RollcallError

FIRST_PAUSE = 0.1
LONGEST_PAUSE = 10.0
LIVED_SECONDS = 10.0
"""Whoever lives as long did not die at once."""

LOG_NAME = "server.log"


class NodeState(StrEnum):
    STARTING = "starting"
    UP = "up"
    DOWN = "down"
    """It died, and will be started again."""
    ENDED = "ended"
    """It was told to."""


class NodeProcess:
    """One node, for as long as the cluster is meant to run."""

    def __init__(
        self, node_id: int, configure: Callable[[int], NodeConfig], changed: Callable[[int], None]
    ) -> None:
        self.node_id = node_id
        self.state = NodeState.DOWN
        self.pid: int | None = None
        self.starts = 0
        self.ended: str | None = None
        """How it ended the last time."""
        self.view: frozenset[int] = frozenset()
        """The brokers in its cache."""
        self.failure: RollcallError | None = None
        """Why the node says it cannot run."""
        self._configure = configure
        self._changed = changed
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = asyncio.Event()

    async def keep(self) -> None:
        """Until stopped."""
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            began = time.monotonic()
            await self._live()
            lived = time.monotonic() - began
            pause = FIRST_PAUSE if lived > LIVED_SECONDS else pause
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._stopping.wait()
            pause = min(pause * 2, LONGEST_PAUSE)

    async def stop(self, seconds: float) -> None:
        """End the process: with a signal, and by force when that takes too long."""
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

    async def _live(self) -> None:
        """One life of the process."""
        self.starts += 1
        self.failure = None
        config = self._configure(self.starts)
        process = self._process = await _spawn(config)
        self.pid = process.pid
        self._enter(NodeState.STARTING)
        try:
            await self._listen(process, config)
        finally:
            if process.returncode is None:  # this keeper was cancelled
                process.kill()
            code = await process.wait()
        self.pid, self.view = None, frozenset()
        self.ended = self._reason(code)
        self._enter(NodeState.ENDED if self._stopping.is_set() else NodeState.DOWN)

    async def _listen(self, process: asyncio.subprocess.Process, config: NodeConfig) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(config.pack())
        async for line in process.stdout:
            self._hear(json.loads(line))
        await process.wait()

    def _hear(self, news: dict[str, object]) -> None:
        if "failed" in news:
            hint = news["hint"]
            message = f"node {self.node_id}: {news['failed']}"
            self.failure = RollcallError(message, hint=str(hint) if hint else None)
            return
        brokers = news["brokers"]
        assert isinstance(brokers, list)
        self.view = frozenset(brokers)
        self._enter(NodeState.UP if news["open"] else NodeState.STARTING)

    def _reason(self, code: int) -> str:
        if self.failure is not None:
            return self.failure.message
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def _enter(self, state: NodeState) -> None:
        self.state = state
        self._changed(self.node_id)


async def _spawn(config: NodeConfig) -> asyncio.subprocess.Process:
    config.folder.mkdir(parents=True, exist_ok=True)
    with _log_file(config.folder) as log:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *("-P", "-m", "rollcall.broker.node_main"),
            f"node-{config.node_id}",  # for whoever looks at the list of processes
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for the supervisor, who then ends the nodes
        )


def _log_file(folder: Path) -> BinaryIO:
    return (folder / LOG_NAME).open("ab")
