"""Killed with -9 at random moments and started again: nothing is lost, nothing is doubled."""

import json
import random
import signal
import subprocess
import time
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from rollcall.tables.folder import MARK, read_tables
from rollcall.tables.stores import LocalStore
from tests.pipeline.processes import says, start
from tests.pipeline.running import lines, put, rows, sums

FILES = 6
LINES = 150


@dataclass(frozen=True)
class Case:
    """The same logs, read into one folder of tables after another."""

    logs: list[Path]

    def start(self, tables: Path) -> subprocess.Popen[str]:
        settings = {"master": "local[2]", "tables": str(tables), "batch_files": 2}
        return start(json.dumps(settings), *self.logs)

    def finish(self, tables: Path) -> float:
        """Let a run come to its end; how long it took when Spark was up."""
        with self.start(tables) as process:
            assert says(process) == "ready"
            began = time.monotonic()
            assert says(process) == "done"
            return time.monotonic() - began

    def kill(self, tables: Path, after: float) -> bool:
        """Kill a run with -9; False when it was through before."""
        with self.start(tables) as process:
            assert says(process) == "ready"
            try:
                process.wait(timeout=after)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
            return process.wait(timeout=60) == -signal.SIGKILL


def is_whole(tables: Path) -> bool:
    """Whether a run would find nothing to do; it is one with work that is to be killed."""
    return (tables / MARK).exists() and read_tables(LocalStore(tables)).counts.files == FILES


def all_of(tables: Path) -> list[Any]:
    """Everything in the tables but when it was read."""
    others = [rows(tables, table, ["read_at"]) for table in ("rejects", "files")]
    return [sums(tables), *others, read_tables(LocalStore(tables)).counts]


@pytest.mark.timeout(3600)
def test_a_run_killed_again_and_again_ends_with_the_tables_of_an_undisturbed_one(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    chance = random.Random(7)
    names = [f"{number}.log{'.gz' * (number % 2)}" for number in range(FILES)]
    logs = [
        put(tmp_path / "logs" / name, lines(LINES, first=number * LINES) + "odd\n")
        for number, name in enumerate(names)
    ]
    case = Case(logs)
    needed = case.finish(tmp_path / "undisturbed")
    undisturbed = all_of(tmp_path / "undisturbed")

    kills, folders = request.config.getoption("--kills"), count()
    while kills > 0:
        tables = tmp_path / str(next(folders))
        while kills > 0 and not is_whole(tables):
            kills -= case.kill(tables, chance.uniform(0, needed))
        case.finish(tables)
        assert all_of(tables) == undisturbed
