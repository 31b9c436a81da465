"""Time of the report commands, from start to exit, on the tables of a large cluster."""

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
    """Every report in every output format, compared with `rollcall --version`.

    The first round warms the disk cache and writes bytecode; it does not count."""
    with tempfile.TemporaryDirectory() as directory:
        tables = make_report_tables(Path(directory) / "tables", size)
        page = str(Path(directory) / "page.html")
        forms: dict[str, list[str]] = {"text": [], "JSON": ["--json"], "page": ["--html", page]}
        calls: dict[str, list[str]] = {START: ["--version"]}
        for name, *more in REPORTS:
            for form, options in forms.items():
                call = ["report", name, *more, "--tables", str(tables), *options]
                calls[f"report {name}, {form}"] = call
        taken: dict[str, list[float]] = {what: [] for what in calls}
        as_installed = _with_bytecode(Path(directory))
        for _ in range(rounds + 1):
            for what, call in calls.items():
                taken[what].append(_milliseconds(call, as_installed))
    times = {what: timing(samples[1:]) for what, samples in taken.items()}
    start = times.pop(START)
    of = f"{size.clients:,} clients, {size.brokers} brokers, {size.days} days"
    for what, ours in times.items():
        yield below(f"{what}: {of}", START, ours, start, BAR_MS, "ms")


def _with_bytecode(directory: Path) -> dict[str, str]:
    """An environment in which Python stores bytecode, as in an installed package."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "PYTHONPYCACHEPREFIX": str(directory / "bytecode")}


def _milliseconds(call: list[str], environment: dict[str, str]) -> float:
    command = [str(Path(sys.executable).with_name("rollcall")), *call]
    start = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False, env=environment)
    elapsed = (time.perf_counter() - start) * 1000
    assert done.returncode in (0, 1, 3), done
    return elapsed
