"""`rollcall generate-logs`: request logs of a made-up fleet, of any size, on Spark."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from rollcall.cli.options.common import JsonOption
from rollcall.cli.options.spark import (
    DEFAULT_MASTER,
    STARTING,
    ConfOption,
    MasterOption,
    need_spark,
    session_config,
    spark_session,
)
from rollcall.cli.terminal.output import print_json, print_table
from rollcall.cli.terminal.progress import ProgressLine
from rollcall.cli.terminal.signals import stoppable
from rollcall.cli.terminal.text import count
from rollcall.errors import ConfigError
from rollcall.pipeline.jobs.job import local_store
from rollcall.pipeline.sources.paths import is_local

if TYPE_CHECKING:
    from rollcall.loggen import GeneratedLogs

UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
SMALL_LINES = 50_000


def generate_logs(
    output: Annotated[str, typer.Option(metavar="DIR", help="A new folder, of any file system.")],
    lines: Annotated[str, typer.Option(metavar="1M", help="How many lines: 5000, 250k, 1M, 2G.")],
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same logs.")] = 7,
    form: Annotated[
        str, typer.Option(metavar="A..J|mixed", help="The form of the request log.")
    ] = "mixed",
    brokers: Annotated[int, typer.Option(metavar="N", help="How many brokers.")] = 12,
    hours: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many hours; without it, as many as the lines need."),
    ] = None,
    start: Annotated[
        str, typer.Option(metavar="HOUR", help="The first hour, UTC.")
    ] = "2026-11-01T10",
    gzip: Annotated[bool, typer.Option("--gzip", help="Compress each file.")] = False,
    master: MasterOption = DEFAULT_MASTER,
    conf: ConfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write request logs of a synthetic fleet, and the expected counts as JSON.

    Libraries old and new, pinned ones, many owners, five clients that misbehave: to see what
    the pipeline makes of a gigabyte or a terabyte before trusting it with your own logs.

    Example: rollcall generate-logs --output logs --lines 1M --form J
    """
    need_spark()
    began = time.monotonic()
    from rollcall.loggen import GenerateSettings
    from rollcall.loggen import generate_logs as generate

    settings = GenerateSettings(
        lines=parse_count(lines),
        seed=seed,
        form=form,
        brokers=brokers,
        start=parse_hour(start),
        hours=hours,
    )
    config = session_config(master, conf or ())
    config = replace(config, small=settings.lines <= SMALL_LINES)
    place = local_store(output).address if is_local(output) else output
    with (
        stoppable(),
        ProgressLine(STARTING, quiet=as_json) as line,
        spark_session(config) as spark,
    ):

        def show(done: int, of: int) -> None:
            line.tell(f"{done:,} of {count(of, 'file')} written, {time.monotonic() - began:.0f} s")

        made = generate(spark, settings, place, gzip=gzip, progress=show)
    seconds = time.monotonic() - began
    if as_json:
        print_json({**made.as_json(), "seconds": round(seconds, 3)})
    else:
        _print(made, seconds)


def _print(made: GeneratedLogs, seconds: float) -> None:
    print_table(
        ("files", "lines", "bytes", "brokers", "clients", "seconds", "lines/s"),
        [
            (
                f"{made.files:,}",
                f"{made.lines:,}",
                f"{made.bytes:,}",
                made.brokers,
                made.clients,
                f"{seconds:.1f}",
                f"{made.lines / seconds:,.0f}",
            )
        ],
        right=("files", "lines", "bytes", "brokers", "clients", "seconds", "lines/s"),
    )
    print(f"expected counts: {made.expected}")


def parse_count(text: str) -> int:
    """`5000`, `250k`, `1M`, `2G`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)", text.strip().lower())
    if found is None:
        raise ConfigError(f"--lines is {text!r}", hint="use a number such as 5000, 250k or 1M")
    return round(float(found[1]) * UNITS[found[2]])


def parse_hour(text: str) -> datetime:
    """Without a zone, as brokers log."""
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H")  # noqa: DTZ007
    except ValueError:
        raise ConfigError(f"--start is {text!r}", hint="use a form such as 2026-11-01T10") from None
