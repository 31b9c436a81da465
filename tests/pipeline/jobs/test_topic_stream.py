"""Streams of a topic write the same tables as runs, each record once."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.errors import PipelineError
from rollcall.pipeline.jobs.batch import BatchResult
from rollcall.pipeline.jobs.compaction import compact
from rollcall.pipeline.jobs.job import Job
from rollcall.pipeline.jobs.topic_stream import TopicStream
from rollcall.pipeline.sources.planning import UnreadFile
from rollcall.pipeline.sources.topic import Topic
from rollcall.tables.columns import TABLES
from rollcall.tables.errors import TablesError
from rollcall.tables.folder import read_tables
from rollcall.tables.stores import LocalStore
from tests.pipeline.running import (
    line,
    lines,
    make_old,
    open_test_job,
    put,
    read,
    requests,
    rows,
    sums,
    topic_rows,
)

pytestmark = pytest.mark.slow

TOPIC = Topic.parse("kafka://localhost:9092/logs")
ID = TOPIC.stream_id("kX3")


def test_repeated_batch_of_a_topic_counts_once(spark: SparkSession, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    values = [line(number) for number in range(20)]
    with open_test_job(spark, tables) as a_job:
        stream = TopicStream(a_job, TOPIC, lambda _: None, ID)
        for _ in range(2):
            stream._read_batch(topic_rows(spark, [*values[:12], "odd"]), 0)
        for _ in range(2):
            stream._read_batch(topic_rows(spark, values[12:], 13), 1)
        assert a_job.writer.snapshot().streams == {ID: 1}
    read(spark, tmp_path / "batch", put(tmp_path / "a.log", lines(20)))
    assert sums(tables) == sums(tmp_path / "batch")
    assert [row[1:3] for row in rows(tables, "rejects")] == [("kafka://localhost:9092/logs/0", 12)]


def test_partition_with_lines_of_several_brokers_is_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    tables = tmp_path / "tables"
    topic = Topic.parse(TOPIC.address, line_field="message", broker_field="host")
    values = [json.dumps({"message": line(n), "host": f"b{n % 3}"}) for n in range(10)]
    with open_test_job(spark, tables) as a_job:
        write_checkpoint(a_job, '{"logs":{"0":10}}')
        results: list[BatchResult] = []
        TopicStream(a_job, topic, results.append, ID)._read_batch(topic_rows(spark, values), 0)
    assert [(r.counts.files, r.counts.requests, r.unreadable) for r in results] == [(1, 10, ())]
    names = [column.name for column in TABLES["usage"].columns]
    assert {row[names.index("broker")] for row in rows(tables, "usage")} == {"b0", "b1", "b2"}


def test_stream_of_a_topic_deletes_files_of_failed_attempts(
    spark: SparkSession, tmp_path: Path
) -> None:
    with open_test_job(spark, tmp_path / "tables") as a_job:
        store = a_job.writer.store
        store.write("parts/0000000009-dead/usage/a.parquet", b"x")
        make_old(tmp_path / "tables/parts/0000000009-dead/usage/a.parquet", 7200)
        TopicStream(a_job, TOPIC, lambda _: None, ID)._read_batch(topic_rows(spark, [line(1)]), 0)
        assert store.list("parts/0000000009-dead") == []


def write_checkpoint(a_job: Job, end: str) -> None:
    """What Spark writes before a batch: the start offsets of the topic and the end of the batch."""
    checkpoint = f"streams/{ID}"
    a_job.writer.store.write(f"{checkpoint}/sources/0/0", b'v1\n{"logs":{"0":0}}')
    a_job.writer.store.write(f"{checkpoint}/offsets/0", f"v1\n{{}}\n{end}".encode())


def test_record_that_was_not_counted_as_a_line_fails_the_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    tables = tmp_path / "tables"
    with open_test_job(spark, tables) as a_job:
        write_checkpoint(a_job, '{"logs":{"0":3}}')
        results: list[BatchResult] = []
        stream = TopicStream(a_job, TOPIC, results.append, ID)
        two = topic_rows(spark, [line(1), line(2)])
        half = replace(
            a_job.record_type, sum_lines=lambda lines: a_job.record_type.sum_lines(lines.limit(1))
        )
        stream.job = replace(a_job, record_type=half)
        with pytest.raises(PipelineError, match="partition 0: 2 records, but 1 lines were counted"):
            stream._read_batch(two, 0)
        assert read_tables(LocalStore(tables)).live == ()
        stream.job = a_job
        stream._read_batch(two, 0)
    assert results[0].unreadable == (UnreadFile(f"{TOPIC.address}/0", "1 offsets hold no record"),)
    assert requests(tables) == 2


def test_stream_without_its_checkpoint_is_not_started(spark: SparkSession, tmp_path: Path) -> None:
    with open_test_job(spark, tmp_path / "tables") as a_job:
        stream = TopicStream(a_job, TOPIC, lambda _: None, ID)
        stream._read_batch(topic_rows(spark, [line(1)]), 0)
        with pytest.raises(TablesError, match="the checkpoint of the stream"):
            stream.start(None)


def test_stream_position_survives_compaction(spark: SparkSession, tmp_path: Path) -> None:
    with open_test_job(spark, tmp_path / "tables") as a_job:
        stream = TopicStream(a_job, TOPIC, lambda _: None, ID)
        stream._read_batch(topic_rows(spark, [line(1)]), 4)
        compact(spark, a_job.writer)
        stream._read_batch(topic_rows(spark, [line(1)]), 4)
    assert requests(tmp_path / "tables") == 1
    assert read_tables(LocalStore(tmp_path / "tables")).streams == {ID: 4}
