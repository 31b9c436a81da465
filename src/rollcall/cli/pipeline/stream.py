"""`rollcall pipeline stream`: read a directory or a topic continuously."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rollcall.cli.options.spark import (
    STARTING,
    parse_conf,
    parse_seconds,
    session_config,
    spark_session,
)
from rollcall.cli.pipeline.view import print_batch, print_end, progress_text
from rollcall.cli.terminal.progress import ProgressLine
from rollcall.cli.terminal.signals import stop_requested, terminable
from rollcall.pipeline.jobs.folder_stream import FolderStream
from rollcall.pipeline.jobs.job import check_logs, open_job
from rollcall.pipeline.jobs.topic_stream import TopicStream, cluster_id, connector
from rollcall.pipeline.sources.topic import Topic

if TYPE_CHECKING:
    from rollcall.pipeline.aggregates import RecordType
    from rollcall.pipeline.jobs.batch import BatchResult
    from rollcall.pipeline.jobs.job import Job
    from rollcall.pipeline.jobs.run import RunResult
    from rollcall.pipeline.spark.config import SessionConfig

WAITING = "waiting for new lines; press Ctrl-C to stop"
STOPPING = "stopping after this batch; press Ctrl-C again to stop at once"
KAFKA = "kafka."
"""Prefix of consumer settings in --conf."""


def stream_logs(
    source: str,
    tables: str,
    record_type: RecordType,
    settings: Mapping[str, Any],
    *,
    trigger: str,
    fields: Mapping[str, Any],
    packages: str | None,
    master: str,
    conf: Sequence[str],
) -> None:
    """`settings` are fields of the Job: cluster and broker; `fields` are those of the Topic."""
    interval = None if trigger == "once" else parse_seconds(trigger, "--trigger", "10s or once")
    consumer = [setting for setting in conf if setting.startswith(KAFKA)]
    config = session_config(master, [item for item in conf if not item.startswith(KAFKA)])
    topic = None
    if source.startswith("kafka://"):
        topic = Topic.parse(source, options=tuple(parse_conf(consumer).items()), **fields)
        config = replace(config, packages=_connector(packages, config))
    else:
        check_logs([source])
    command = f"rollcall pipeline stream {source}"
    with (
        ProgressLine(STARTING) as line,
        terminable(),
        open_job(spark_session(config), tables, command, record_type) as job,
        stop_requested(lambda: line.finish(STOPPING)) as stop,
    ):
        line.set_idle("" if interval is None else WAITING)
        job = replace(job, sources=(source,), allow_rejects=True, **settings)
        if topic is not None:
            _stream_topic(job, topic, interval, line, stop)
        else:
            _stream_directory(job, source, interval, line, stop)


def _stream_directory(
    job: Job, source: str, interval: float | None, line: ProgressLine, stop: threading.Event
) -> None:
    def show(result: RunResult) -> None:
        with line.hidden():
            print_batch(result)

    stream = FolderStream(
        job, (source,), lambda progress: line.update(progress_text(progress)), show
    )
    if interval is not None:
        stream.until(stop, interval)
        return
    start = time.monotonic()
    result = stream.once()
    with line.hidden():
        print_end(result, time.monotonic() - start)


def _stream_topic(
    job: Job, topic: Topic, interval: float | None, line: ProgressLine, stop: threading.Event
) -> None:
    def show(result: BatchResult) -> None:
        with line.hidden():
            print_batch(result, label="")

    stream_id = topic.stream_id(cluster_id(job.spark, topic))
    TopicStream(job, topic, show, stream_id).until(stop, interval)


def _connector(packages: str | None, config: SessionConfig) -> tuple[str, ...]:
    if packages is not None:
        return tuple(packages.split(","))
    if "spark.jars" in config.conf or "spark.jars.packages" in config.conf:
        return ()
    return (connector(),)
