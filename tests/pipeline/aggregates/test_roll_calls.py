"""Roll calls to the table `brokers`."""

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


def told(number: int, **more: Any) -> str:
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


def read_rolls(spark: SparkSession, tables: Path, *files: Path, **settings: Any) -> Counts:
    return read(spark, tables, *files, record_type=ROLL_CALLS, **settings).counts


def brokers(tables: Path) -> list[dict[str, Any]]:
    names = [column.name for column in TABLES["brokers"].columns]
    return [dict(zip(names, row, strict=True)) for row in rows(tables, "brokers")]


def test_of_a_log_it_is_said_which_command_reads_it(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(NotALogError, match="3 of 3 lines were rejected") as error:
        read_rolls(spark, tmp_path / "tables", put(tmp_path / "kafka.log", lines(3)))
    assert "rollcall pipeline run" in (error.value.hint or "")
    assert "--layout" not in (error.value.hint or "")  # it has no such option


def test_each_broker_and_roll_call_is_a_row(spark: SparkSession, tmp_path: Path) -> None:
    silent = {
        "software": {"provenance": "missing"},
        "start_time": {"ms": None},
        "api_versions": None,
    }
    dead = told(0, id=2, host="10.1.0.10", controller=False, failure="refused", **silent)
    tables, file = tmp_path / "tables", tmp_path / "rolls.jsonl"
    counts = read_rolls(spark, tables, put(file, told(0) + dead, age=0))
    assert (counts.lines, counts.rejected) == (2, 0)
    first, second = sorted(brokers(tables), key=lambda row: row["node_id"])
    assert (first["broker"], first["cluster"], first["source"]) == ("10.1.0.9", "abc", "roll call")
    assert (first["software_version"], first["software_source"]) == ("0.1.0", "reported")
    assert [each["api_key"] for each in first["ranges"]] == [0, 3, 18]
    assert str(first["start_time"]) == "2026-02-25 06:13:20"
    assert (second["failure"], second["start_time"], second["ranges"]) == ("refused", None, None)


def test_a_file_that_grew_is_continued(spark: SparkSession, tmp_path: Path) -> None:
    tables, file = tmp_path / "tables", tmp_path / "rolls.jsonl"
    for count in (1, 3):
        text = "".join(told(number) for number in range(count))
        read_rolls(spark, tables, put(file, text, age=0), cluster="prod")
    (row,) = brokers(tables)
    assert (row["cluster"], row["answers"]) == ("prod", 3)
    assert (row["last_seen"] - row["first_seen"]).total_seconds() == 120


def test_a_broker_that_answers_differently_is_another_row(
    spark: SparkSession, tmp_path: Path
) -> None:
    text = told(0) + told(1, failure="refused") + told(2) + told(3, start_time={"ms": 1})
    read_rolls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text, age=0))
    assert sorted(row["answers"] for row in brokers(tmp_path / "tables")) == [1, 1, 2]


def test_536_5_every_start_time_is_kept_with_when_it_was_first_and_last_told(
    spark: SparkSession, tmp_path: Path
) -> None:
    later = {"ms": 1_772_359_260_000, "provenance": "reported"}
    text = told(0) + told(1) + told(2, start_time=later) + told(5, start_time=later)
    read_rolls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text, age=0))
    seen = sorted(
        (str(row["start_time"]), row["first_seen"].minute, row["last_seen"].minute)
        for row in brokers(tmp_path / "tables")
    )
    assert seen == [("2026-02-25 06:13:20", 0, 1), ("2026-03-01 10:01:00", 2, 5)]


def test_a_line_of_something_else_is_rejected(spark: SparkSession, tmp_path: Path) -> None:
    text = told(0) + '{"format": "rollcall-broker/9"}\n' + told(1) + "no JSON\n" + told(2)
    counts = read_rolls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text))
    assert (counts.lines, counts.skipped, counts.rejected) == (5, 3, 2)
    assert counts.reasons == {"not a line of a roll call": 2}


@pytest.mark.parametrize("between", ["", " ", "\r"])
def test_two_on_one_line_are_told(spark: SparkSession, tmp_path: Path, between: str) -> None:
    text = told(0) + told(1).strip() + between + told(2) + told(3)
    counts = read_rolls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text))
    assert (counts.lines, counts.skipped, counts.rejected) == (3, 2, 1)
    assert counts.reasons == {"two roll calls on one line, with no newline between them": 1}


def test_a_text_that_looks_like_two_is_one(spark: SparkSession, tmp_path: Path) -> None:
    text = told(0, rack='"}{"format":"rollcall-broker/2"}')
    counts = read_rolls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text))
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
def test_a_damaged_line_is_rejected_and_the_others_are_read(
    spark: SparkSession, tmp_path: Path, damage: dict[str, Any]
) -> None:
    text = told(0) + told(1, **damage) + told(2)
    counts = read_rolls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text))
    assert (counts.skipped, counts.rejected) == (2, 1)
    (row,) = brokers(tmp_path / "tables")
    assert row["answers"] == 2


def test_a_range_may_end_anywhere(spark: SparkSession, tmp_path: Path) -> None:
    highest = 2**31 - 1
    text = told(0, api_versions={"ranges": {str(highest): [highest, highest]}})
    counts = read_rolls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text))
    assert (counts.skipped, counts.rejected) == (1, 0)


@pytest.mark.parametrize("start", [2**63 - 1, -(2**63), 10**16])
def test_536_4_a_start_time_beyond_the_calendar_is_none(
    spark: SparkSession, tmp_path: Path, start: int
) -> None:
    text = told(0, start_time={"ms": start, "provenance": "reported"})
    read_rolls(spark, tmp_path / "tables", put(tmp_path / "rolls.jsonl", text))
    (row,) = brokers(tmp_path / "tables")
    assert row["start_time"] is None


def test_a_rejected_line_shows_no_secret_and_no_bytes_that_are_no_text(
    spark: SparkSession, tmp_path: Path
) -> None:
    wrong = b'\xff\xfesasl.jaas.config=password="hunter2" \xc3\xa9\n'
    file = tmp_path / "rolls.jsonl"
    file.write_bytes(told(0).encode() + wrong + told(1).encode())
    read_rolls(spark, tmp_path / "tables", file)
    names = [column.name for column in TABLES["rejects"].columns]
    (row,) = rows(tmp_path / "tables", "rejects")
    reject = dict(zip(names, row, strict=True))
    assert "hunter" not in reject["piece"]
    assert reject["length"] == len(wrong) - 1
