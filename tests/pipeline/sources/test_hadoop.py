"""Tables and logs through Hadoop's file systems, tested with its local one."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.aggregates import request_logs
from rollcall.pipeline.errors import SourceError
from rollcall.pipeline.jobs.job import Job
from rollcall.pipeline.jobs.run import run
from rollcall.pipeline.parsing import SourceSettings
from rollcall.pipeline.sources.hadoop import (
    CHECK_SETTINGS,
    CONNECTOR,
    Hadoop,
    HadoopFileSystem,
    HadoopStore,
)
from rollcall.pipeline.spark.errors import CHECK_FILE_SYSTEM
from rollcall.tables.errors import TablesError
from rollcall.tables.folder import make_tables, read_tables
from rollcall.tables.stores import Entry
from rollcall.tables.writers import open_writer
from tests.pipeline.running import lines, put, requests


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> HadoopStore:
    return HadoopStore(Hadoop(spark), f"file://{tmp_path}/tables")


def test_store_creates_a_file_once(store: HadoopStore) -> None:
    assert store.create("a/b.json", b"first")
    assert not store.create("a/b.json", b"second")
    assert store.read("a/b.json") == b"first"
    store.write("a/b.json", b"third")
    assert store.read("a/b.json") == b"third"


def test_store_lists_and_deletes_files(store: HadoopStore) -> None:
    store.write("b.json", b"12")
    store.write("a/c.json", b"")
    found = [(entry.name, entry.bytes) for entry in store.list("") if isinstance(entry, Entry)]
    assert [name for name, _ in found] == ["a/", "b.json"]
    assert found[1][1] == 2
    store.delete("a")
    store.delete("nothing")
    assert [entry.name for entry in store.list("")] == ["b.json"]
    assert store.list("nowhere") == []
    with pytest.raises(FileNotFoundError):
        store.read("nowhere")


def test_file_system_without_a_connector_is_an_error(spark: SparkSession) -> None:
    hadoop = Hadoop(spark)
    for address in ("s3a://logs/kafka", "nosuch://logs/kafka"):
        with pytest.raises(SourceError, match=f"Spark cannot read {address}") as source:
            HadoopFileSystem(hadoop).find(address)
        with pytest.raises(TablesError, match=f"Spark cannot reach {address}") as tables:
            HadoopStore.at(hadoop, address).absent()
        assert source.value.hint == tables.value.hint == CONNECTOR


@pytest.mark.parametrize(
    ("host", "hint"),
    [
        ("127.0.0.1:1", CHECK_FILE_SYSTEM),
        ("no-such-host.invalid:8020", CHECK_FILE_SYSTEM),
        ("127.0.0.1:99999", CHECK_SETTINGS),
        ("", CHECK_SETTINGS),
    ],
)
def test_file_system_that_is_down_is_an_error(spark: SparkSession, host: str, hint: str) -> None:
    hadoop, address = Hadoop(spark), f"hdfs://{host}/kafka"
    with pytest.raises(SourceError, match=f"{address} cannot be read: ") as source:
        HadoopFileSystem(hadoop).find(address)
    with pytest.raises(TablesError, match=f"{address} cannot be used: ") as tables:
        HadoopStore.at(hadoop, address).absent()
    assert source.value.hint == tables.value.hint == hint


def test_logs_are_found_and_read_in_chunks(spark: SparkSession, tmp_path: Path) -> None:
    files = HadoopFileSystem(Hadoop(spark))
    path = put(tmp_path / "logs" / "a.log", b"0123456789")
    put(tmp_path / "logs" / "deep" / "b.log", b"")
    (given,) = files.find(f"file://{path}")
    assert (given.explicit, given.bytes) == (True, 10)
    in_directory = files.find(f"file://{tmp_path}/logs")
    assert sorted((Path(file.path).name, file.explicit) for file in in_directory) == [
        ("a.log", False),
        ("b.log", False),
    ]
    assert list(files.chunks(given.path, 3, 4)) == [b"3456", b"789"]
    with pytest.raises(SourceError, match="there is no file or directory"):
        files.find(f"file://{tmp_path}/none")


def test_run_reads_logs_and_writes_tables_through_hadoop(
    spark: SparkSession, store: HadoopStore, tmp_path: Path
) -> None:
    logs = tmp_path / "my %20 l\u00f6gs"
    put(logs / "a b%.log", lines(5))
    put(logs / "b#.log.gz", lines(5, first=10) + "half")
    files = HadoopFileSystem(Hadoop(spark))
    make_tables(store, "tests")
    for pattern, lines_read in (("*.log*", 10), ("", 0)):
        with open_writer(store, "test") as writer:
            job = Job(
                spark=spark,
                writer=writer,
                file_system_of=lambda _: files,
                record_type=request_logs(SourceSettings()),
            )
            result = run(job, [f"file://{logs}/{pattern}"], lambda _: None)
        assert result.counts.lines == lines_read
    assert read_tables(store).counts.requests == 10
    assert requests(tmp_path / "tables") == 10
