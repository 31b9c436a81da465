"""`rollcall pipeline`: request logs to tables, on Spark."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Annotated

import typer

from rollcall.cli.options.common import JsonOption
from rollcall.cli.options.spark import (
    DEFAULT_MASTER,
    STARTING,
    ConfOption,
    MasterOption,
    need_spark,
    parse_seconds,
    session_config,
    spark_session,
)
from rollcall.cli.pipeline.options import (
    BrokerOption,
    ClusterOption,
    InterBrokerOption,
    LayoutOption,
    LogsArgument,
    RejectsOption,
    TimeZoneOption,
    record_type_of,
)
from rollcall.cli.pipeline.stream import stream
from rollcall.cli.pipeline.tables import TablesOption
from rollcall.cli.pipeline.view import (
    following,
    print_compacted,
    print_result,
    print_roll_calls,
    result_json,
    roll_calls_json,
)
from rollcall.cli.terminal.output import print_json
from rollcall.cli.terminal.progress import ProgressLine
from rollcall.cli.terminal.signals import stoppable
from rollcall.pipeline.jobs.job import is_small, open_job, store_at
from rollcall.tables.writers import open_writer

app = typer.Typer(no_args_is_help=True, help="Read request logs into tables (on Spark).")

MERGING = "merging the tables"


@app.command()
def run(
    logs: LogsArgument,
    tables: TablesOption,
    cluster: ClusterOption = None,
    broker: BrokerOption = None,
    time_zone: TimeZoneOption = "UTC",
    layout: LayoutOption = None,
    inter_broker: InterBrokerOption = None,
    allow_rejects: RejectsOption = False,
    master: MasterOption = DEFAULT_MASTER,
    conf: ConfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read the logs that are there now. What was read before is not counted again.

    Example: rollcall pipeline run /var/log/kafka --tables tables --cluster prod
    """
    need_spark()
    began = time.monotonic()
    record_type = record_type_of(time_zone, layout, inter_broker)
    config = replace(session_config(master, conf or ()), small=is_small(logs))
    from rollcall.pipeline.jobs.run import run as read_logs

    what = f"rollcall pipeline run {' '.join(logs)}"
    with (
        ProgressLine(STARTING, quiet=as_json) as line,
        stoppable(),
        open_job(spark_session(config), tables, what, record_type) as job,
    ):
        job = replace(
            job, cluster=cluster, broker=broker, sources=tuple(logs), allow_rejects=allow_rejects
        )
        result = read_logs(job, logs, following(line))
        seconds = time.monotonic() - began
    if as_json:
        print_json(result_json(result, seconds))
    else:
        print_result(result, seconds)


app.command()(stream)


@app.command()
def brokers(
    rolls: Annotated[list[str], typer.Argument(metavar="FILE.jsonl...", help="Roll calls.")],
    tables: TablesOption,
    cluster: ClusterOption = None,
    master: MasterOption = DEFAULT_MASTER,
    conf: ConfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read roll calls, as `rollcall brokers --output FILE.jsonl` appends them.

    Example: rollcall pipeline brokers rolls.jsonl --tables tables --cluster prod
    """
    need_spark()
    began = time.monotonic()
    from rollcall.pipeline.aggregates import ROLL_CALLS
    from rollcall.pipeline.jobs.run import run as read_logs

    config = replace(session_config(master, conf or ()), small=is_small(rolls))
    with (
        ProgressLine(STARTING, quiet=as_json) as line,
        stoppable(),
        open_job(spark_session(config), tables, "rollcall pipeline brokers", ROLL_CALLS) as job,
    ):
        wanted = replace(job, cluster=cluster, sources=tuple(rolls))
        result = read_logs(wanted, rolls, following(line))
        seconds = time.monotonic() - began
    if as_json:
        print_json(roll_calls_json(result, seconds))
    else:
        print_roll_calls(result, seconds)


@app.command()
def compact(
    tables: TablesOption,
    keep: Annotated[
        str | None, typer.Option(metavar="90d", help="Drop what was last seen longer ago.")
    ] = None,
    master: MasterOption = DEFAULT_MASTER,
    conf: ConfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Merge the tables' parts, and turn old detail into totals. Readers are not disturbed.

    Hours older than 7 days become days, connections that ended over 48 hours ago become counts
    per hour. Which files were read stays known, whatever is dropped.

    Example: rollcall pipeline compact --tables tables --keep 90d
    """
    need_spark()
    age = timedelta(seconds=parse_seconds(keep, "--keep", "90d")) if keep is not None else None
    from rollcall.pipeline.jobs.compaction import compact as merge_tables
    from rollcall.tables.cleaning import clean
    from rollcall.tables.folder import check_mark

    config = session_config(master, conf or ())
    with (
        stoppable(),
        ProgressLine(STARTING, quiet=as_json) as line,
        spark_session(config) as spark,
    ):
        line.rest(MERGING)
        store = store_at(spark, tables)
        check_mark(store)
        with open_writer(store, "rollcall pipeline compact") as writer:
            clean(writer)
            done = merge_tables(spark, writer, age)
    if as_json:
        print_json(asdict(done))
    else:
        print_compacted(done)
