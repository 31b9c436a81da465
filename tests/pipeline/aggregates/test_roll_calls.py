"""Roll calls to rows of the table `brokers`."""

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.aggregates import ROLL_CALLS
from rollcall.pipeline.errors import NotALogError
from rollcall.tables.columns import TABLES
from rollcall.tables.manifests import Counts
from tests.pipeline.running import lines, put, read, rows


def roll_call(number: int, **more: Any) -> str:
    """A line as `rollcall brokers --output` appends it."""
    line = {
        "format": "rollcall-broker/2",
        "time_ms": 1_772_359_200_000 + number * 60_000,
        "cluster_id": "abc",
        "controller_id": 1,
        "id": 1,
        "host": "10.1.0.9",
        "port": 9092,
        "rack": "r1",
        "controller": True,
        "answered": True,
        "failure": None,
        "software": {
            "name": "rollcall", "version": "0.1.0", "provenance": "reported", "candidates": [],
        },
        "start_time": {"ms": 1_772_000_000_000, "provenance": "reported"},
        "api_versions": {"ranges": {"18": [0, 4], "3": [0, 13], "0": [3, 13]}},
    }  # fmt: skip
    return json.dumps(line | more) + "\n"


def read_roll_calls(spark: SparkSession, tables: Path, *files: Path, **settings: Any) -> Counts:
    return read(spark, tables, *files, record_type=ROLL_CALLS, **settings).counts


def brokers(tables: Path) -> list[dict[str, Any]]:
    names = [column.name for column in TABLES["brokers"].columns]
    return [dict(zip(names, row, strict=True)) for row in rows(tables, "brokers")]


def test_request_log_is_refused_with_the_command_that_reads_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(NotALogError, match="3 of 3 lines were rejected") as error:
        read_roll_calls(spark, tmp_path / "tables", put(tmp_path / "kafka.log", lines(3)))
    assert "rollcall pipeline run" in (error.value.hint or "")
    assert "--layout" not in (error.value.hint or "")  # it has no such option


def test_each_broker_is_a_row(spark: SparkSession, tmp_path: Path) -> None:
    unknown = {
        "software": {"provenance": "missing"},
        "start_time": {"ms": None},
        "api_versions": None,
    }
    stopped = roll_call(0, id=2, host="10.1.0.10", controller=False, failure="refused", **unknown)
    tables, file = tmp_path / "tables", tmp_path / "rolls.jsonl"
    counts = read_roll_calls(spark, tables, put(file, roll_call(0) + stopped, age=0))
    assert (counts.lines, counts.rejected) == (2, 0)
    first, second = sorted(brokers(tables), key=lambda row: row["node_id"])
    assert (first["broker"], first["cluster"], first["source"]) == ("10.1.0.9", "abc", "roll call")
    assert (first["software_version"], first["software_source"]) == ("0.1.0", "reported")
    assert [api["api_key"] for api in first["ranges"]] == [0, 3, 18]
    assert str(first["start_time"]) == "2026-02-25 06:13:20"
    assert (second["failure"], second["start_time"], second["ranges"]) == ("refused", None, None)


def test_file_that_grew_is_continued(spark: SparkSession, tmp_path: Path) -> None:
    tables, file = tmp_path / "tables", tmp_path / "rolls.jsonl"
    for count in (1, 3):
        text = "".join(roll_call(number) for number in range(count))
        read_roll_calls(spark, tables, put(file, text, age=0), cluster="prod")
    (row,) = brokers(tables)
    assert (row["cluster"], row["answers"]) == ("prod", 3)
    assert (row["last_seen"] - row["first_seen"]).total_seconds() == 120


def test_changed_broker_is_another_row(spark: SparkSession, tmp_path: Path) -> None:
    text = (
        roll_call(0)
        + roll_call(1, failure="refused")
        + roll_call(2)
        + roll_call(3, start_time={"ms": 1})
    )
    read_roll_calls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text, age=0))
    assert sorted(row["answers"] for row in brokers(tmp_path / "tables")) == [1, 1, 2]


