"""Lines to requests, skipped lines and rejects.

A line goes through two steps. `cut_lines` finds its frame and cuts it at the marks between its
parts, cheaply, line by line. `read_cuts` reads what the parts say. Between the two, lines that
agree in all parts can be counted as one (`sums`), so that most lines need not be read.
`parse_lines` is both steps with nothing between: one row per line.

Nothing here filters: Spark would move a filter on what was parsed below the parsing, and parse
twice. `outcome` and `reason` say what became of each line.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollcall.pipeline.parsing.fields import ranges_of, read_cuts
from rollcall.pipeline.parsing.schema import PARSED, SourceSettings, typed
from rollcall.pipeline.parsing.split import cut_lines


def parse_lines(lines: DataFrame, settings: SourceSettings) -> DataFrame:
    cuts = lines.transform(cut_lines, settings).withColumn("time", utc(F.col("instant")))
    read = cuts.transform(read_cuts, settings).withColumn("ranges", ranges_of(F.col("answer")))
    return read.selectExpr(*typed(PARSED))


def utc(micros: Column) -> Column:
    """A time without a zone, whatever the session's zone is."""
    epoch = F.lit("1970-01-01 00:00:00").cast("timestamp_ntz")
    return F.timestamp_add("MICROSECOND", micros, epoch)
