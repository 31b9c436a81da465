"""`rollcall pipeline run`, `brokers` and `compact`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rollcall.cli.options.spark import STARTING, parse_seconds, session_config, spark_session
from rollcall.cli.pipeline.view import (
    print_compacted,
    print_result,
    print_roll_calls,
    progress_text,
    result_json,
    roll_calls_json,
)
from rollcall.cli.terminal.output import print_json
from rollcall.cli.terminal.progress import ProgressLine
from rollcall.cli.terminal.signals import terminable
from rollcall.pipeline.aggregates import ROLL_CALLS
from rollcall.pipeline.jobs.compaction import compact
from rollcall.pipeline.jobs.job import is_small, open_job, store_at
from rollcall.pipeline.jobs.run import run
from rollcall.tables.cleaning import clean
from rollcall.tables.folder import check_mark
from rollcall.tables.writers import open_writer

if TYPE_CHECKING:
    from rollcall.pipeline.aggregates import RecordType
    from rollcall.pipeline.jobs.run import RunResult

COMPACTING = "compacting the tables"


def read_request_logs(
    logs: Sequence[str],
    tables: str,
    record_type: RecordType,
    settings: Mapping[str, Any],
    *,
    master: str,
    conf: Sequence[str],
    as_json: bool,
) -> None:
    """`settings` are fields of the Job: cluster, broker, allow_rejects."""
    start = time.monotonic()
    command = f"rollcall pipeline run {' '.join(logs)}"
    result = _read(
        logs, tables, command, record_type, settings, master=master, conf=conf, quiet=as_json
    )
    seconds = time.monotonic() - start
    if as_json:
        print_json(result_json(result, seconds))
    else:
        print_result(result, seconds)


def read_roll_calls(
    files: Sequence[str],
    tables: str,
    cluster: str | None,
    *,
    master: str,
    conf: Sequence[str],
    as_json: bool,
) -> None:
    start = time.monotonic()
    command, settings = "rollcall pipeline brokers", {"cluster": cluster}
    result = _read(
        files, tables, command, ROLL_CALLS, settings, master=master, conf=conf, quiet=as_json
    )
    seconds = time.monotonic() - start
    if as_json:
        print_json(roll_calls_json(result, seconds))
    else:
        print_roll_calls(result, seconds)


def _read(
    sources: Sequence[str],
    tables: str,
    command: str,
    record_type: RecordType,
    settings: Mapping[str, Any],
    *,
    master: str,
    conf: Sequence[str],
    quiet: bool,
) -> RunResult:
    config = replace(session_config(master, conf), small=is_small(sources))
    with (
        ProgressLine(STARTING, quiet=quiet) as line,
        terminable(),
        open_job(spark_session(config), tables, command, record_type) as job,
    ):
        job = replace(job, sources=tuple(sources), **settings)
        return run(job, sources, lambda progress: line.update(progress_text(progress)))


def compact_tables(
    tables: str, keep: str | None, *, master: str, conf: Sequence[str], as_json: bool
) -> None:
    age = timedelta(seconds=parse_seconds(keep, "--keep", "90d")) if keep is not None else None
    config = session_config(master, conf)
    with (
        terminable(),
        ProgressLine(STARTING, quiet=as_json) as line,
        spark_session(config) as spark,
    ):
        line.set_idle(COMPACTING)
        store = store_at(spark, tables)
        check_mark(store)
        with open_writer(store, "rollcall pipeline compact") as writer:
            clean(writer)
            result = compact(spark, writer, age)
    if as_json:
        print_json(asdict(result))
    else:
        print_compacted(result)
