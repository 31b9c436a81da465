"""A line cut into its parts: cheap, line by line, and without a look at the bodies.

What a line costs is decided here. Bodies are most of a line and lie in its middle, so its two
ends are taken off by bytes and cut at single characters: of all that Spark does with texts, this
costs the least. An end that does not look as most do (a long client id, a brace in a principal,
an old form) is found from the whole line, with more care and at more cost.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollcall.pipeline import parse_json, parse_text
from rollcall.pipeline.methods import in_a_new_method
from rollcall.pipeline.parse_frame import JSON, TEXT, with_frame
from rollcall.pipeline.parse_marks import CONNECTION, RESPONSE_QUEUE, THROTTLE, TOTAL, WHO
from rollcall.pipeline.settings import SourceSettings

NO_FORM = "a request line in a form that no release of Kafka writes"

PARTS = ("shape", "request", "connection", "who", "told", "answer", "replica_id", "error_code")
"""Texts that say who sent what; all that `read_cuts` needs besides the frame."""

FRONT_BYTES = 360
END_BYTES = 480
"""These hold the ends of nearly all lines; the others take longer."""
TAIL_PARTS = 10
"""The tail from its first comma on: connection, seven times, and who it was."""
LONGEST_NUMBER = 30

LONGEST_MS = 86_400_000
"""More than a day is no time of a request: a forged line must not spoil a sum."""


def cut_lines(lines: DataFrame, settings: SourceSettings) -> DataFrame:
    """The frame and the parts of each line; parts are null unless it is a request line.

    Each column that others build on is a step of its own, as inside a condition Spark would work
    it out anew for every column that uses it.
    """
    return (
        lines.transform(with_frame, settings)
        .transform(in_a_new_method, "framed")
        .transform(with_payload, settings)
        .transform(with_ends)
        .transform(in_a_new_method, "ended")
        .transform(with_sure_ends)
        .transform(with_parts)
    )


def with_payload(framed: DataFrame, settings: SourceSettings) -> DataFrame:
    """What the broker wrote of a request: all of it, its `front` and its `end`."""
    payload, text = F.col("payload"), F.col("text")
    start = F.length("level") + len("[yyyy-MM-dd HH:mm:ss,SSS]  Completed ") + 1
    size = F.octet_length(text) - start + 1 - len(settings.frame.suffix.encode())
    whole = F.substring(text.cast("binary"), start, size)
    return framed.withColumn("payload", F.when(F.col("kind").isNotNull(), whole)).withColumns(
        {
            "front": F.substring(payload, 1, FRONT_BYTES).cast("string"),
            "end": F.substring(payload, -END_BYTES, END_BYTES).cast("string"),
            "payload": payload.cast("string"),
        }
    )


def with_ends(lines: DataFrame) -> DataFrame:
    """`request`, what is before the bodies, and `tail`, what is behind them, if they look as most
    do."""
    payload, head, tail = F.col("payload"), F.col("head"), F.col("tail")
    return (
        lines.withColumns(
            {
                "head": F.split("front", by_kind("}", ","), by_kind(F.lit(3), F.lit(4))),
                "tail": F.split("end", by_kind("}", ";")),
            }
        )
        .withColumns(
            {
                "body": F.get(head, 1),
                "head": by_kind(parse_json.cut_head(head, payload), parse_text.cut_head(head)),
                "peer": F.try_element_at(tail, F.lit(-2)),
                "tail": by_kind(parse_json.take_tail(tail), parse_text.take_tail(tail)),
            }
        )
        .withColumns(
            {
                "api": F.when(F.col("kind") == JSON, parse_json.cut_api(head)),
                "request": by_kind(parse_json.cut_request(head), parse_text.take_request(head)),
            }
        )
        .transform(with_versions)
        .drop("front", "end", "head", "listed")
    )


def with_versions(ends: DataFrame) -> DataFrame:
    """ApiVersions is the one API whose bodies say something: `told`, who the client is, and
    `answer`, what a broker has, which is between the first brackets of most lines."""
    listed, front = F.col("listed"), F.col("front")
    asks = by_kind(F.col("api") == parse_json.API_VERSIONS, front.startswith(parse_text.ASKS))
    simple = by_kind(parse_json.is_answer(listed), parse_text.is_answer(listed))
    found = extract(parse_json.ANSWER, parse_text.ANSWER)
    taken = F.get(F.split(F.get(listed, 1), "]", 2), 0)
    return ends.withColumn("listed", F.when(asks, F.split("payload", r"\[", 3))).withColumns(
        {
            "told": F.when(listed.isNotNull(), extract(parse_json.TOLD, parse_text.TOLD)),
            "answer": F.when(listed.isNotNull(), F.when(simple, taken).otherwise(found)),
        }
    )


def extract(json: str, text: str) -> Column:
    return by_kind(*(F.regexp_extract("payload", regex, 1) for regex in (json, text)))


def with_sure_ends(ends: DataFrame) -> DataFrame:
    """`request` and `tail` of all lines, the tail at its commas."""
    payload, tail, request = F.col("payload"), F.col("tail"), F.col("request")
    whole = by_kind(parse_json.find_tail(tail, payload), tail)
    return ends.withColumn("tail", F.split(whole, ",", TAIL_PARTS)).withColumns(
        {
            "request": by_kind(request, parse_text.find_request(request, payload)),
            "tail": by_kind(tail, parse_text.find_tail(tail, payload, TAIL_PARTS)),
        }
    )


def with_parts(ends: DataFrame) -> DataFrame:
    kind, payload, request = F.col("kind"), F.col("payload"), F.col("request")
    return (
        ends.withColumn("reason", F.when(is_uncut(), NO_FORM).otherwise(F.col("reason")))
        .withColumn("kind", F.when(F.col("reason").isNull(), kind))
        .withColumns(
            {
                "request": F.when(kind.isNotNull(), request),
                "connection": part(CONNECTION),
                "total_us": micros(behind(TOTAL)),
                "throttle_us": whole_millis(behind(THROTTLE)),
                "shape": by_kind(parse_json.SHAPE, parse_text.shape(part(RESPONSE_QUEUE))),
                "who": part(WHO),
                "replica_id": F.when(kind == JSON, parse_json.cut_replica(payload)),
                "error_code": F.when(kind == JSON, parse_json.cut_error(payload)),
            }
        )
    )


def by_kind(json: Column | str, text: Column | str) -> Column:
    return F.when(F.col("kind") == JSON, json).when(F.col("kind") == TEXT, text)


def part(place: int) -> Column:
    return F.get("tail", place)


def behind(place: int) -> Column:
    """The number that follows a name."""
    json, text = (F.lit(len(names[place]) + 1) for names in (parse_json.NAMES, parse_text.NAMES))
    return F.substring(part(place), by_kind(json, text), LONGEST_NUMBER)


def is_uncut() -> Column:
    """A request line of which one end is not what it should be."""
    request = F.col("request")
    whole = request.isNotNull() & by_kind(F.lit(True), ~request.startswith("request:"))
    for place in (TOTAL, THROTTLE, WHO):
        name = by_kind(parse_json.NAMES[place], parse_text.NAMES[place])
        whole &= part(place).startswith(name)
    return F.col("kind").isNotNull() & ~F.coalesce(whole, F.lit(False))


def micros(millis: Column) -> Column:
    """Whole, as a sum of them does not depend on the order. 0.11 writes decimals as its locale
    does."""
    english = F.when(millis.contains(","), F.translate(millis, ",", ".")).otherwise(millis)
    number = english.try_cast("double")
    return F.floor(F.when(number.between(0, LONGEST_MS), number) * 1000 + 0.5)


def whole_millis(millis: Column) -> Column:
    """In microseconds. Null if there are decimals: up to 2.5 they are the time between two steps
    of the broker, throttled or not."""
    # a cast that fails costs as much as a whole line
    number = F.when(~millis.contains("."), millis.try_cast("bigint"))
    return F.when(number.between(0, LONGEST_MS), number) * 1000
