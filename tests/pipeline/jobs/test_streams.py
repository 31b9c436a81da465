"""Streams make the same tables as runs, from a folder or a topic, each line once."""

import gzip
import json
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from rollcall.errors import ConfigError
from rollcall.pipeline.aggregates import request_logs
from rollcall.pipeline.errors import ChangedError, PipelineError
from rollcall.pipeline.jobs.batch import BatchResult
from rollcall.pipeline.jobs.folder_stream import LOOKS_IN_VAIN, FolderStream
from rollcall.pipeline.jobs.job import Job
from rollcall.pipeline.jobs.run import RunResult
from rollcall.pipeline.jobs.topic_stream import TopicStream
from rollcall.pipeline.parsing import SourceSettings
from rollcall.pipeline.sources.files import LocalFileSystem
from rollcall.pipeline.sources.planning import UnreadFile
from rollcall.pipeline.sources.topic import Topic, topic_lines
from rollcall.tables.columns import TABLES
from rollcall.tables.errors import TablesError
from rollcall.tables.folder import make_tables, read_tables
from rollcall.tables.stores import LocalStore
from rollcall.tables.writers import open_writer
from tests.pipeline.running import line, lines, make_old, put, read, requests, rows, sums


@contextmanager
def job(spark: SparkSession, tables: Path) -> Iterator[Job]:
    store = LocalStore(tables)
    make_tables(store, "tests")
    with open_writer(store, "test") as writer:
        yield Job(
            spark=spark,
            writer=writer,
            file_system_of=lambda _: LocalFileSystem(),
            record_type=request_logs(SourceSettings()),
        )


def test_a_folder_read_as_it_fills_makes_the_tables_of_one_run(
    spark: SparkSession, tmp_path: Path
) -> None:
    logs, streamed, batch = tmp_path / "logs", tmp_path / "streamed", tmp_path / "batch"
    logs.mkdir()
    with job(spark, streamed) as a_job:
        stream = FolderStream(a_job, [str(logs)], lambda _: None, lambda _: None)
        assert stream.once() == RunResult()
        put(logs / "kafka-request.log", lines(10), age=0)
        assert [left.reason[:19] for left in stream.once().not_read] == ["still being written"]
        put(logs / "kafka-request.log", lines(25) + "odd\n")
        (logs / "kafka-request.log").rename(logs / "kafka-request.log.2026-03-01-10")
        assert stream.once().counts.lines == 26
        assert stream.once() == RunResult()
        put(logs / "kafka-request.log.2026-03-01-10.gz", lines(25) + "odd\n")
        (logs / "kafka-request.log.2026-03-01-10").unlink()
        put(logs / "kafka-request.log.2026-03-01-11", lines(5, first=50))
        assert stream.once().counts.lines == 5
    read(spark, batch, logs)
    assert sums(streamed) == sums(batch)


def test_a_stream_ends_when_it_is_told_to(spark: SparkSession, tmp_path: Path) -> None:
    put(tmp_path / "logs" / "a.log", lines(3))
    stop = threading.Event()
    with job(spark, tmp_path / "tables") as a_job:
        stream = FolderStream(a_job, [str(tmp_path / "logs")], lambda _: None, lambda _: stop.set())
        stream.until(stop, 0.1)
    assert requests(tmp_path / "tables") == 3


def log_and_roll(folder: Path, ended: threading.Event, rolls: int) -> None:
    """As a broker does, and who packs what was rolled; every line has a client of its own."""
    chance, number = random.Random(7), 0
    active, rolled = folder / "kafka-request.log", []
    for turn in range(rolls):
        with active.open("a") as log:
            for _ in range(chance.randint(1, 40)):
                log.write(line(number, client=f"app-{number}") + "\n")
                number += 1
        rolled.append(active.rename(folder / f"kafka-request.log.2026-03-01-{turn:02}"))
        make_old(rolled[-1])
        if chance.random() < 0.5:
            plain = rolled.pop(chance.randrange(len(rolled)))
            packed = put(plain.with_name("packing"), gzip.compress(plain.read_bytes()))
            packed.rename(f"{plain}.gz")
            plain.unlink()
        time.sleep(chance.random() / 4)
    (folder / "lines").write_text(str(number))
    ended.set()


