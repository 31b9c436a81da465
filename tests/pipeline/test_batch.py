"""What a batch tells of its rejects."""

from pyspark.sql import SparkSession

from rollcall.pipeline.batch import Example, summarise


def test_a_row_of_rejects_may_stand_for_several_lines(spark: SparkSession) -> None:
    rows = [("b", 7, "odd", "x", 1), ("a", 9, "odd", "y", 2), ("a", 2, "half", "z", 9)]
    columns = "file STRING, line BIGINT, reason STRING, piece STRING, lines BIGINT"
    examples, reasons = summarise(spark.createDataFrame(rows, columns))
    assert reasons == {"half": 9, "odd": 3}
    assert examples == (Example("half", "a", 2, "z"), Example("odd", "a", 9, "y"))
    _, by_row = summarise(spark.createDataFrame(rows, columns).drop("lines"))
    assert by_row == {"odd": 2, "half": 1}
