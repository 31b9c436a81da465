"""One batch: summary of rejects, number of shuffle partitions."""

from contextlib import suppress
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.jobs.batch import (
    ADAPTIVE,
    PARTITIONS,
    RejectExample,
    count_partitions,
    fixed_partitions,
    summarise,
)
from rollcall.tables.folder import read_tables
from rollcall.tables.stores import LocalStore
from tests.pipeline.running import lines, put, read, spark_settings

MB, GB = 1 << 20, 1 << 30


def test_reasons_are_sorted_by_frequency_with_their_first_line(one_session: SparkSession) -> None:
    rows = [("b", 7, "odd", "x"), ("a", 9, "odd", "y"), ("a", 2, "half", "z"), ("a", 12, "odd", "")]
    columns = "file STRING, line BIGINT, reason STRING, piece STRING"
    examples, reasons = summarise(one_session.createDataFrame(rows, columns))
    assert reasons == {"odd": 3, "half": 1}
    assert examples == (RejectExample("odd", "a", 9, "y"), RejectExample("half", "a", 2, "z"))


@pytest.mark.parametrize(
    ("log_bytes", "cores", "partitions"),
    [
        (0, 8, 1),
        (MB, 8, 1),
        (200 * MB, 8, 3),
        (2 * GB, 1, 2),
        (2 * GB, 2, 2),
        (2 * GB, 64, 32),
        (16 * GB, 2, 16),
    ],
)
def test_partitions_grow_with_64_mb_per_core_and_with_gigabytes(
    log_bytes: int, cores: int, partitions: int
) -> None:
    assert count_partitions(log_bytes, cores) == partitions


def settings(spark: SparkSession) -> tuple[str | None, str | None]:
    return spark.conf.get(ADAPTIVE), spark.conf.get(PARTITIONS)


def test_settings_are_restored_after_a_batch_that_fails(
    one_session: SparkSession,
) -> None:
    during = None
    with suppress(ValueError), fixed_partitions(one_session, 3 * GB):
        during = settings(one_session)
        raise ValueError("a batch that fails")
    assert during == ("false", "3")
    assert settings(one_session) == ("true", "8")


@pytest.mark.parametrize("user_settings", [{PARTITIONS: "7"}, {ADAPTIVE: "false"}])
def test_settings_of_the_user_are_not_changed(
    one_session: SparkSession, user_settings: dict[str, str]
) -> None:
    with spark_settings(one_session, user_settings):
        before = settings(one_session)
        with fixed_partitions(one_session, 3 * GB):
            assert settings(one_session) == before


def test_small_batch_writes_one_file_per_table(one_session: SparkSession, tmp_path: Path) -> None:
    log = put(tmp_path / "kafka-request.log.2026-03-01-10", lines(200))
    read(one_session, tmp_path / "tables", log)
    (manifest,) = read_tables(LocalStore(tmp_path / "tables")).live
    assert {len(parts) for parts in manifest.parts.values()} == {1}
