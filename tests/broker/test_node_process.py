"""The keeper with processes that are no nodes: they do at once what a node does at its worst."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from rollcall.broker import node_process as keepers
from rollcall.broker.config import ClusterConfig
from rollcall.broker.node_config import NodeConfig
from rollcall.broker.node_process import NodeProcess, NodeState
from tests.broker.running import is_alive, until

FAILED = {"failed": "the port is taken", "hint": "choose another"}
UP = {"open": True, "brokers": [1, 2]}


def says(*news: object, then: str = "") -> str:
    """A program that says this and then does that."""
    lines = "".join(f"print({json.dumps(line)!r}, flush=True)\n" for line in news)
    return f"import os, signal, sys, time\n{lines}{then}"


@asynccontextmanager
async def kept(
    monkeypatch: pytest.MonkeyPatch, folder: Path, program: str
) -> AsyncIterator[tuple[NodeProcess, list[float]]]:
    """A keeper of such a program, and when it was started."""
    starts: list[float] = []

    async def spawn(_: NodeConfig) -> asyncio.subprocess.Process:
        starts.append(time.monotonic())
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, stdin=pipe, stdout=pipe
        )

    def configure(starts: int) -> NodeConfig:
        return NodeConfig(
            node_id=1,
            cluster=ClusterConfig(),
            cluster_id="a-cluster",
            ports={},
            http_port=0,
            folder=folder,
            controller_id=1,
            controller_port=0,
            starts=starts,
            secret="s",
        )

    monkeypatch.setattr(keepers, "_spawn", spawn)
    keeper = NodeProcess(1, configure, lambda _: None)
    task = asyncio.create_task(keeper.keep())
    try:
        yield keeper, starts
    finally:
        await keeper.stop(2)
        await asyncio.wait_for(task, 5)


async def test_a_node_that_dies_at_once_is_started_again_after_a_growing_pause(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(keepers, "FIRST_PAUSE", 0.05)
    async with kept(monkeypatch, tmp_path, says(then="os._exit(3)")) as (keeper, starts):
        await until(lambda: len(starts) == 4)
        assert keeper.ended == "exit code 3"
    pauses = [later - earlier for earlier, later in pairwise(starts)]
    assert pauses[0] > 0.05
    assert pauses[1] > 0.1
    assert pauses[2] > 0.2


async def test_a_node_that_lived_for_a_while_is_started_again_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(keepers, "LIVED_SECONDS", 0.0)
    async with kept(monkeypatch, tmp_path, says(then="os._exit(0)")) as (_, starts):
        await until(lambda: len(starts) == 5)
    assert starts[4] - starts[3] < 1.0


async def test_what_a_node_says_is_its_state(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = says(UP, then="sys.stdin.read()")
    async with kept(monkeypatch, tmp_path, program) as (keeper, _):
        await until(lambda: keeper.state is NodeState.UP)
        assert keeper.view == {1, 2}
        assert keeper.pid is not None
        assert is_alive(keeper.pid)
    assert keeper.state is NodeState.ENDED
    assert (keeper.pid, keeper.view) == (None, frozenset())


async def test_why_a_node_failed_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(keepers, "FIRST_PAUSE", 30)
    async with kept(monkeypatch, tmp_path, says(FAILED)) as (keeper, _):
        await until(lambda: keeper.ended)
        assert keeper.failure is not None
        assert keeper.ended == keeper.failure.message == "node 1: the port is taken"
        assert keeper.failure.hint == "choose another"


async def test_a_node_that_ignores_the_signal_is_ended_by_force(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    program = f"import signal\n{deaf}" + says(UP, then="time.sleep(60)")
    async with kept(monkeypatch, tmp_path, program) as (keeper, _):
        await until(lambda: keeper.state is NodeState.UP)
        pid = keeper.pid
        assert pid is not None
        await keeper.stop(0.2)
        assert not is_alive(pid)
