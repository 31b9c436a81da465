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
    expressions  column expressions that both formats use
    codegen      limits the size of generated Java methods
    parse        the stages above, one row per line
"""

from rollcall.pipeline.parsing.layout import DEFAULT_PATTERN
from rollcall.pipeline.parsing.parse import parse_lines
from rollcall.pipeline.parsing.schema import (
    LINES,
    PARSED,
    REJECTED,
    REQUEST,
    SKIPPED,
    SUMS,
    SourceSettings,
)

__all__ = [
    "DEFAULT_PATTERN",
    "LINES",
    "PARSED",
    "REJECTED",
    "REQUEST",
    "SKIPPED",
    "SUMS",
    "SourceSettings",
    "parse_lines",
]