def test_536_5_every_start_time_has_first_and_last_seen(
    spark: SparkSession, tmp_path: Path
) -> None:
    later = {"ms": 1_772_359_260_000, "provenance": "reported"}
    text = (
        roll_call(0)
        + roll_call(1)
        + roll_call(2, start_time=later)
        + roll_call(5, start_time=later)
    )
    read_roll_calls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text, age=0))
    seen = sorted(
        (str(row["start_time"]), row["first_seen"].minute, row["last_seen"].minute)
        for row in brokers(tmp_path / "tables")
    )
    assert seen == [("2026-02-25 06:13:20", 0, 1), ("2026-03-01 10:01:00", 2, 5)]


def test_other_line_is_rejected(spark: SparkSession, tmp_path: Path) -> None:
    text = (
        roll_call(0)
        + '{"format": "rollcall-broker/9"}\n'
        + roll_call(1)
        + "not JSON\n"
        + roll_call(2)
    )
    counts = read_roll_calls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text))
    assert (counts.lines, counts.skipped, counts.rejected) == (5, 3, 2)
    assert counts.reasons == {"not a line of a roll call": 2}


@pytest.mark.parametrize("between", ["", " ", "\r"])
def test_two_roll_calls_on_one_line_are_rejected(
    spark: SparkSession, tmp_path: Path, between: str
) -> None:
    text = roll_call(0) + roll_call(1).strip() + between + roll_call(2) + roll_call(3)
    counts = read_roll_calls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text))
    assert (counts.lines, counts.skipped, counts.rejected) == (3, 2, 1)
    assert counts.reasons == {"two roll calls on one line, with no newline between them": 1}


def test_text_that_looks_like_two_roll_calls_is_one(spark: SparkSession, tmp_path: Path) -> None:
    text = roll_call(0, rack='"}{"format":"rollcall-broker/2"}')
    counts = read_roll_calls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text))
    assert (counts.skipped, counts.rejected) == (1, 0)


@pytest.mark.parametrize(
    "damage",
    [
        {"api_versions": {"ranges": {"abc": [0, 13]}}},
        {"api_versions": {"ranges": {"3": [0]}}},
        {"api_versions": {"ranges": {"3": None}}},
        {"time_ms": 2**63 - 1},
        {"time_ms": 10**16},
        {"time_ms": -(10**14)},
    ],
)
def test_damaged_line_is_rejected_and_others_are_read(
    spark: SparkSession, tmp_path: Path, damage: dict[str, Any]
) -> None:
    text = roll_call(0) + roll_call(1, **damage) + roll_call(2)
    counts = read_roll_calls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text))
    assert (counts.skipped, counts.rejected) == (2, 1)
    (row,) = brokers(tmp_path / "tables")
    assert row["answers"] == 2


def test_range_can_end_at_the_largest_integer(spark: SparkSession, tmp_path: Path) -> None:
    highest = 2**31 - 1
    text = roll_call(0, api_versions={"ranges": {str(highest): [highest, highest]}})
    counts = read_roll_calls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text))
    assert (counts.skipped, counts.rejected) == (1, 0)


@pytest.mark.parametrize("start", [2**63 - 1, -(2**63), 10**16])
def test_536_4_start_time_beyond_9999_is_null(
    spark: SparkSession, tmp_path: Path, start: int
) -> None:
    text = roll_call(0, start_time={"ms": start, "provenance": "reported"})
    read_roll_calls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text))
    (row,) = brokers(tmp_path / "tables")
    assert row["start_time"] is None


def test_rejected_line_shows_no_secret_and_no_invalid_utf8(
    spark: SparkSession, tmp_path: Path
) -> None:
    wrong = b'\xff\xfesasl.jaas.config=password="hunter2" \xc3\xa9\n'
    file = tmp_path / "rolls.jsonl"
    file.write_bytes(roll_call(0).encode() + wrong + roll_call(1).encode())
    read_roll_calls(spark, tmp_path / "tables", file)
    names = [column.name for column in TABLES["rejects"].columns]
    (row,) = rows(tmp_path / "tables", "rejects")
    reject = dict(zip(names, row, strict=True))
    assert "hunter" not in reject["piece"]
    assert reject["length"] == len(wrong) - 1
