"""Rows of the driver as a DataFrame."""

from datetime import datetime

from pyspark.sql import SparkSession

from rollcall.pipeline.jobs.write import small_frame


def test_small_frame_needs_no_python_on_the_workers(spark: SparkSession) -> None:
    columns = {"file": "STRING", "lines": "BIGINT", "at": "TIMESTAMP_NTZ"}
    time = datetime(2026, 3, 1, 10, 20, 30, 123456)  # noqa: DTZ001 - UTC
    odd = 'caf\u00e9 "it\'s" \\ $1 \U0001f69a\n'
    frame = small_frame(spark, columns, [{"file": odd, "lines": 1 << 40, "at": time}, {"lines": 0}])
    assert [tuple(row) for row in frame.collect()] == [(odd, 1 << 40, time), (None, 0, None)]
    assert [(field.name, field.dataType.simpleString()) for field in frame.schema] == [
        (name, type_.lower()) for name, type_ in columns.items()
    ]
    plan = frame._jdf.queryExecution().executedPlan().toString()  # type: ignore[operator]
    assert "ExistingRDD" not in plan


def test_small_frame_of_no_rows_is_empty(spark: SparkSession) -> None:
    assert small_frame(spark, {"file": "STRING"}, []).collect() == []
