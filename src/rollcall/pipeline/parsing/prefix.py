"""The frame of a log line: when, at which level, and whether a request is inside.

`kind` is JSON or TEXT for a complete request line, of which `payload` is left. It is null for all
others, of which the `text` is left; their `reason` is settled here.
"""

from __future__ import annotations

import re
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from rollcall.errors import ConfigError
from rollcall.pipeline.parsing.codegen import in_a_new_method
from rollcall.pipeline.parsing.expressions import cut_bytes
from rollcall.pipeline.parsing.layout import LEVELS, Layout
from rollcall.pipeline.parsing.schema import SourceSettings

JSON = 1
TEXT = 2

MARK = "Completed request:"
FRAME = rf"(?s)^\[.{{23}}\] [A-Z]+ {MARK}"
WORDS = 7
"""How often a line is cut at blanks: date, time, level, `Completed`, `request:...`, the rest."""
PLAIN_WORDS = 6
"""So many has a JSON line without blanks in its texts; the last is the logger."""
CLOCK = ((1, 2), (4, 2), (7, 2), (10, 3))
"""Where hours, minutes, seconds and milliseconds are in `HH:mm:ss,SSS]`."""
DAY_US = 86_400_000_000
LAST_DAY = 2_932_895
"""Since 1970: two days before the end of the year 9999, with which calendars end."""

NO_END = (
    "it does not end in the logger's name: a newline in a client id or topic has split it, "
    "the file was cut off, or the layout is another"
)
NO_START = "the rest of a record that a newline in a client id or topic has split"
NO_FRAME = (
    "neither the start nor the end of a log line: a piece of a split record, or another layout"
)
OTHER_LAYOUT = "a request line in another layout than the one given"
BROKEN = "the JSON of the request line is broken"
TWO_IN_ONE = "two lines in one: the broker stopped while it wrote the first"

# A second frame inside a request. The literal text comes first, as Java then skips ahead to it.
# In JSON a quote inside a text is escaped, so that no client can write this itself.
SECOND_JSON = rf'{MARK}\{{"isForwarded":'
SECOND_TEXT = rf"{MARK}(?<=\[\d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d,\d{{3}}\] [A-Z]{{4,5}} {MARK})"
HIDDEN = rf"(?s)^.{{0,150}}{MARK}(?!.* \((?!{{logger}}\))[\w.$\-]+\)$)"
"""A request line, but not where this layout has it."""
# blank, the end of another logger's line, a stack trace
OTHERS = (
    r"(?s)^\s*$|^.* \([\w.$\-]+\)$|^(?:\s+at |Caused by: |\s+\.\.\. \d+ |\s*Suppressed: |"
    r"[\w.$]+(?:Exception|Error)\b)"
)


def with_frame(lines: DataFrame, settings: SourceSettings) -> DataFrame:
    layout = settings.frame
    date, time, level, verb, request = (F.get("words", place) for place in range(5))
    completed = F.col("instant").isNotNull() & (verb == "Completed")
    kind = F.when(request.startswith('request:{"'), JSON).otherwise(TEXT)
    is_whole = F.col("kind").isNotNull() & ends(layout)
    return (
        lines.withColumns({"octets": F.octet_length("value"), "text": tidy(F.col("value"))})
        .transform(in_kafkas_layout, layout)
        .withColumn("words", F.split("text", " ", WORDS))
        .withColumns({"date": date, "time": time, "level": F.when(level.isin(*LEVELS), level)})
        .transform(with_instant, settings.zone)
        .transform(less_offset, layout)
        .withColumn("kind", F.when(completed & request.startswith("request:"), kind))
        .withColumn("payload", F.when(is_whole, payload_of(layout)))
        .withColumn("reason", reason_of_frame(layout))
        .withColumn("kind", F.when(F.col("reason").isNull(), F.col("kind")))
        .withColumns(
            {
                "payload": F.when(F.col("kind").isNotNull(), F.col("payload")),
                "text": F.when(F.col("kind").isNull(), F.col("text")),
                "level": F.when(F.col("instant").isNotNull(), F.col("level")),
            }
        )
    )


def payload_of(layout: Layout) -> Column:
    """What the broker wrote of a request. It is one of the words, unless it has blanks."""
    start = F.octet_length("level") + len("[yyyy-MM-dd HH:mm:ss,SSS]  Completed ") + 1
    size = F.octet_length("text") - start + 1 - len(layout.suffix.encode())
    whole = cut_bytes(F.col("text"), start, size)
    return F.when(F.size("words") == PLAIN_WORDS, F.get("words", 4)).otherwise(whole)


def tidy(value: Column) -> Column:
    """Without a byte-order mark and Windows' line end."""
    untidy = value.startswith("\ufeff") | value.endswith("\r")
    return F.coalesce(
        F.when(untidy, F.regexp_replace(value, "^\ufeff|\r+$", "")).otherwise(value), F.lit("")
    )


