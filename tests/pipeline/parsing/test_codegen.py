"""Java never compiles a method of more than 8,000 bytes of code: each line would then cost many
times as much, and no other test would tell."""

import re
from contextlib import redirect_stdout
from io import StringIO

import pytest
from pyspark.sql import SparkSession

from rollcall.pipeline.aggregates import requests as sums
from rollcall.pipeline.parsing import LINES, SourceSettings
from tests.pipeline.running import spark_settings

LARGEST_METHOD = 8_000


@pytest.mark.parametrize(
    "settings",
    [
        SourceSettings(),
        SourceSettings(time_zone="Asia/Kolkata", inter_broker=("REPLICATION", "User:kafka")),
        SourceSettings(layout="%d{ISO8601} %p %m (%c) [%t]%n"),
    ],
    ids=["default", "zone", "layout"],
)
def test_every_step_from_lines_to_sums_can_be_compiled(
    compiling_spark: SparkSession, settings: SourceSettings
) -> None:
    lines = compiling_spark.createDataFrame([("x", "log", 0, 0, "blue", None)], LINES)
    told = StringIO()
    one_plan = {"spark.sql.adaptive.enabled": "false"}
    with spark_settings(compiling_spark, one_plan), redirect_stdout(told):
        sums.sum_lines(lines, settings).explain("codegen")
    sizes = [int(size) for size in re.findall(r"maxMethodCodeSize:(\d+)", told.getvalue())]
    assert len(sizes) >= 3
    assert max(sizes) < LARGEST_METHOD
