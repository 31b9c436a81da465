"""Parts of a request line, without a look into most of its bodies.

This stage runs once per line, so it decides what a line costs. What it leaves is the same for many
lines, which `fields` reads once for all of them.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from rollcall.pipeline.parsing import json_format, text_format
from rollcall.pipeline.parsing.codegen import in_new_method
from rollcall.pipeline.parsing.expressions import micros, throttle_micros
from rollcall.pipeline.parsing.schema import JSON, SPLIT
from rollcall.pipeline.parsing.text_format import UNKNOWN_FORM


def split_lines(lines: DataFrame) -> DataFrame:
    """PREFIXED to SPLIT."""
    json, text = json_format.parts(), text_format.parts()
    is_json = F.col("format") == JSON
    is_unknown = F.col("format").isNotNull() & F.col("form").isNull()
    return (
        lines.transform(in_new_method)
        .transform(json_format.with_ends)
        .transform(text_format.with_ends)
        .transform(in_new_method)
        .withColumns({name: F.when(is_json, json[name]).otherwise(text[name]) for name in json})
        .withColumns(
            {
                "total_us": micros(F.col("total_us")),
                "throttle_us": throttle_micros(F.col("throttle_us")),
                "reason": F.when(is_unknown, UNKNOWN_FORM).otherwise(F.col("reason")),
            }
        )
        .select(*SPLIT.names)
    )