def in_kafkas_layout(lines: DataFrame, layout: Layout) -> DataFrame:
    if layout.is_default:
        return lines
    text = F.col("text")
    put = (
        F.when(text.rlike(layout.whole), F.regexp_replace(text, layout.whole, layout.put_whole))
        .when(text.rlike(layout.start), F.regexp_replace(text, layout.start, layout.put_start))
        .otherwise(F.regexp_replace(text, layout.end, layout.put_end))
    )
    offset = F.when(text.rlike(layout.start), F.regexp_replace(text, layout.start, "${offset}"))
    told = {"offset": offset} if layout.has_offset else {}
    return lines.withColumns({"text": put, **told}).transform(in_a_new_method)


def less_offset(framed: DataFrame, layout: Layout) -> DataFrame:
    """The same instant in UTC, if the line tells how far it is from it: `+05:30`, `-0800`, `Z`."""
    if not layout.has_offset:
        return framed
    digits = F.rpad(F.translate("offset", ":Z", ""), 5, "0").try_cast("int")
    hours, minutes = (digits / 100).cast("bigint"), digits % 100
    ahead = F.coalesce(hours * 60 + minutes, F.lit(0)) * 60_000_000
    moved = framed.withColumn("instant", F.col("instant") - ahead).drop("offset")
    return moved.transform(within_calendar)


def within_calendar(framed: DataFrame) -> DataFrame:
    """A time that no broker wrote is none, be the line damaged or forged."""
    instant = F.col("instant")
    return framed.withColumn("instant", F.when(instant.between(0, LAST_DAY * DAY_US), instant))


def with_instant(framed: DataFrame, zone: str) -> DataFrame:
    """Microseconds of `[yyyy-MM-dd HH:mm:ss,SSS] LEVEL `, null if the line does not begin so."""
    date, time = F.col("date"), F.col("time")
    # a cast to a date would also take a year alone, and one of seven digits
    is_date = date.startswith("[") & (F.octet_length(date) == len("[yyyy-MM-dd"))
    is_time = time.endswith("]") & (F.octet_length(time) == len("HH:mm:ss,SSS]"))
    looks = F.col("level").isNotNull() & is_date & is_time
    if zone != "UTC":
        check_zone(framed.sparkSession, zone)
        read = framed.withColumn("instant", F.when(looks, instant_in(zone)))
        return read.transform(within_calendar)
    clock = F.concat(*(cut_bytes(time, start, size) for start, size in CLOCK)).try_cast("int")
    day = F.unix_date(cut_bytes(date, 2, 10).try_cast("date")).cast("bigint")
    return (
        framed.withColumn("clock", F.when(looks, clock))
        .withColumn("day", F.when(F.col("clock") >= 0, day))
        .withColumn("instant", instant_in_utc())
    )


def instant_in_utc() -> Column:
    """From the day and the digits of the clock: much faster than to have the text read."""
    hours, minutes, seconds, millis = (
        F.expr(f"clock div {unit} % {many}")
        for unit, many in ((10_000_000, 100), (100_000, 100), (1_000, 100), (1, 1_000))
    )
    of_day = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + millis * 1_000
    is_time = (hours < 24) & (minutes < 60) & (seconds < 60)
    is_day = F.col("day").between(0, LAST_DAY - 1)
    return F.when(is_time & is_day, F.col("day") * DAY_US + of_day)


def check_zone(spark: SparkSession, zone: str) -> None:
    """Java may be older than a zone, and takes one that it does not know for GMT. Spark does not:
    no line would have a time."""
    jvm: Any = spark._jvm
    if jvm.java.util.TimeZone.getTimeZone(zone).getID() == "GMT" and not zone.startswith("GMT"):
        raise ConfigError(
            f"Java knows no time zone {zone!r}",
            hint="use a newer Java, or another zone with the same clock (Etc/GMT+3 is UTC-3)",
        )


def instant_in(zone: str) -> Column:
    """With the zone in the text a cast does not depend on the session's."""
    date, time = F.substring("date", 2, 10), F.substring("time", 1, 8)
    millis = F.substring("time", 10, 3)
    written = F.concat(date, F.lit(" "), time, F.lit("."), millis, F.lit(f" {zone}"))
    return F.unix_micros(written.try_cast("timestamp"))


def ends(layout: Layout) -> Column:
    return F.col("text").endswith(layout.suffix)


def reason_of_frame(layout: Layout) -> Column:
    """Null for a request and for what is skipped."""
    kind, payload = F.col("kind"), F.col("payload")
    has_blanks = F.size("words") > PLAIN_WORDS
    return (
        F.when(kind.isNull(), reason_of_other(F.col("text"), layout))
        .when(payload.isNull(), NO_END)
        .when((kind == JSON) & has_blanks & payload.rlike(SECOND_JSON), TWO_IN_ONE)
        .when((kind == JSON) & ~payload.endswith("}"), BROKEN)
        .when((kind == TEXT) & payload.rlike(SECOND_TEXT), TWO_IN_ONE)
    )


def reason_of_other(text: Column, layout: Layout) -> Column:
    hidden = HIDDEN.replace("{logger}", re.escape(layout.logger))
    return (
        F.when(F.col("instant").isNotNull(), F.when(text.rlike(hidden), OTHER_LAYOUT))
        .when(ends(layout), NO_START)
        .when(~text.rlike(OTHERS), NO_FRAME)
    )
