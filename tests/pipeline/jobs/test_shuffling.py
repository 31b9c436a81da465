"""A batch is planned for its size, and nothing else of the session changes."""

from contextlib import suppress
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.jobs.shuffling import ADAPTIVE, PARTS, count_parts, fixed_partitions
from rollcall.tables.folder import read_tables
from rollcall.tables.stores import LocalStore
from tests.pipeline.running import lines, put, read, spark_settings

MB, GB = 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("log_bytes", "cores", "parts"),
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
def test_a_batch_has_a_part_for_each_core_that_is_worth_it_and_for_each_gigabyte(
    log_bytes: int, cores: int, parts: int
) -> None:
    assert count_parts(log_bytes, cores) == parts


def settings(spark: SparkSession) -> tuple[str | None, str | None]:
    return spark.conf.get(ADAPTIVE), spark.conf.get(PARTS)


def test_what_a_session_of_ours_begins_with_is_back_after_a_batch_that_fails(
    one_session: SparkSession,
) -> None:
    during = None
    with suppress(ValueError), fixed_partitions(one_session, 3 * GB):
        during = settings(one_session)
        raise ValueError("a batch that fails")
    assert during == ("false", "3")
    assert settings(one_session) == ("true", "8")


@pytest.mark.parametrize("theirs", [{PARTS: "7"}, {ADAPTIVE: "false"}])
def test_what_a_user_has_set_stays(one_session: SparkSession, theirs: dict[str, str]) -> None:
    with spark_settings(one_session, theirs):
        before = settings(one_session)
        with fixed_partitions(one_session, 3 * GB):
            assert settings(one_session) == before


def test_a_small_batch_writes_one_file_for_each_table(
    one_session: SparkSession, tmp_path: Path
) -> None:
    log = put(tmp_path / "kafka-request.log.2026-03-01-10", lines(200))
    read(one_session, tmp_path / "tables", log)
    (manifest,) = read_tables(LocalStore(tmp_path / "tables")).live
    assert {len(parts) for parts in manifest.parts.values()} == {1}
