"""What a batch tells of its rejects."""

from pyspark.sql import SparkSession

from rollcall.pipeline.jobs.batch import Example, summarise


def test_the_commonest_reasons_come_first_each_with_its_first_line(spark: SparkSession) -> None:
    rows = [("b", 7, "odd", "x"), ("a", 9, "odd", "y"), ("a", 2, "half", "z"), ("a", 12, "odd", "")]
    columns = "file STRING, line BIGINT, reason STRING, piece STRING"
    examples, reasons = summarise(spark.createDataFrame(rows, columns))
    assert reasons == {"odd": 3, "half": 1}
    assert examples == (Example("odd", "a", 9, "y"), Example("half", "a", 2, "z"))
