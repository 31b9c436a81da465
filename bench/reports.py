"""The reports as commands, from start to the last line, on tables of a large cluster."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.report_tables import Size, make_report_tables
from bench.rows import Row

REPORTS = (("clients",), ("impact", "--target", "4.0.0"), ("restarts",), ("trouble",))
BAR_SECONDS = 1.0


def measure(*, rounds: int, size: Size = Size()) -> Iterator[Row]:  # noqa: B008 - it is frozen
    """Each report `rounds` times in turn; the first round, which warms the disk, is left out."""
    with tempfile.TemporaryDirectory() as folder:
        tables = make_report_tables(Path(folder) / "tables", size)
        taken: dict[str, list[float]] = {report[0]: [] for report in REPORTS}
        for _ in range(rounds + 1):
            for report in REPORTS:
                taken[report[0]].append(_seconds(report, tables))
    yield from (_row(name, seconds[1:], size) for name, seconds in taken.items())


def _seconds(report: tuple[str, ...], tables: Path) -> float:
    command = [str(Path(sys.executable).with_name("rollcall")), "report", *report]
    command += ["--tables", str(tables)]
    began = time.perf_counter()
    done = subprocess.run(
        command, stdout=subprocess.DEVNULL, check=False, env={**os.environ, "COLUMNS": "200"}
    )
    assert done.returncode in (0, 1, 3), done
    return time.perf_counter() - began


def _row(name: str, seconds: list[float], size: Size) -> Row:
    median = statistics.median(seconds)
    return Row(
        what=f"report {name}: {size.clients:,} clients, {size.brokers} brokers, {size.days} days",
        ours=median * 1000,
        peer="the bar",
        theirs=BAR_SECONDS * 1000,
        unit="ms",
        bar="at most 1 s",
        ratio=median / BAR_SECONDS,
        met=median <= BAR_SECONDS,
        spread=(max(seconds) - min(seconds)) / median,
    )