def test_a_folder_in_which_logs_are_rolled_and_packed_all_the_time_loses_no_line(
    spark: SparkSession, tmp_path: Path
) -> None:
    logs, tables, ended = tmp_path / "logs", tmp_path / "tables", threading.Event()
    logs.mkdir()
    broker = threading.Thread(target=log_and_roll, args=(logs, ended, 60))
    with job(spark, tables) as a_job:
        stream = FolderStream(a_job, [str(logs)], lambda _: None, lambda _: None)
        broker.start()
        stream.until(ended, 0.1)
        broker.join(60)
        written = int((logs / "lines").read_text())
        (logs / "lines").unlink()
        stream.once()
    assert requests(tables) == written
    clients = [column.name for column in TABLES["usage"].columns].index("client_id")
    assert len({row[clients] for row in rows(tables, "usage")}) == written


def test_a_log_that_is_never_as_it_was_listed_ends_the_stream(
    spark: SparkSession, tmp_path: Path
) -> None:
    looks = []

    class Restless(FolderStream):
        def once(self) -> RunResult:
            looks.append("changed" if len(looks) != 5 else "read")
            if looks[-1] == "read":
                return RunResult()
            raise ChangedError("a.log changed while it was read")

    with job(spark, tmp_path / "tables") as a_job, pytest.raises(ChangedError, match=r"a\.log"):
        Restless(a_job, ["logs"], lambda _: None, lambda _: None).until(threading.Event(), 0.0)
    assert len(looks) == 6 + LOOKS_IN_VAIN


TOPIC = Topic.parse("kafka://localhost:9092/logs")
ID = TOPIC.id_in("kX3")


def messages(spark: SparkSession, values: list[str], first: int = 0) -> DataFrame:
    """Rows as Spark's Kafka source gives them."""
    rows = [(value.encode(), 0, first + at) for at, value in enumerate(values)]
    return spark.createDataFrame(rows, "value BINARY, partition INT, offset BIGINT")


def test_a_batch_of_a_topic_counts_once_however_often_spark_runs_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    tables = tmp_path / "tables"
    values = [line(number) for number in range(20)]
    with job(spark, tables) as a_job:
        stream = TopicStream(a_job, TOPIC, lambda _: None, ID)
        for _ in range(2):
            stream._read_batch(messages(spark, [*values[:12], "odd"]), 0)
        for _ in range(2):
            stream._read_batch(messages(spark, values[12:], 13), 1)
        assert a_job.writer.snapshot().streams == {ID: 1}
    read(spark, tmp_path / "batch", put(tmp_path / "a.log", lines(20)))
    assert sums(tables) == sums(tmp_path / "batch")
    assert [row[1:3] for row in rows(tables, "rejects")] == [("kafka://localhost:9092/logs/0", 12)]


