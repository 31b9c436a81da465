"""The pipeline's tables equal those of an independent reader, however lines are split into tasks.

The logs are 100,000 generated lines of all forms, real logs of nine releases, and hostile lines.
"""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rollcall.loggen import GenerateSettings, generate_logs
from tests.pipeline.parsing.hostile_lines import write_hostile_log
from tests.pipeline.parsing.reference_reader import Tables, read_files
from tests.pipeline.read_tables import pipeline_run, rows_of, stream_triggers, sums_of
from tests.pipeline.running import spark_settings

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

REAL = Path(__file__).parents[2] / "data" / "logs"
CLUSTER = "test"


@pytest.fixture(scope="module")
def spark(compiling_spark: SparkSession) -> SparkSession:
    return compiling_spark


@pytest.fixture(scope="module")
def logs(
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
    pytestconfig: pytest.Config,
) -> list[Path]:
    directory = tmp_path_factory.mktemp("mixed")
    lines = pytestconfig.getoption("--mixed-lines")
    generate_logs(spark, GenerateSettings(lines=lines, brokers=13), str(directory / "made"))
    made = sorted((directory / "made").glob("broker-*/*"))
    return [*made, *sorted(REAL.glob("*.gz")), write_hostile_log(directory / "hostile.log")]


@pytest.fixture(scope="module")
def expected(logs: list[Path]) -> Tables:
    return read_files(logs, cluster=CLUSTER)


@pytest.fixture(scope="module")
def tables(spark: SparkSession, logs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tables") / "in-order"
    pipeline_run(spark, directory, logs)
    return directory


def test_usage_equals_the_reference(tables: Path, expected: Tables) -> None:
    found = sums_of(tables, "usage")
    assert found.keys() - expected.usage.keys() == set()
    assert expected.usage.keys() - found.keys() == set()
    different = {key: (found[key], row) for key, row in expected.usage.items() if found[key] != row}
    assert different == {}


def test_connections_equal_the_reference(tables: Path, expected: Tables) -> None:
    found = {
        (row["cluster"], row["broker"], row["connection"]): _seen(row)
        for row in rows_of(tables, "connections")
    }
    merged: dict[tuple[Any, ...], dict[str, Any]] = {}
    for (cluster, broker, connection, *_), row in expected.connections.items():
        key = (cluster, broker, connection)
        merged[key] = _both(merged[key], row) if key in merged else _seen(row)
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


def test_observed_brokers_equal_the_reference(tables: Path, expected: Tables) -> None:
    found = {
        (
            row["hour"],
            row["cluster"],
            row["broker"],
            row["listener"],
            tuple(
                (one["api_key"], one["min_version"], one["max_version"]) for one in row["ranges"]
            ),
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


def test_stream_in_another_order_and_partitioning_gives_the_same_tables(
    spark: SparkSession, logs: list[Path], tables: Path, tmp_path: Path
) -> None:
    other_settings = {
        "spark.sql.files.maxPartitionBytes": "300k",
        "spark.sql.shuffle.partitions": "7",
    }
    other = tmp_path / "other"
    with spark_settings(spark, other_settings):
        stream_triggers(spark, other, [logs[1::2][::-1], logs[::2]])
    assert sums_of(other, "usage") == sums_of(tables, "usage")
    for table in ("connections", "brokers", "rejects"):
        assert _as_set(other, table) == _as_set(tables, table), table


def _as_set(directory: Path, table: str) -> set[str]:
    return {repr(sorted(row.items())) for row in rows_of(directory, table)}
