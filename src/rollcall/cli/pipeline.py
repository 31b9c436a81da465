"""`rollcall pipeline`: request logs to tables, on Spark."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollcall import __version__
from rollcall.cli.options import JsonOption
from rollcall.cli.output import print_json
from rollcall.cli.pipeline_view import (
    following,
    nothing_found,
    print_compacted,
    print_counts,
    print_outcome,
    print_result,
    print_roll_calls,
    result_json,
    roll_calls_json,
)
from rollcall.cli.progress_line import ProgressLine
from rollcall.cli.spark import (
    DEFAULT_MASTER,
    STARTING,
    ConfOption,
    MasterOption,
    is_local_path,
    local_store,
    need_spark,
    parse_conf,
    parse_seconds,
    places,
    session_config,
    spark_session,
    store_for,
)
from rollcall.cli.stopping import stoppable, until_interrupted
from rollcall.cli.tables import TablesOption
from rollcall.errors import ConfigError
from rollcall.tables.fresh import tables_to_write
from rollcall.tables.writers import open_writer

if TYPE_CHECKING:
    from rollcall.pipeline.batch import Job, Outcome
    from rollcall.pipeline.recipes import Recipe
    from rollcall.pipeline.run import Result
    from rollcall.pipeline.session_config import SessionConfig
    from rollcall.pipeline.topic import Topic

app = typer.Typer(no_args_is_help=True, help="Read request logs into tables (on Spark).")

SMALL_BYTES = 8 << 20
MERGING = "merging the tables"
WAITING = "waiting for more; Ctrl-C ends it"
ENDING = "ending after this batch; Ctrl-C again ends at once"

LogsArgument = Annotated[
    list[str], typer.Argument(metavar="LOGS...", help="Files, folders or patterns.")
]
ClusterOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="The cluster that the logs are of.")
]
BrokerOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The broker, if not the local address of a connection."),
]
TimeZoneOption = Annotated[
    str, typer.Option(metavar="ZONE", help="The zone of the brokers' clocks, as Europe/Berlin.")
]
LayoutOption = Annotated[
    str | None,
    typer.Option(metavar="PATTERN", help="The log4j pattern of the log, if not Kafka's."),
]
InterBrokerOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LISTENER|PRINCIPAL", help="Used by the cluster's own brokers; may be repeated."
    ),
]
RejectsOption = Annotated[
    bool, typer.Option("--allow-rejects", help="Go on when most lines cannot be read.")
]


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
    recipe = _recipe(time_zone, layout, inter_broker)
    config = replace(session_config(master, conf or ()), small=_is_small(logs))
    from rollcall.pipeline.run import run as read_logs

    what = f"rollcall pipeline run {' '.join(logs)}"
    with (
        ProgressLine(STARTING, quiet=as_json) as line,
        _job(config, tables, what, recipe) as job,
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
        if hint := nothing_found(result):
            print(hint)


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
    from rollcall.pipeline.recipes import ROLL_CALLS
    from rollcall.pipeline.run import run as read_logs

    config = replace(session_config(master, conf or ()), small=_is_small(rolls))
    with (
        ProgressLine(STARTING, quiet=as_json) as line,
        _job(config, tables, "rollcall pipeline brokers", ROLL_CALLS) as job,
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
    age = timedelta(seconds=parse_seconds(keep, "--keep")) if keep is not None else None
    from rollcall.pipeline.compact import compact as merge_tables
    from rollcall.tables.cleaning import clean
    from rollcall.tables.folder import check_mark

    config = session_config(master, conf or ())
    with (
        stoppable(),
        ProgressLine(STARTING, quiet=as_json) as line,
        spark_session(config) as spark,
    ):
        line.rest(MERGING)
        store = store_for(spark, tables)
        check_mark(store)
        with open_writer(store, "rollcall pipeline compact") as writer:
            clean(writer)
            done = merge_tables(spark, writer, age)
    if as_json:
        print_json(asdict(done))
    else:
        print_compacted(done)


@app.command()
def stream(
    source: Annotated[
        str, typer.Argument(metavar="LOGS_DIR|kafka://HOST:PORT/TOPIC", help="Where lines come.")
    ],
    tables: TablesOption,
    trigger: Annotated[
        str, typer.Option(metavar="10s|once", help="How often to look, or once and end.")
    ] = "10s",
    line_field: Annotated[
        str | None, typer.Option(metavar="message", help="The field of a JSON envelope.")
    ] = None,
    broker_field: Annotated[
        str | None, typer.Option(metavar="host.name", help="The field that names the broker.")
    ] = None,
    cluster: ClusterOption = None,
    broker: BrokerOption = None,
    time_zone: TimeZoneOption = "UTC",
    layout: LayoutOption = None,
    inter_broker: InterBrokerOption = None,
    packages: Annotated[
        str | None, typer.Option(metavar="COORDINATES", help="Spark's Kafka connector.")
    ] = None,
    master: MasterOption = DEFAULT_MASTER,
    conf: ConfOption = None,
) -> None:
    """Read logs as they come: a folder of rolled logs, or a topic. Ctrl-C ends it.

    Settings of the Kafka consumer are given with their name as Spark has it:
    --conf kafka.security.protocol=SASL_SSL.

    Example: rollcall pipeline stream kafka://broker1:9092/logs --tables tables --line-field message
    """
    need_spark()
    seconds = None if trigger == "once" else parse_seconds(trigger, "--trigger")
    if seconds == 0:
        raise ConfigError("--trigger is 0", hint="as in --trigger 10s; `once` looks once and ends")
    recipe = _recipe(time_zone, layout, inter_broker)
    for_kafka = [each for each in conf or () if each.startswith("kafka.")]
    settings = session_config(master, [each for each in conf or () if each not in for_kafka])
    if source.startswith("kafka://"):
        from rollcall.pipeline.topic import Topic

        fields: dict[str, Any] = {"line_field": line_field, "broker_field": broker_field}
        topic = Topic.parse(source, options=tuple(parse_conf(for_kafka).items()), **fields)
        settings = replace(settings, packages=_connector(packages, settings))
    else:
        topic = None
        _weigh([source])
    with (
        ProgressLine(STARTING) as line,
        _job(settings, tables, f"rollcall pipeline stream {source}", recipe) as job,
        until_interrupted(lambda: line.last_words(ENDING)) as stop,
    ):
        line.rest("" if seconds is None else WAITING)
        job = replace(job, cluster=cluster, broker=broker, sources=(source,), allow_rejects=True)
        if topic is not None:
            _stream_topic(job, topic, seconds, line, stop)
        else:
            _stream_folder(job, source, seconds, line, stop)


def _stream_folder(
    job: Job, source: str, seconds: float | None, line: ProgressLine, stop: threading.Event
) -> None:
    from rollcall.pipeline.folder_stream import FolderStream

    def told(result: Result) -> None:
        with line.aside():
            print_counts(result.counts)

    stream = FolderStream(job, (source,), following(line), told)
    if seconds is None:
        stream.once()
    else:
        stream.until(stop, seconds)


def _stream_topic(
    job: Job, topic: Topic, seconds: float | None, line: ProgressLine, stop: threading.Event
) -> None:
    from rollcall.pipeline.topic_stream import TopicStream

    def told(outcome: Outcome) -> None:
        with line.aside():
            print_outcome(outcome)

    TopicStream(job, topic, told).until(stop, seconds)


def _connector(packages: str | None, settings: SessionConfig) -> tuple[str, ...]:
    from rollcall.pipeline.topic_stream import connector

    if packages is not None:
        return tuple(packages.split(","))
    if "spark.jars" in settings.conf or "spark.jars.packages" in settings.conf:
        return ()
    return (connector(),)


def _recipe(time_zone: str, layout: str | None, inter_broker: Sequence[str] | None) -> Recipe:
    from rollcall.pipeline.recipes import request_logs
    from rollcall.pipeline.settings import SourceSettings

    settings: dict[str, Any] = {"layout": layout} if layout is not None else {}
    return request_logs(
        SourceSettings(time_zone=time_zone, inter_broker=tuple(inter_broker or ()), **settings)
    )


def _is_small(logs: Sequence[str]) -> bool:
    weight = _weigh(logs)
    return weight is not None and weight < SMALL_BYTES


def _weigh(logs: Sequence[str]) -> int | None:
    """The bytes of logs on this machine, None if some are elsewhere. They are looked for before
    Spark is started: what is missing is told at once."""
    from rollcall.pipeline.paths import is_local
    from rollcall.pipeline.planning import GZIP_RATIO
    from rollcall.pipeline.run import find_logs

    here = [path for path in logs if is_local(path)]
    files = find_logs(places(None), here)
    weight = sum(file.bytes * (GZIP_RATIO if file.path.endswith(".gz") else 1) for file in files)
    return weight if len(here) == len(logs) else None


@contextmanager
def _job(config: SessionConfig, tables: str, doing: str, recipe: Recipe) -> Iterator[Job]:
    from rollcall.pipeline.batch import Job
    from rollcall.pipeline.paths import check_for_spark

    check_for_spark(str(local_store(tables).root) if is_local_path(tables) else tables)
    made_by = f"rollcall {__version__}"
    with ExitStack() as stack:
        stack.enter_context(stoppable())
        if is_local_path(tables):  # a wrong folder is told before Spark is started
            stack.enter_context(tables_to_write(local_store(tables), made_by))
        spark = stack.enter_context(spark_session(config))
        store = store_for(spark, tables)
        stack.enter_context(tables_to_write(store, made_by))
        writer = stack.enter_context(open_writer(store, doing))
        yield Job(spark=spark, writer=writer, place_of=places(spark), recipe=recipe)
