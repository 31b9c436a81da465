"""NodeProcess with test programs in place of a node: crashes, restarts, reports, stop."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count, pairwise
from pathlib import Path

import pytest

from rollcall.broker import node_process
from rollcall.broker.config import ClusterConfig, NodeConfig
from rollcall.broker.node_process import NodeProcess, NodeState
from tests.broker.running import PATIENCE, is_alive, wait_until

FAILED = {"failed": "the port is in use", "hint": "choose another"}
UP = {"open": True, "brokers": [1, 2]}


def program(*reports: object, then: str = "") -> str:
    """A program that prints these reports and then runs a statement."""
    lines = "".join(f"print({json.dumps(report)!r}, flush=True)\n" for report in reports)
    return f"import os, signal, sys, time\n{lines}{then}"


@asynccontextmanager
async def running_process(
    directory: Path, source: str, clock: Callable[[], float] = time.monotonic
) -> AsyncIterator[tuple[NodeProcess, list[float]]]:
    """The process of a program, and the times of its starts."""
    started: list[float] = []

    async def spawn(_: NodeConfig) -> asyncio.subprocess.Process:
        started.append(time.monotonic())
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            sys.executable, "-c", source, stdin=pipe, stdout=pipe
        )

    def configure(starts: int) -> NodeConfig:
        return NodeConfig(
            node_id=1,
            cluster=ClusterConfig(),
            cluster_id="a-cluster",
            ports={},
            http_port=0,
            directory=directory,
            controller_id=1,
            controller_port=0,
            starts=starts,
            secret="s",
        )

    process = NodeProcess(1, configure, lambda _: None, spawn=spawn, clock=clock)
    task = asyncio.create_task(process.run())
    try:
        yield process, started
    finally:
        await process.stop(2)
        await asyncio.wait_for(task, PATIENCE)


async def test_crashing_node_is_restarted_after_a_growing_pause(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(node_process, "FIRST_PAUSE", 0.05)
    async with running_process(tmp_path, program(then="os._exit(3)")) as (process, started):
        await wait_until(lambda: len(started) == 4)
        assert process.last_exit == "exit code 3"
    pauses = [later - earlier for earlier, later in pairwise(started)]
    assert pauses[0] > 0.05
    assert pauses[1] > 0.1
    assert pauses[2] > 0.2


async def test_node_that_ran_for_a_while_is_restarted_after_the_first_pause(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With doubled pauses, 14 starts would take more than 80 s."""
    monkeypatch.setattr(node_process, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(node_process, "LONGEST_PAUSE", 600)
    ticks = count(step=60)
    source = program(then="os._exit(0)")
    async with running_process(tmp_path, source, lambda: next(ticks)) as (_, started):
        await wait_until(lambda: len(started) == 14)


async def test_reports_of_a_node_set_its_state(tmp_path: Path) -> None:
    source = program(UP, then="sys.stdin.read()")
    async with running_process(tmp_path, source) as (process, _):
        await wait_until(lambda: process.state is NodeState.UP)
        assert process.view == {1, 2}
        assert process.pid is not None
        assert is_alive(process.pid)
    assert process.state is NodeState.STOPPED
    assert (process.pid, process.view) == (None, frozenset())


async def test_reported_failure_of_a_node_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(node_process, "FIRST_PAUSE", 600)
    async with running_process(tmp_path, program(FAILED)) as (process, _):
        await wait_until(lambda: process.last_exit)
        assert process.failure is not None
        assert process.last_exit == process.failure.message == "node 1: the port is in use"
        assert process.failure.hint == "choose another"


async def test_node_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    ignore = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    source = ignore + program(UP, then="time.sleep(600)")
    async with running_process(tmp_path, source) as (process, _):
        await wait_until(lambda: process.state is NodeState.UP)
        pid = process.pid
        assert pid is not None
        await process.stop(0.2)
        assert not is_alive(pid)
