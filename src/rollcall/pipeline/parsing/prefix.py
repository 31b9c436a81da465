"""Prefix and end of a log line: timestamp, level, logger, and whether it is a request line."""

from __future__ import annotations

import re
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from rollcall.errors import ConfigError
from rollcall.pipeline.parsing.expressions import substring_bytes
from rollcall.pipeline.parsing.layout import LEVELS, LogLayout
from rollcall.pipeline.parsing.schema import JSON, PREFIXED, TEXT, SourceSettings

COMPLETED = "Completed request:"
PREFIX = rf"(?s)^\[.{{23}}\] [A-Z]+ {COMPLETED}"
LONGEST_PREFIX = len(f"[yyyy-MM-dd HH:mm:ss,SSS] LEVEL {COMPLETED}{{'")

DAY_US = 86_400_000_000
LAST_DAY = 2_932_895
"""Days since 1970, two days before the end of the year 9999, the last of Python's calendar."""

NO_END = (
    "the line does not end in the logger's name: a newline in a client id or topic has split it, "
    "the file was truncated, or the layout is different"
)
NO_START = "the rest of a record that a newline in a client id or topic has split"
NO_PREFIX = (
    "neither the start nor the end of a log line: part of a split record, or a different layout"
)
OTHER_LAYOUT = "a request line in a different layout than the configured one"
BROKEN = "the JSON of the request line is broken"
TWO_IN_ONE = "two lines in one: the broker stopped while it wrote the first"

# In JSON a quote inside a string is escaped, so a client cannot write this.
SECOND_JSON = f'{COMPLETED}{{"isForwarded":'
# The literal text comes first: Java then searches for it before it tries the lookbehind.
SECOND_TEXT = (
    rf"{COMPLETED}(?<=\[\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d,\d{{3}}\] [A-Z]{{4,5}} {COMPLETED})"
)
# Spark's `explain("codegen")` fails if parentheses in a literal are not balanced, hence `.$`
MISPLACED = rf"(?s)^.{{0,150}}{COMPLETED}(?!.* \((?!{{logger}}.$)[\w.$\-]+\)$)"
"""A request line, but not where the layout has it."""
# a blank line, the end of another logger's line, a stack trace
SKIPPED_LINES = (
    r"(?s)^\s*$|^.* \([\w.$\-]+\)$|^(?:\s+at |Caused by: |\s+\.\.\. \d+ |\s*Suppressed: |"
    r"[\w.$]+(?:Exception|Error)\b)"
)


def read_prefix(lines: DataFrame, settings: SourceSettings) -> DataFrame:
    """LINES to PREFIXED."""
    layout = settings.compiled_layout
    check_zone(lines.sparkSession, settings.zone)
    level, verb, request = (F.get("words", index) for index in (2, 3, 4))
    is_request = F.col("instant").isNotNull() & (verb == "Completed")
    format_ = F.when(request.startswith('request:{"'), JSON).when(
        request.startswith("request:"), TEXT
    )
    return (
        lines.withColumns({"length": F.octet_length("value"), "text": clean(F.col("value"))})
        .transform(to_default_layout, layout)
        .withColumn("words", F.split(substring_bytes(F.col("text"), 1, LONGEST_PREFIX), " ", 6))
        .withColumn("level", F.when(level.isin(*LEVELS), level))
        .withColumn("instant", instant(settings.zone))
        .withColumn("instant", within_calendar(less_offset(layout)))
        .withColumn("format", F.when(is_request, format_))
        .withColumn("payload", payload(layout))
        .withColumn("reason", reason(layout))
        .withColumns(
            {
                "format": F.when(F.col("reason").isNull(), F.col("format")),
                "level": F.when(F.col("instant").isNotNull(), F.col("level")),
            }
        )
        .select(*PREFIXED.names)
    )


def clean(value: Column) -> Column:
    """The line without a byte-order mark and carriage returns; empty for null."""
    is_unclean = value.startswith("\ufeff") | value.endswith("\r")
    cleaned = F.when(is_unclean, F.regexp_replace(value, "^\ufeff|\r+$", "")).otherwise(value)
    return F.coalesce(cleaned, F.lit(""))


