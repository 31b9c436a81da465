"""Files to lines, and positions to line numbers.

Spark cuts a large file into blocks, packs small ones together, and counts rows per task. So
`position` is consecutive inside one block of one file, and nothing more; a line's number is known
when the lines of the blocks before it have been counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from rollcall.pipeline.parsing import LINES


def read_lines(
    spark: SparkSession, paths: Sequence[str], *, cluster: str | None, broker: str | None
) -> DataFrame:
    """A line ends with a newline, and nothing else; paths are no patterns."""
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
    """Rejects with `line`, counted from 1 in what was read of the file."""
    before = Window.partitionBy("file").orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
    bases = blocks.select(
        "file",
        "block",
        F.col("first_position").alias("base"),
        F.coalesce(F.sum("lines").over(before), F.lit(0)).alias("before"),
    )
    number = F.col("position") - F.col("base") + F.col("before") + 1
    return rejects.join(F.broadcast(bases), ["file", "block"]).withColumn("line", number)
