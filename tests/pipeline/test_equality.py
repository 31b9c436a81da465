"""The tables are what a plain reader counts, however the lines are cut into files and tasks.

The logs are mixed: 100,000 generated lines of all forms, real ones of nine releases, and lines
made to mislead a reader.
"""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.generate import GenerateSettings, generate_logs
from tests.pipeline.hostile_lines import write_hostile_log
from tests.pipeline.read_tables import pipeline_run, rows_of, sums_of
from tests.pipeline.reference_reader import Tables, read_files

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

REAL = Path(__file__).parents[1] / "data" / "logs"
LINES = 100_000
CLUSTER = "test"


@pytest.fixture(scope="module")
def logs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("mixed")
    generate_logs(spark, GenerateSettings(lines=LINES, brokers=13), str(folder / "made"))
    made = sorted((folder / "made").glob("broker-*/*"))
    return [*made, *sorted(REAL.glob("*.gz")), write_hostile_log(folder / "hostile.log")]


@pytest.fixture(scope="module")
def expected(logs: list[Path]) -> Tables:
    return read_files(logs, cluster=CLUSTER)


@pytest.fixture(scope="module")
def tables(spark: SparkSession, logs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables") / "in-order"
    pipeline_run(spark, folder, logs)
    return folder


def test_usage_is_what_the_plain_reader_counts(tables: Path, expected: Tables) -> None:
    found = sums_of(tables, "usage")
    assert found.keys() - expected.usage.keys() == set()
    assert expected.usage.keys() - found.keys() == set()
    different = {key: (found[key], row) for key, row in expected.usage.items() if found[key] != row}
    assert different == {}


def test_connections_are_what_the_plain_reader_counts(tables: Path, expected: Tables) -> None:
    found = {
        (row["cluster"], row["broker"], row["connection"]): _seen(row)
        for row in rows_of(tables, "connections")
    }
    merged: dict[tuple[Any, ...], dict[str, Any]] = {}
    for (cluster, broker, connection, *_), row in expected.connections.items():
        place = (cluster, broker, connection)
        merged[place] = _both(merged[place], row) if place in merged else _seen(row)
    assert found.keys() == merged.keys()
    assert {key for key, row in merged.items() if found[key] != row} == set()


def _both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {
        "requests": one["requests"] + other["requests"],
        "first_seen": min(one["first_seen"], other["first_seen"]),
        "last_seen": max(one["last_seen"], other["last_seen"]),
    }


def _seen(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("requests", "first_seen", "last_seen")}


def test_brokers_are_heard_as_the_plain_reader_hears_them(tables: Path, expected: Tables) -> None:
    found = {
        (
            row["hour"],
            row["cluster"],
            row["broker"],
            row["listener"],
            tuple((it["api_key"], it["min_version"], it["max_version"]) for it in row["ranges"]),
        ): {name: row[name] for name in ("answers", "first_seen", "last_seen")}
        for row in rows_of(tables, "brokers")
    }
    assert found == expected.brokers


def test_every_line_is_a_request_skipped_or_rejected(tables: Path, expected: Tables) -> None:
    rejects = {(row["file"], row["line"]) for row in rows_of(tables, "rejects")}
    assert rejects == expected.rejects
    names = ("lines", "requests", "skipped", "rejected")
    found = {row["file"]: tuple(row[name] for name in names) for row in rows_of(tables, "files")}
    assert found == {
        file: tuple(counts[name] for name in names) for file, counts in expected.files.items()
    }


def test_any_order_of_files_and_any_cut_give_the_same_tables(
    spark: SparkSession, logs: list[Path], tables: Path, tmp_path: Path
) -> None:
    size, tasks = "spark.sql.files.maxPartitionBytes", "spark.sql.shuffle.partitions"
    before = {name: spark.conf.get(name) for name in (size, tasks)}
    spark.conf.set(size, "300k")
    spark.conf.set(tasks, "7")
    try:
        for part in (logs[1::2][::-1], logs[::2]):
            pipeline_run(spark, tmp_path / "other", part)
    finally:
        for name, value in before.items():
            spark.conf.set(name, str(value))
    assert sums_of(tmp_path / "other", "usage") == sums_of(tables, "usage")
    for table in ("connections", "brokers", "rejects"):
        assert _as_set(tmp_path / "other", table) == _as_set(tables, table), table


def _as_set(folder: Path, table: str) -> set[str]:
    return {repr(sorted(row.items())) for row in rows_of(folder, table)}