def to_default_layout(lines: DataFrame, layout: LogLayout) -> DataFrame:
    """`text` rewritten to Kafka's own layout, and `offset` if the layout has one."""
    if layout.is_default:
        return lines
    text = F.col("text")
    rewritten = (
        F.when(text.rlike(layout.whole), F.regexp_replace(text, layout.whole, layout.put_whole))
        .when(text.rlike(layout.start), F.regexp_replace(text, layout.start, layout.put_start))
        .otherwise(F.regexp_replace(text, layout.end, layout.put_end))
    )
    offset = F.when(text.rlike(layout.start), F.regexp_replace(text, layout.start, "${offset}"))
    with_offset = {"offset": offset} if layout.has_offset else {}
    return lines.withColumns({"text": rewritten, **with_offset})


def instant(zone: str) -> Column:
    """Microseconds of `[yyyy-MM-dd HH:mm:ss,SSS] LEVEL `, null if the line starts otherwise.

    The zone is in the text, so the cast does not depend on the session's time zone.
    """
    date, time = F.get("words", 0), F.get("words", 1)
    # a cast alone would also accept a year without month, or with seven digits
    is_date = date.startswith("[") & (F.octet_length(date) == len("[yyyy-MM-dd"))
    is_time = time.endswith("]") & (F.octet_length(time) == len("HH:mm:ss,SSS]"))
    written = F.concat(
        F.substring(date, 2, 10),
        F.lit(" "),
        F.substring(time, 1, 8),
        F.lit("."),
        F.substring(time, 10, 3),
        F.lit(f" {zone}"),
    )
    has_prefix = F.col("level").isNotNull() & is_date & is_time
    return F.when(has_prefix, F.unix_micros(written.try_cast("timestamp")))


def less_offset(layout: LogLayout) -> Column:
    """The instant in UTC, if lines end their timestamps in `+05:30`, `-0800` or `Z`."""
    if not layout.has_offset:
        return F.col("instant")
    digits = F.rpad(F.translate("offset", ":Z", ""), 5, "0").try_cast("int")
    hours, minutes = (digits / 100).cast("bigint"), digits % 100
    offset = F.coalesce(hours * 60 + minutes, F.lit(0)) * 60_000_000
    return F.col("instant") - offset


def within_calendar(micros: Column) -> Column:
    """Discard timestamps outside 1970-9999 (corrupt or forged lines)."""
    return F.when(micros.between(0, LAST_DAY * DAY_US), micros)


def check_zone(spark: SparkSession, zone: str) -> None:
    """Raise ConfigError if this Java does not know the time zone: no line would have a time."""
    jvm: Any = spark._jvm
    if jvm.java.util.TimeZone.getTimeZone(zone).getID() == "GMT" and not zone.startswith("GMT"):
        raise ConfigError(
            f"Java does not know the time zone {zone!r}",
            hint="use a newer Java, or another zone with the same clock (Etc/GMT+3 is UTC-3)",
        )


def payload(layout: LogLayout) -> Column:
    """What is between `Completed request:` and the logger; null if the line does not end in it."""
    start = F.octet_length("level") + len(f"[yyyy-MM-dd HH:mm:ss,SSS]  {COMPLETED}") + 1
    length = F.octet_length("text") - start + 1 - len(layout.suffix.encode())
    is_complete = F.col("format").isNotNull() & F.col("text").endswith(layout.suffix)
    return F.when(is_complete, substring_bytes(F.col("text"), start, length))


def reason(layout: LogLayout) -> Column:
    """Why a line is rejected; null for requests and skipped lines."""
    is_json, is_text = (F.col("format") == kind for kind in (JSON, TEXT))
    payload = F.col("payload")
    return (
        F.when(F.col("format").isNull(), reason_of_other(F.col("text"), layout))
        .when(payload.isNull(), NO_END)
        .when(is_json & payload.contains(SECOND_JSON), TWO_IN_ONE)
        .when(is_json & ~payload.endswith("}"), BROKEN)
        .when(is_text & payload.rlike(SECOND_TEXT), TWO_IN_ONE)
    )


def reason_of_other(text: Column, layout: LogLayout) -> Column:
    misplaced = MISPLACED.replace("{logger}", re.escape(layout.logger))
    return (
        F.when(F.col("instant").isNotNull(), F.when(text.rlike(misplaced), OTHER_LAYOUT))
        .when(text.endswith(layout.suffix), NO_START)
        .when(~text.rlike(SKIPPED_LINES), NO_PREFIX)
    )
