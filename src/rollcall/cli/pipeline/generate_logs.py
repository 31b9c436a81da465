"""`rollcall generate-logs`: write the logs of a synthetic fleet on Spark."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from rollcall.cli.options.spark import STARTING, session_config, spark_session
from rollcall.cli.terminal.output import print_json, print_lines, print_table
from rollcall.cli.terminal.progress import ProgressLine
from rollcall.cli.terminal.signals import terminable
from rollcall.cli.terminal.text import count
from rollcall.loggen import GeneratedLogs, GenerateSettings, generate_logs
from rollcall.pipeline.jobs.job import local_store
from rollcall.pipeline.sources.paths import is_local

SMALL_LINES = 50_000


def write_logs(
    settings: GenerateSettings,
    output: str,
    *,
    gzip: bool,
    master: str,
    conf: Sequence[str],
    as_json: bool,
) -> None:
    start = time.monotonic()
    config = replace(session_config(master, conf), small=settings.lines <= SMALL_LINES)
    directory = local_store(output).address if is_local(output) else output
    with (
        terminable(),
        ProgressLine(STARTING, quiet=as_json) as line,
        spark_session(config) as spark,
    ):

        def show(done: int, total: int) -> None:
            seconds = time.monotonic() - start
            line.update(f"{done:,} of {count(total, 'file')} written, {seconds:.0f} s")

        generated = generate_logs(spark, settings, directory, gzip=gzip, progress=show)
    seconds = time.monotonic() - start
    if as_json:
        print_json({**generated.as_json(), "seconds": round(seconds, 3)})
    else:
        _print(generated, seconds)


def _print(generated: GeneratedLogs, seconds: float) -> None:
    columns = ("files", "lines", "bytes", "brokers", "clients", "seconds", "lines/s")
    cells = (
        f"{generated.files:,}",
        f"{generated.lines:,}",
        f"{generated.bytes:,}",
        generated.brokers,
        generated.clients,
        f"{seconds:.1f}",
        f"{generated.lines / seconds:,.0f}",
    )
    print_table(columns, [cells], right=columns)
    print_lines([f"expected counts: {generated.expected}"])
