"""Parser of Kafka request logs: lines to requests, skipped lines and rejects (Spark columns).

It does not read files (`pipeline.sources`) and does not sum (`pipeline.aggregates`).

Modules, in reading order:

    schema       columns between the stages, outcomes, settings of a source
    layout       log4j pattern of a line, compiled to regular expressions
    prefix       timestamp, level and logger of a line
    split        a line to its parts
    fields       parts to the columns of a request
    json_format  forms H to J (Kafka 2.8 and later)
    text_format  forms A to G (Kafka 0.8 to 2.7)
    expressions  column expressions that several modules use
    codegen      limits the size of generated Java methods

Stages are joined by `parse_lines`, one row per line. `aggregates.requests` counts lines between
`split` and `fields`. No stage filters: Spark would move a filter on a parsed column below the
stage, which would then run twice per line.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from rollcall.pipeline.parsing.expressions import to_timestamp
from rollcall.pipeline.parsing.fields import read_fields, read_ranges
from rollcall.pipeline.parsing.layout import DEFAULT_PATTERN
from rollcall.pipeline.parsing.prefix import PREFIX, read_prefix
from rollcall.pipeline.parsing.schema import (
    LINES,
    PARSED,
    PARTS,
    REJECTED,
    REQUEST,
    SKIPPED,
    SUMS,
    SourceSettings,
    cast_as,
    typed,
)
from rollcall.pipeline.parsing.split import split_lines

__all__ = [
    "DEFAULT_PATTERN",
    "LINES",
    "PARSED",
    "PARTS",
    "PREFIX",
    "REJECTED",
    "REQUEST",
    "SKIPPED",
    "SUMS",
    "SourceSettings",
    "cast_as",
    "parse_lines",
    "read_fields",
    "read_prefix",
    "read_ranges",
    "split_lines",
    "to_timestamp",
    "typed",
]


def parse_lines(lines: DataFrame, settings: SourceSettings) -> DataFrame:
    """LINES to PARSED: one row per line, whatever its outcome."""
    return (
        lines.transform(read_prefix, settings)
        .transform(split_lines)
        .transform(read_fields, settings)
        .withColumns(
            {
                "time": to_timestamp(F.col("instant")),
                "ranges": read_ranges(F.col("ranges_text")),
            }
        )
        .selectExpr(*typed(PARSED))
    )
