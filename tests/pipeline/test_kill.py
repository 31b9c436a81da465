"""Killed with -9 at random moments and started again: nothing is lost, nothing is doubled."""

import json
import random
import signal
import time
from pathlib import Path

import pytest

from rollcall.tables.folder import read_tables
from rollcall.tables.stores import LocalStore
from tests.pipeline.processes import says, start
from tests.pipeline.running import lines, put, rows, sums

FILES = 6
LINES = 150


@pytest.mark.timeout(3600)
def test_a_run_killed_again_and_again_ends_with_the_tables_of_an_undisturbed_one(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    chance = random.Random(7)
    logs = [
        put(tmp_path / "logs" / name, lines(LINES, first=number * LINES) + "odd\n")
        for number, name in enumerate(f"{n}.log{'.gz' * (n % 2)}" for n in range(FILES))
    ]

    def settings(name: str) -> str:
        return json.dumps({"master": "local[2]", "tables": str(tmp_path / name), "batch_files": 2})

    began = time.monotonic()
    with start(settings("undisturbed"), *logs) as process:
        assert says(process) == "ready"
        began = time.monotonic()
        assert says(process) == "done"
        needed = time.monotonic() - began
        process.wait(timeout=120)

    cut_short = 0
    for _ in range(request.config.getoption("--kills")):
        with start(settings("killed"), *logs) as process:
            assert says(process) == "ready"
            time.sleep(chance.uniform(0, needed))
            process.send_signal(signal.SIGKILL)
            cut_short += process.wait(timeout=60) == -signal.SIGKILL
    with start(settings("killed"), *logs) as process:
        assert (says(process), says(process)) == ("ready", "done")

    assert cut_short > 0
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    assert sums(killed) == sums(undisturbed)
    assert rows(killed, "rejects") == rows(undisturbed, "rejects")
    assert rows(killed, "files", ["read_at"]) == rows(undisturbed, "files", ["read_at"])
    counts = [read_tables(LocalStore(tables)).counts for tables in (killed, undisturbed)]
    assert counts[0] == counts[1]
