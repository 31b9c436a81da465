"""A run killed with SIGKILL at random moments and started again reads each line once."""

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
from tests.pipeline.processes import next_line, start
from tests.pipeline.running import lines, put, rows, sums

pytestmark = pytest.mark.slow

FILES = 6
LINES = 150


@dataclass(frozen=True)
class Case:
    """The same logs, read into several directories of tables."""

    logs: list[Path]

    def start(self, tables: Path) -> subprocess.Popen[str]:
        settings = {"master": "local[2]", "tables": str(tables), "batch_files": 2}
        return start(json.dumps(settings), *self.logs)

    def finish(self, tables: Path) -> float:
        """Run to the end; return the seconds after Spark was up."""
        with self.start(tables) as process:
            assert next_line(process) == "ready"
            started = time.monotonic()
            assert next_line(process) == "done"
            return time.monotonic() - started

    def kill(self, tables: Path, after: float) -> bool:
        """Kill a run with SIGKILL; False if it ended before."""
        with self.start(tables) as process:
            assert next_line(process) == "ready"
            try:
                process.wait(timeout=after)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
            return process.wait(timeout=60) == -signal.SIGKILL


def is_complete(tables: Path) -> bool:
    """Whether all files are in the tables, so that another run has nothing to do."""
    return (tables / MARK).exists() and read_tables(LocalStore(tables)).counts.files == FILES


def all_of(tables: Path) -> list[Any]:
    """Everything in the tables except reading times."""
    others = [rows(tables, table, ["read_at"]) for table in ("rejects", "files")]
    return [sums(tables), *others, read_tables(LocalStore(tables)).counts]


@pytest.mark.timeout(3600)
def test_run_killed_repeatedly_writes_the_tables_of_an_undisturbed_run(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    rng = random.Random(7)
    names = [f"{number}.log{'.gz' * (number % 2)}" for number in range(FILES)]
    logs = [
        put(tmp_path / "logs" / name, lines(LINES, first=number * LINES) + "odd\n")
        for number, name in enumerate(names)
    ]
    case = Case(logs)
    seconds = case.finish(tmp_path / "undisturbed")
    undisturbed = all_of(tmp_path / "undisturbed")

    kills, numbers = request.config.getoption("--kills"), count()
    while kills > 0:
        tables = tmp_path / str(next(numbers))
        while kills > 0 and not is_complete(tables):
            kills -= case.kill(tables, rng.uniform(0, seconds))
        case.finish(tables)
        assert all_of(tables) == undisturbed
