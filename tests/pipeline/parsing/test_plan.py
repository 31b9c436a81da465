"""Spark's plan from lines to sums: traps that cost several times the CPU and change no result."""

import re
from contextlib import redirect_stdout
from io import StringIO

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.aggregates.requests import sum_lines
from rollcall.pipeline.parsing import LINES, SourceSettings
from tests.pipeline.running import spark_settings

ONE_COMPLETE_PLAN = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.debug.maxToStringFields": "1000",
}


@pytest.fixture(
    params=[
        SourceSettings(),
        SourceSettings(time_zone="Asia/Kolkata", inter_broker=("REPLICATION", "User:kafka")),
        SourceSettings(layout="%d{ISO8601} %p %m (%c) [%t]%n"),
    ],
    ids=["default", "zone", "layout"],
)
def plan(compiling_spark: SparkSession, request: pytest.FixtureRequest) -> str:
    lines = compiling_spark.createDataFrame([("x", "log", 0, 0, "blue", None)], LINES)
    printed = StringIO()
    with spark_settings(compiling_spark, ONE_COMPLETE_PLAN), redirect_stdout(printed):
        sum_lines(lines, request.param).explain("codegen")
    return printed.getvalue()


def operators(plan: str) -> str:
    """The operators, one per line. Each generated class is printed with all operators below it."""
    return "\n".join(
        set(re.findall(r"^[ :+|-]*(?:\*\(\d+\) )?([A-Z]\w+[ (].*)$", plan, re.MULTILINE))
    )


def test_generated_methods_are_small_enough_to_be_compiled(plan: str) -> None:
    sizes = [int(size) for size in re.findall(r"maxMethodCodeSize:(\d+)", plan)]
    assert len(sizes) >= 2
    assert max(sizes) < 8_000


def test_no_line_is_parsed_twice(plan: str) -> None:
    found = operators(plan)
    assert found.count('},"request":, 1)') == 1
    assert found.count(',"connection":", -1)') == 1
    assert found.count(" from c, -1)") == 1
    assert found.count("from_json(") == 1
    assert "Filter" not in found


def test_aggregation_does_not_sort(plan: str) -> None:
    assert "HashAggregate" in plan
    assert "Sort" not in operators(plan)
