"""`rollcall pipeline stream`: logs as they come."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollcall.cli.options.spark import (
    DEFAULT_MASTER,
    STARTING,
    ConfOption,
    MasterOption,
    need_spark,
    parse_conf,
    parse_seconds,
    session_config,
    spark_session,
)
from rollcall.cli.pipeline.options import (
    BrokerOption,
    ClusterOption,
    InterBrokerOption,
    LayoutOption,
    TimeZoneOption,
    record_type_of,
)
from rollcall.cli.pipeline.tables import TablesOption
from rollcall.cli.pipeline.view import following, print_batch, print_end
from rollcall.cli.terminal.progress import ProgressLine
from rollcall.cli.terminal.signals import stoppable, until_interrupted
from rollcall.pipeline.jobs.job import check_logs, open_job

if TYPE_CHECKING:
    from rollcall.pipeline.jobs.batch import BatchResult
    from rollcall.pipeline.jobs.job import Job
    from rollcall.pipeline.jobs.run import RunResult
    from rollcall.pipeline.sources.topic import Topic
    from rollcall.pipeline.spark.config import SessionConfig

WAITING = "waiting for more; Ctrl-C ends it"
ENDING = "ending after this batch; Ctrl-C again ends at once"


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
    seconds = None if trigger == "once" else parse_seconds(trigger, "--trigger", "10s; or once")
    record_type = record_type_of(time_zone, layout, inter_broker)
    for_kafka = [each for each in conf or () if each.startswith("kafka.")]
    settings = session_config(master, [each for each in conf or () if each not in for_kafka])
    if source.startswith("kafka://"):
        from rollcall.pipeline.sources.topic import Topic

        fields: dict[str, Any] = {"line_field": line_field, "broker_field": broker_field}
        topic = Topic.parse(source, options=tuple(parse_conf(for_kafka).items()), **fields)
        settings = replace(settings, packages=_connector(packages, settings))
    else:
        topic = None
        check_logs([source])
    command = f"rollcall pipeline stream {source}"
    with (
        ProgressLine(STARTING) as line,
        stoppable(),
        open_job(spark_session(settings), tables, command, record_type) as job,
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
    from rollcall.pipeline.jobs.folder_stream import FolderStream

    def told(result: RunResult) -> None:
        with line.aside():
            print_batch(result)

    stream = FolderStream(job, (source,), following(line), told)
    if seconds is not None:
        stream.until(stop, seconds)
        return
    began = time.monotonic()
    result = stream.once()
    with line.aside():
        print_end(result, time.monotonic() - began)


def _stream_topic(
    job: Job, topic: Topic, seconds: float | None, line: ProgressLine, stop: threading.Event
) -> None:
    from rollcall.pipeline.jobs.topic_stream import TopicStream, cluster_id

    def told(outcome: BatchResult) -> None:
        with line.aside():
            print_batch(outcome, mark="")

    known_as = topic.stream_id(cluster_id(job.spark, topic))
    TopicStream(job, topic, told, known_as).until(stop, seconds)


def _connector(packages: str | None, settings: SessionConfig) -> tuple[str, ...]:
    from rollcall.pipeline.jobs.topic_stream import connector

    if packages is not None:
        return tuple(packages.split(","))
    if "spark.jars" in settings.conf or "spark.jars.packages" in settings.conf:
        return ()
    return (connector(),)
