"""The reports as commands, from start to the last line, on tables of a large cluster."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.report_tables import Size, make_report_tables
from bench.rows import Row, below, timing

REPORTS = (("clients",), ("impact", "--target", "4.0.0"), ("restarts",), ("problems",))
BAR_MS = 1000
START = "its own start"


def measure(*, rounds: int, size: Size = Size()) -> Iterator[Row]:  # noqa: B008 - it is frozen
    """Every report in every form once a round, and beside them a command that does nothing; the
    first round, which warms the disk and leaves bytecode, is left out."""
    with tempfile.TemporaryDirectory() as folder:
        tables = make_report_tables(Path(folder) / "tables", size)
        page = str(Path(folder) / "page.html")
        forms: dict[str, list[str]] = {"text": [], "JSON": ["--json"], "page": ["--html", page]}
        calls: dict[str, list[str]] = {START: ["--version"]}
        for name, *more in REPORTS:
            for form, options in forms.items():
                call = ["report", name, *more, "--tables", str(tables), *options]
                calls[f"report {name}, {form}"] = call
        taken: dict[str, list[float]] = {what: [] for what in calls}
        as_installed = _with_bytecode(Path(folder))
        for _ in range(rounds + 1):
            for what, call in calls.items():
                taken[what].append(_milliseconds(call, as_installed))
    times = {what: timing(samples[1:]) for what, samples in taken.items()}
    start = times.pop(START)
    of = f"{size.clients:,} clients, {size.brokers} brokers, {size.days} days"
    for what, ours in times.items():
        yield below(f"{what}: {of}", START, ours, start, BAR_MS, "ms")


def _with_bytecode(folder: Path) -> dict[str, str]:
    """An installation has its bytecode from the start; a source tree may never get any."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}


def _milliseconds(call: list[str], environment: dict[str, str]) -> float:
    command = [str(Path(sys.executable).with_name("rollcall")), *call]
    began = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False, env=environment)
    taken = (time.perf_counter() - began) * 1000
    assert done.returncode in (0, 1, 3), done
    return taken
