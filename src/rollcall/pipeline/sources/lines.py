"""Files to a DataFrame of lines, and positions to line numbers.

Spark splits a large file into blocks, packs small files together and numbers rows per task. So
`position` is consecutive only within one block of one file. The number of a line is known when the
lines of the blocks before it have been counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from rollcall.pipeline.parsing import LINES


def read_lines(
    spark: SparkSession, paths: Sequence[str], *, cluster: str | None, broker: str | None
) -> DataFrame:
    """Lines (LINES) of these paths, which are not expanded as patterns.

    Only a newline ends a line; Spark's default would also split at a carriage return."""
    text = spark.read.option("lineSep", "\n").option("__globPaths__", "false").text(list(paths))
    return text.select(
        "value",
        F.input_file_name().alias("file"),
        F.monotonically_increasing_id().alias("position"),
        F.lit(cluster).cast("string").alias("cluster"),
        F.lit(broker).cast("string").alias("broker"),
        F.input_file_block_start().alias("block"),
    ).select(*LINES.names)


def with_line_numbers(rejects: DataFrame, blocks: DataFrame) -> DataFrame:
    """Add `line`, counted from 1 in the part of the file that was read."""
    before = Window.partitionBy("file").orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
    bases = blocks.select(
        "file",
        "block",
        F.col("first_position").alias("base"),
        F.coalesce(F.sum("lines").over(before), F.lit(0)).alias("before"),
    )
    number = F.col("position") - F.col("base") + F.col("before") + 1
    return rejects.join(F.broadcast(bases), ["file", "block"]).withColumn("line", number)
