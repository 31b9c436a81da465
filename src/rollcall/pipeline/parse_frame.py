"""The frame of a log line: when, at which level, and whether a request is inside.

`kind` is "json" or "text" for a complete request line and null for all others, whose `outcome`
and `reason` are settled here.
"""

from __future__ import annotations

import re

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollcall.pipeline.layout import LEVELS, Layout
from rollcall.pipeline.schema import REJECTED, SKIPPED
from rollcall.pipeline.settings import SourceSettings

JSON = "json"
TEXT = "text"

MARK = "Completed request:"
FRAME = rf"(?s)^\[.{{23}}\] [A-Z]+ {MARK}"
STARTS_AT = 28
"""Where the message begins, less the length of the level: `[` + 23 + `] ` + level + blank."""

NO_END = (
    "it does not end in the logger's name: a newline in a client id or topic has split it, "
    "the file was cut off, or the layout is another"
)
NO_START = "the rest of a record that a newline in a client id or topic has split"
NO_FRAME = (
    "neither the start nor the end of a log line: a piece of a split record, or another layout"
)
OTHER_LAYOUT = "a request line in another layout than the one given"
TWO_IN_ONE = "two lines in one: the broker stopped while it wrote the first"

# The second frame inside a line. The literal text comes first, as Java then skips ahead to it.
# In JSON a quote inside a text is escaped, so that no client can write this itself.
SECOND_JSON = rf'{MARK}\{{"isForwarded":(?<!\A.{{0,80}})'
SECOND_TEXT = (
    rf"{MARK}(?<=\[\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d,\d{{3}}\] [A-Z]{{4,5}} {MARK})(?<!\A.{{0,60}})"
)
HIDDEN = rf"(?s)^.{{0,150}}{MARK}(?!.* \((?!{{logger}}\))[\w.$\-]+\)$)"
"""A request line, but not where this layout has it."""
# blank, the end of another logger's line, a stack trace
OTHERS = (
    r"(?s)^\s*$|^.* \([\w.$\-]+\)$|^(?:\s+at |Caused by: |\s+\.\.\. \d+ |\s*Suppressed: |"
    r"[\w.$]+(?:Exception|Error)\b)"
)


def with_frame(lines: DataFrame, settings: SourceSettings) -> DataFrame:
    layout = settings.frame
    text, message = F.col("text"), F.col("message")
    complete = text.endswith(layout.suffix) & message.startswith(MARK)
    kind = F.when(message.startswith(MARK + '{"'), JSON).otherwise(TEXT)
    return (
        lines.withColumn("text", in_kafkas_layout(tidy(F.col("value")), layout))
        .withColumn("level", level_of(text))
        .withColumn("instant", instant_of(text, settings.zone))
        .withColumn("level", F.when(F.col("instant").isNotNull(), F.col("level")))
        .withColumn(
            "message", F.substring(text, STARTS_AT + F.length("level"), F.lit(len(MARK) + 14))
        )
        .withColumn("kind", F.when(complete, kind))
        .withColumn("reason", reason_of_frame(layout))
        .withColumn("kind", F.when(F.col("reason").isNull(), F.col("kind")))
    )


def tidy(value: Column) -> Column:
    """Without a byte-order mark and Windows' line end."""
    untidy = value.startswith("\ufeff") | value.endswith("\r")
    return F.coalesce(
        F.when(untidy, F.regexp_replace(value, "^\ufeff|\r+$", "")).otherwise(value), F.lit("")
    )


def in_kafkas_layout(text: Column, layout: Layout) -> Column:
    if layout.is_default:
        return text
    return (
        F.when(text.rlike(layout.whole), F.regexp_replace(text, layout.whole, layout.put_whole))
        .when(text.rlike(layout.start), F.regexp_replace(text, layout.start, layout.put_start))
        .otherwise(F.regexp_replace(text, layout.end, layout.put_end))
    )


def instant_of(text: Column, zone: str) -> Column:
    """The time of `[yyyy-MM-dd HH:mm:ss,SSS] LEVEL `, null if the line does not begin so.

    A cast reads it three times as fast as a date pattern; with the zone in the text it does
    not depend on the session's.
    """
    framed = (
        text.startswith("[") & (F.substring(text, 25, 2) == "] ") & F.col("level").isin(*LEVELS)
    )
    written = F.concat(
        F.substring(text, 2, 19), F.lit("."), F.substring(text, 22, 3), F.lit(f" {zone}")
    )
    return F.when(framed, F.unix_micros(written.try_cast("timestamp")))


def level_of(text: Column) -> Column:
    return F.substring_index(F.substring(text, 27, 6), " ", 1)


def reason_of_frame(layout: Layout) -> Column:
    """Null for a request and for what is skipped."""
    text, kind = F.col("text"), F.col("kind")
    return (
        F.when((kind == JSON) & text.rlike(SECOND_JSON), TWO_IN_ONE)
        .when((kind == TEXT) & text.rlike(SECOND_TEXT), TWO_IN_ONE)
        .when(kind.isNull(), reason_of_other(text, layout))
    )


def reason_of_other(text: Column, layout: Layout) -> Column:
    framed, ends = F.col("instant").isNotNull(), text.endswith(layout.suffix)
    hidden = HIDDEN.replace("{logger}", re.escape(layout.logger))
    return (
        F.when(F.col("message").startswith(MARK), NO_END)
        .when(framed, F.when(text.rlike(hidden), OTHER_LAYOUT))
        .when(ends, NO_START)
        .when(~text.rlike(OTHERS), NO_FRAME)
    )


def outcome_of_frame() -> Column:
    return F.when(F.col("reason").isNotNull(), REJECTED).when(F.col("kind").isNull(), SKIPPED)
