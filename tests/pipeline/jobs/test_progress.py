"""Progress of a run while it reads."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.jobs import progress
from rollcall.pipeline.jobs.progress import BytesRead, Progress, files_within
from rollcall.pipeline.jobs.run import run
from tests.pipeline.running import lines, open_test_job, put, spark_settings


def test_lines_are_reported_before_the_batch_ends(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "INTERVAL_SECONDS", 0.01)
    for number in range(3):
        put(tmp_path / "logs" / f"{number}.log", lines(1000, number * 1000))
    many_tasks = {"spark.sql.files.maxPartitionBytes": "20000"}
    reports: list[Progress] = []
    for attempt in range(10):  # on a busy machine the monitor may miss the whole stage
        reports.clear()
        tables = tmp_path / f"tables-{attempt}"
        with spark_settings(spark, many_tasks), open_test_job(spark, tables) as job:
            run(job, [str(tmp_path / "logs")], reports.append)
        if any(0 < report.lines < 3000 and 0 < report.share < 1 for report in reports):
            break
    else:
        pytest.fail("no report of a part of the lines")
    assert [report.lines for report in reports] == sorted(report.lines for report in reports)
    assert [report.share for report in reports] == sorted(report.share for report in reports)
    last = reports[-1]
    assert (last.files_done, last.files, last.lines, last.share) == (3, 3, 3000, 1.0)


def test_time_left_is_proportional_to_the_bytes_left() -> None:
    assert Progress(0, 9, 0, 10.0, 0.25).seconds_left == 30.0
    assert Progress(0, 9, 0, 10.0, 0.0).seconds_left is None
    assert Progress(9, 9, 0, 10.0, 1.0, writing=True).seconds_left is None


def test_reading_is_finished_when_its_stage_has_ended() -> None:
    started = BytesRead().then(None).then(BytesRead(10, 1)).then(BytesRead(20, 2))
    assert started == BytesRead(20, 2)
    ended = started.then(None)
    assert ended == BytesRead(20, 2, finished=True)
    assert ended.then(BytesRead(5, 5)) == ended  # another stage reads cached sums
    no_lines = BytesRead(20)  # Spark reports no lines of a task before it ends
    assert no_lines.then(None).then(BytesRead(5, 5)) == BytesRead(20, 0, finished=True)


def test_files_are_estimated_from_bytes_without_the_last_one() -> None:
    assert [files_within(read, [10, 30, 20]) for read in (0, 29, 30, 50, 60, 99)] == [
        0, 0, 1, 2, 2, 2
    ]  # fmt: skip
    assert files_within(5, []) == 0
