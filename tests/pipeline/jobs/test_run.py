"""Runs of the pipeline on Spark: each line counts once, even if its file was moved or changed."""

import gzip
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from rollcall.pipeline.aggregates import request_logs
from rollcall.pipeline.errors import ChangedError, NotALogError, PipelineError
from rollcall.pipeline.jobs.batch import BatchResult, read_batch
from rollcall.pipeline.jobs.job import Job
from rollcall.pipeline.parsing import SourceSettings
from rollcall.pipeline.sources.inputs import SparkInput, prepare
from rollcall.pipeline.sources.planning import PlannedRead
from rollcall.tables.columns import TABLES
from rollcall.tables.folder import read_tables
from rollcall.tables.manifests import Counts
from rollcall.tables.stores import LocalStore
from rollcall.tables.views import Engine, select
from tests.pipeline.parsing.hostile_lines import json_line, text_line
from tests.pipeline.running import (
    line,
    lines,
    make_old,
    put,
    read,
    requests,
    rows,
    spark_settings,
    sums,
)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    return tmp_path / "tables"


def column(tables: Path, table: str, name: str) -> list[object]:
    index = [column.name for column in TABLES[table].columns].index(name)
    return [row[index] for row in rows(tables, table)]


def test_lines_are_requests_skipped_or_rejected(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    other = "[2026-03-01 10:00:00,000] INFO Started (kafka.server.KafkaServer)\n"
    log = put(tmp_path / "a.log", lines(20) + other + "\n" + "garbage, 1 piece\n" + lines(5, 20))
    result = read(spark, tables, log, cluster="prod", broker="b1")
    assert result.counts == Counts(1, 28, 25, 2, 1, result.counts.reasons)
    assert sum(result.counts.reasons.values()) == 1
    assert requests(tables) == 25
    assert set(column(tables, "usage", "cluster")) == {"prod"}
    assert set(column(tables, "usage", "broker")) == {"b1"}
    assert column(tables, "rejects", "line") == [23]
    assert column(tables, "rejects", "file") == [str(log)]
    assert read_tables(LocalStore(tables)).counts == result.counts


def test_rolled_compressed_or_moved_log_counts_once(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    text = lines(200)
    read(spark, tables, put(tmp_path / "kafka-request.log", text))
    before = sums(tables)
    for name in ("kafka-request.log.2026-03-01-10", "a.log.gz", "elsewhere/b.log"):
        result = read(spark, tables, put(tmp_path / name, text))
        assert (result.already_read, result.counts.lines) == (1, 0)
    assert sums(tables) == before
    assert requests(tables) == 200


def test_growing_log_is_continued_after_its_last_complete_line(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    log = tmp_path / "kafka-request.log"
    text = lines(12) + "odd\n" + lines(3, 13)
    for end in (700, len(lines(5)), len(lines(5)) + 30, len(lines(9)) + 1, len(text)):
        put(log, text[:end], age=0)
        read(spark, tables, log)
    assert requests(tables) == 15
    assert column(tables, "rejects", "line") == [13]
    assert sum(column(tables, "files", "lines")) == 16  # type: ignore[arg-type]
    whole = tmp_path / "whole"
    read(spark, whole, put(tmp_path / "copy.log", text))
    assert sums(tables) == sums(whole)


def test_tables_in_the_log_directory_are_not_read_through_a_symbolic_link(
    spark: SparkSession, tmp_path: Path
) -> None:
    put(tmp_path / "data" / "a.log", lines(10))
    (tmp_path / "link").symlink_to(tmp_path / "data")
    for tables in (tmp_path / "data" / "tables", tmp_path / "data" / "others"):
        assert read(spark, tables, tmp_path / "link").counts.requests == 10
        again = read(spark, tables, tmp_path / "link")
        assert (again.already_read, again.counts.files, again.not_read) == (1, 0, ())


def test_files_read_before_another_file_changed_count_as_read(
    spark: SparkSession, tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts: list[str] = []

    def change_once(job: Job, reads: Sequence[PlannedRead]) -> BatchResult:
        attempts.extend(Path(read.path).name for read in reads)
        if attempts == ["a.log", "b.log"]:
            raise ChangedError("b.log changed while it was read")
        return read_batch(job, reads)

    monkeypatch.setattr("rollcall.pipeline.sources.planning.BATCH_FILES", 1)
    monkeypatch.setattr("rollcall.pipeline.jobs.run.read_batch", change_once)
    for first, name in ((0, "a.log"), (50, "b.log")):
        put(tmp_path / name, lines(10, first=first))
    result = read(spark, tables, tmp_path / "*.log")
    assert attempts == ["a.log", "b.log", "b.log"]
    assert (result.counts.files, result.counts.lines, result.already_read) == (2, 20, 0)


def test_truncated_gzip_is_read_as_far_as_possible_and_reported_unreadable(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    text = lines(300)
    packed = gzip.compress(text.encode())
    broken = put(tmp_path / "a.log.gz", b"")
    broken.write_bytes(packed[: len(packed) // 2])
    make_old(broken)
    put(tmp_path / "b.log", lines(10, first=1000))
    result = read(spark, tables, tmp_path / "*.log*")
    kept = result.counts.requests - 10
    assert 0 < kept < 300
    (part,) = result.unreadable
    assert (Path(part.path).name, "ends too early" in part.reason) == ("a.log.gz", True)
    assert read(spark, tables, broken).already_read == 1
    broken.write_bytes(packed)
    make_old(broken)
    assert read(spark, tables, broken).counts.requests == 300 - kept
    assert requests(tables) == 310


def test_damaged_gzip_is_continued_when_repaired_with_the_same_size(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    good, bad = (gzip.compress(lines(200, first=first).encode()) for first in (0, 200))
    header = 10
    damaged = tmp_path / "a.log.gz"
    damaged.write_bytes((good + bad[:header]).ljust(len(good + bad), b"\xff"))
    make_old(damaged)
    first = read(spark, tables, damaged)
    assert (first.counts.requests, len(first.unreadable)) == (200, 1)
    again = read(spark, tables, damaged)
    assert (again.already_read, again.counts.files) == (1, 0)
    damaged.write_bytes(good + bad)
    make_old(damaged)
    assert read(spark, tables, damaged).unreadable == ()
    assert requests(tables) == 400


@pytest.mark.parametrize("cut", [-9, -4])
def test_truncated_short_gzip_is_reported_unreadable(
    spark: SparkSession, tables: Path, tmp_path: Path, cut: int
) -> None:
    broken = tmp_path / "a.log.gz"
    broken.write_bytes(gzip.compress(lines(40).encode())[:cut])
    make_old(broken)
    result = read(spark, tables, broken)
    assert 0 < result.counts.requests <= 40
    (part,) = result.unreadable
    assert (part.path, "ends too early" in part.reason) == (str(broken), True)
    assert column(tables, "files", "lost") == [part.reason]


@pytest.mark.parametrize("count", [40, 300], ids=["short", "longer than 64 KB"])
def test_gzip_padded_with_zero_bytes_is_not_reported_unreadable(
    spark: SparkSession, tables: Path, tmp_path: Path, count: int
) -> None:
    padded = tmp_path / "a.log.gz"
    padded.write_bytes(gzip.compress(lines(count).encode()) + b"\x00" * 512)
    make_old(padded)
    result = read(spark, tables, padded, put(tmp_path / "b.log.gz", lines(9, first=count)))
    assert (result.counts.requests, result.unreadable) == (count + 9, ())
    assert read(spark, tables, padded).already_read == 1


def test_gzip_with_an_incomplete_last_line_counts_the_complete_lines(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    result = read(spark, tables, put(tmp_path / "a.log.gz", lines(150) + line(150)[:50]))
    assert (result.counts.lines, result.counts.requests) == (150, 150)
    assert read(spark, tables, put(tmp_path / "b.log", lines(160))).counts.lines == 10


def test_windows_line_ends_and_a_byte_order_mark_do_not_change_the_tables(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    read(spark, tables, put(tmp_path / "a", lines(10)))
    other = tmp_path / "other"
    read(spark, other, put(tmp_path / "b", "\ufeff" + lines(10).replace("\n", "\r\n")))
    assert sums(tables) == sums(other)


def test_tables_in_the_log_directory_are_not_read(spark: SparkSession, tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    put(tmp_path / "a.log", lines(4))
    assert read(spark, tables, tmp_path).counts.requests == 4
    for path in tables.rglob("*"):
        make_old(path)
    put(tmp_path / "b.log", lines(5, first=4))
    result = read(spark, tables, tmp_path)
    assert (result.counts.lines, result.already_read, result.not_read) == (5, 1, ())


def test_files_that_are_not_logs_are_listed_and_the_others_are_read(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    put(tmp_path / "logs" / "empty.log", b"")
    put(tmp_path / "logs" / "photo.jpg", b"\xff\xd8\x00\x00")
    put(tmp_path / "logs" / "good.log", lines(4))
    result = read(spark, tables, tmp_path / "logs")
    assert result.counts.requests == 4
    assert {Path(file.path).name for file in result.not_read} == {"empty.log", "photo.jpg"}


def test_file_names_with_special_characters_are_read(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    names = ["a b.log", "50%.log", "%20.log", "a#b?.log", "[x]{y}*.log", "caf\u00e9.log", "a:b.log"]
    for number, name in enumerate(names):
        put(tmp_path / "logs" / "day=1" / name, lines(2, first=number * 10) + "odd\n")
    result = read(spark, tables, tmp_path / "logs")
    assert result.counts == Counts(7, 21, 14, 0, 7, result.counts.reasons)
    assert {Path(str(name)).name for name in column(tables, "rejects", "file")} == set(names)
    assert set(column(tables, "rejects", "line")) == {3}


def test_line_numbers_are_correct_in_split_and_packed_files(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    text = lines(40) + "odd\n" + lines(40, 41) + "odd\n" + lines(19, 82)
    for number in range(3):
        put(tmp_path / "logs" / f"{number}.log", lines(3, 200 + number * 9) + "odd\n" + text)
    small_blocks = {
        "spark.sql.files.maxPartitionBytes": "20000",
        "spark.sql.files.openCostInBytes": "10",
    }
    with spark_settings(spark, small_blocks):
        read(spark, tables, tmp_path / "logs")
    assert sorted(column(tables, "rejects", "line")) == [4] * 3 + [45] * 3 + [86] * 3  # type: ignore[type-var]


def test_equal_lines_that_cannot_be_parsed_are_separate_rejects(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    strange = text_line("G", key="NO_SUCH_API") + "\n"
    broken = json_line().replace('"requestApiKey":3', '"requestApiKey":"x"') + "\n"
    text = (lines(20) + strange + broken) * 3 + "odd\n" + lines(40)
    small_blocks = {
        "spark.sql.files.maxPartitionBytes": "9000",
        "spark.sql.files.openCostInBytes": "10",
    }
    with spark_settings(spark, small_blocks):
        result = read(spark, tables, put(tmp_path / "a.log", text))
    assert column(tables, "rejects", "line") == [21, 22, 43, 44, 65, 66, 67]
    assert sorted(result.counts.reasons.values()) == [1, 3, 3]
    assert result.counts.rejected == 7


def test_order_of_files_and_size_of_batches_do_not_change_the_tables(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = [put(tmp_path / f"{n}.log", lines(50, first=n * 50, second=n)) for n in range(4)]
    together, apart, batches = (tmp_path / name for name in ("together", "apart", "batches"))
    read(spark, together, *logs)
    for log in reversed(logs):
        read(spark, apart, log)
    monkeypatch.setattr("rollcall.pipeline.sources.planning.BATCH_FILES", 3)
    read(spark, batches, *logs)
    assert sums(together) == sums(apart) == sums(batches)


def test_file_that_is_not_a_request_log_fails_the_run_and_writes_nothing(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    log = put(tmp_path / "gc.log", "GC pause 12 ms\n" * 9 + lines(3))
    with pytest.raises(NotALogError, match="9 of 12 lines were rejected") as error:
        read(spark, tables, log)
    assert f"{log} line 1 begins: 'xx xxxxx 00 xx'" in error.value.message
    assert "--layout" in (error.value.hint or "")
    assert read_tables(LocalStore(tables)).live == ()
    assert read(spark, tables, log, allow_rejects=True).counts.rejected == 9


def test_binary_file_alone_is_an_error_that_names_its_format(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    with pytest.raises(NotALogError, match="is not a log: looks like a zip archive"):
        read(spark, tables, put(tmp_path / "logs.zip", b"PK\x03\x04\x00\x00"))


def test_line_that_is_not_a_request_skipped_or_rejected_fails_the_batch(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    good = request_logs(SourceSettings())

    def count_one_more(sums: DataFrame) -> DataFrame:
        return good.count_files(sums).withColumn("lines", F.col("lines") + 1)

    log = put(tmp_path / "a.log", lines(3))
    with pytest.raises(PipelineError, match="4 lines, but 3 requests, 0 skipped and 0 rejected"):
        read(spark, tables, log, record_type=replace(good, count_files=count_one_more))
    assert read_tables(LocalStore(tables)).live == ()


def test_log_rolled_when_spark_starts_reading_is_read_under_its_new_name(
    spark: SparkSession, tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = put(tmp_path / "logs" / "kafka-request.log.1", lines(20))

    def roll(*given: Any) -> list[SparkInput]:
        inputs = prepare(*given)
        if log.exists():
            log.rename(log.with_suffix(".2"))
        return inputs

    monkeypatch.setattr("rollcall.pipeline.jobs.batch.prepare", roll)
    assert read(spark, tables, log.parent).counts.requests == 20
    assert requests(tables) == 20


def test_copies_are_deleted_after_the_batch(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    read(spark, tables, put(tmp_path / "kafka-request.log", lines(3), age=0))
    assert list((tables / "staging").rglob("*.log")) == []


class CrashError(BaseException):
    """Simulates a crash: nothing catches it and nothing is cleaned up."""


class CrashingStore(LocalStore):
    """A store that crashes at its n-th change."""

    changes_left: list[int]

    def _crash_if_due(self) -> None:
        self.changes_left[0] -= 1
        if self.changes_left[0] < 0:
            raise CrashError

    def create(self, name: str, content: bytes) -> bool:
        self._crash_if_due()
        return super().create(name, content)

    def write(self, name: str, content: bytes) -> None:
        if not name.endswith(".beat"):  # heartbeats come at any time
            self._crash_if_due()
        super().write(name, content)

    def delete(self, name: str) -> None:
        self._crash_if_due()
        super().delete(name)


def test_run_that_crashes_at_any_change_of_the_tables_is_completed_by_the_next(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = put(tmp_path / "a.log", lines(20) + "odd\n" + "half", age=0)
    undisturbed = tmp_path / "undisturbed"
    read(spark, undisturbed, log)
    monkeypatch.setattr("rollcall.tables.writers.is_running", lambda *_: False)
    tables, crashes = tmp_path / "tables", 0
    for number in range(20):  # each completes the one before and crashes one change later
        store = CrashingStore(tables)
        object.__setattr__(store, "changes_left", [number])
        try:
            read(spark, store, log)
        except CrashError:
            crashes += 1
        else:
            break
        if (tables / "tables.json").exists() and read_tables(LocalStore(tables)).counts.lines:
            assert sums(tables) == sums(undisturbed), f"crashed at change {number}"
    assert crashes >= 6
    assert sums(tables) == sums(undisturbed)
    assert rows(tables, "rejects") == rows(undisturbed, "rejects")


def test_spark_view_is_the_same_in_every_time_zone(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    log = put(tmp_path / "a.log", lines(5) + json_line() + "\nnot a line\n")
    read(spark, tables, log, allow_rejects=True)
    snapshot = read_tables(LocalStore(tables))
    for zone in ("UTC", "America/Havana"):
        with spark_settings(spark, {"spark.sql.session.timeZone": zone}):
            for name, table in TABLES.items():
                shown = spark.sql(select(snapshot, name, Engine.SPARK))
                types = {field.name: field.dataType.simpleString() for field in shown.schema}
                assert types == {
                    column.name: column.type.lower().replace(": ", ":").replace(", ", ",")
                    for column in table.columns
                }
                seen = [tuple(row) for row in shown.select(*types).collect()]
                if name != "brokers":  # has structs, which Spark and DuckDB show differently
                    assert sorted(seen, key=repr) == rows(tables, name)


def test_log_continued_with_a_byte_order_mark_is_read(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    log = put(tmp_path / "a.log", "\ufeff" + lines(3))
    read(spark, tables, log)
    read(spark, tables, put(log, "\ufeff" + lines(3) + "\ufeff" + lines(3, first=3)))
    assert requests(tables) == 6
    assert max(column(tables, "files", "bytes")) == log.stat().st_size
