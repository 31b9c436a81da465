"""How far a run is, told while it is on its way."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.jobs import progress
from rollcall.pipeline.jobs.progress import Progress, Read, files_within
from rollcall.pipeline.jobs.run import run
from tests.pipeline.read_tables import a_job
from tests.pipeline.running import lines, put, spark_settings


def test_lines_are_told_before_the_batch_ends(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SECONDS", 0.01)
    for number in range(3):
        put(tmp_path / "logs" / f"{number}.log", lines(1000, number * 1000))
    told: list[Progress] = []
    many_tasks = {"spark.sql.files.maxPartitionBytes": "20000"}
    with spark_settings(spark, many_tasks), a_job(spark, tmp_path / "tables") as job:
        run(job, [str(tmp_path / "logs")], told.append)
    assert any(0 < each.lines < 3000 and 0 < each.share < 1 for each in told)
    assert [each.lines for each in told] == sorted(each.lines for each in told)
    assert [each.share for each in told] == sorted(each.share for each in told)
    last = told[-1]
    assert (last.files_done, last.files, last.lines, last.share) == (3, 3, 3000, 1.0)


def test_the_time_left_is_that_of_the_bytes_that_are_left() -> None:
    assert Progress(0, 9, 0, 10.0, 0.25).seconds_left == 30.0
    assert Progress(0, 9, 0, 10.0, 0.0).seconds_left is None
    assert Progress(9, 9, 0, 10.0, 1.0, writing=True).seconds_left is None


def test_what_was_read_stays_read_when_the_stage_is_over() -> None:
    begun = Read().then(None).then(Read(10, 1)).then(Read(20, 2))
    assert begun == Read(20, 2)
    over = begun.then(None)
    assert over == Read(20, 2, ended=True)
    assert over.then(Read(5, 5)) == over  # another stage, which reads what Spark has kept
    unsaid = Read(20)  # of one task, Spark tells no lines before it ends
    assert unsaid.then(None).then(Read(5, 5)) == Read(20, 0, ended=True)


def test_files_are_told_by_the_bytes_and_the_last_one_not_before_the_end() -> None:
    assert [files_within(read, [10, 30, 20]) for read in (0, 29, 30, 50, 60, 99)] == [
        0, 0, 1, 2, 2, 2
    ]  # fmt: skip
    assert files_within(5, []) == 0