def test_a_partition_may_hold_lines_of_many_brokers(spark: SparkSession, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    topic = Topic.parse(TOPIC.address, line_field="message", broker_field="host")
    values = [json.dumps({"message": line(n), "host": f"b{n % 3}"}) for n in range(10)]
    with job(spark, tables) as a_job:
        note(a_job, '{"logs":{"0":10}}')
        told: list[BatchResult] = []
        TopicStream(a_job, topic, told.append, ID)._read_batch(messages(spark, values), 0)
    assert [(it.counts.files, it.counts.requests, it.unreadable) for it in told] == [(1, 10, ())]
    names = [column.name for column in TABLES["usage"].columns]
    assert {row[names.index("broker")] for row in rows(tables, "usage")} == {"b0", "b1", "b2"}


def test_a_stream_of_a_topic_cleans_up_as_it_goes(spark: SparkSession, tmp_path: Path) -> None:
    with job(spark, tmp_path / "tables") as a_job:
        store = a_job.writer.store
        store.write("parts/0000000009-dead/usage/a.parquet", b"x")
        make_old(tmp_path / "tables/parts/0000000009-dead/usage/a.parquet", 7200)
        TopicStream(a_job, TOPIC, lambda _: None, ID)._read_batch(messages(spark, [line(1)]), 0)
        assert store.list("parts/0000000009-dead") == []


def note(a_job: Job, end: str) -> None:
    """What Spark notes before a batch: where the topic begins, and where the batch ends."""
    notes = f"streams/{ID}"
    a_job.writer.store.write(f"{notes}/sources/0/0", b'v1\n{"logs":{"0":0}}')
    a_job.writer.store.write(f"{notes}/offsets/0", f"v1\n{{}}\n{end}".encode())


def test_a_record_that_is_no_line_stops_the_batch(spark: SparkSession, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    with job(spark, tables) as a_job:
        note(a_job, '{"logs":{"0":3}}')
        told: list[BatchResult] = []
        stream = TopicStream(a_job, TOPIC, told.append, ID)
        two = messages(spark, [line(1), line(2)])
        half = replace(
            a_job.record_type, sum_lines=lambda lines: a_job.record_type.sum_lines(lines.limit(1))
        )
        stream.job = replace(a_job, record_type=half)
        with pytest.raises(PipelineError, match="partition 0: 2 records, but 1 lines were counted"):
            stream._read_batch(two, 0)
        assert read_tables(LocalStore(tables)).live == ()
        stream.job = a_job
        stream._read_batch(two, 0)
    assert told[0].unreadable == (UnreadFile(f"{TOPIC.address}/0", "1 offsets hold no record"),)
    assert requests(tables) == 2


def test_without_its_notes_a_stream_is_not_begun_again(spark: SparkSession, tmp_path: Path) -> None:
    with job(spark, tmp_path / "tables") as a_job:
        stream = TopicStream(a_job, TOPIC, lambda _: None, ID)
        stream._read_batch(messages(spark, [line(1)]), 0)
        with pytest.raises(TablesError, match="the stream's notes"):
            stream.start(None)


@pytest.mark.parametrize(
    ("envelope", "line_field", "broker_field"),
    [
        ({"message": "a line", "host": {"name": "b7"}}, "message", "host.name"),
        ({"message": "a line\r\n", "host.name": "b7"}, "message", "host.name"),
        ({"log": {"text": "a line"}, "broker": "b7"}, "log.text", "broker"),
    ],
)
def test_the_line_may_be_a_field_of_an_envelope(
    spark: SparkSession, envelope: dict[str, object], line_field: str, broker_field: str
) -> None:
    topic = Topic.parse("kafka://h:1/t", line_field=line_field, broker_field=broker_field)
    rows = messages(spark, [json.dumps(envelope), "no JSON", "{}", ""])
    found = topic_lines(rows, topic, cluster="c", broker=None).collect()
    assert [(row["value"], row["broker"], row["position"]) for row in found] == [
        ("a line", "b7", 0),
        ("no JSON", None, 1),
        ("{}", None, 2),
        ("", None, 3),
    ]


@pytest.mark.parametrize(
    "address",
    ["kafka://host:9092", "kafka:///t", "kafka://h:1/a/b", "kafka://h/t", "kafka://h:x/t"],
)
def test_an_address_that_names_no_topic_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match="no address of a topic"):
        Topic.parse(address)


@pytest.mark.parametrize("bootstrap", ["h:1", "h-1.example:9092,10.0.0.1:9093", "[::1]:9092"])
def test_a_topic_is_found_by_any_of_its_brokers(bootstrap: str) -> None:
    topic = Topic.parse(f"kafka://{bootstrap}/request.logs_1")
    assert (topic.bootstrap, topic.name) == (bootstrap, "request.logs_1")


def test_a_topic_is_known_by_its_cluster_whichever_broker_is_asked() -> None:
    one, other = (Topic.parse(f"kafka://{it}/logs") for it in ("b1:9092,b2:9092", "b2:9092"))
    assert one.id_in("kX3") == other.id_in("kX3") != one.id_in("another")
    assert one.id_in(None) != other.id_in(None)


def test_streams_stay_known_through_compaction(spark: SparkSession, tmp_path: Path) -> None:
    from rollcall.pipeline.jobs.compaction import compact

    with job(spark, tmp_path / "tables") as a_job:
        stream = TopicStream(a_job, TOPIC, lambda _: None, ID)
        stream._read_batch(messages(spark, [line(1)]), 4)
        compact(spark, a_job.writer)
        stream._read_batch(messages(spark, [line(1)]), 4)
    assert requests(tmp_path / "tables") == 1
    assert read_tables(LocalStore(tmp_path / "tables")).streams == {ID: 4}


def test_one_look_at_a_folder_tells_what_was_lost_and_what_is_left(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    put(logs / "a.log", lines(4) + "half")
    put(logs / "kafka-request.log", lines(4, first=10))
    broken = logs / "b.log.gz"
    broken.write_bytes(gzip.compress(lines(40, first=20).encode())[:-4])
    make_old(broken)
    where = ["--tables", str(tmp_path / "tables"), "--trigger", "once", "--master", "local[1]"]
    command = [sys.executable, "-m", "rollcall", "pipeline", "stream", str(logs), *where]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=110)
    assert done.returncode == 0, done.stderr
    assert re.search(rf"^unreadable: {broken}: it ends too early", done.stdout, re.MULTILINE)
    unread = re.findall(r"^not read: \S+/(\S+): ", done.stdout, re.MULTILINE)
    assert sorted(unread) == ["a.log", "kafka-request.log"]
