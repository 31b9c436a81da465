"""A line cut into its parts: cheap, line by line, and without a look at the bodies.

What a line costs is decided here. Bodies are most of a line and lie in its middle, so its two
ends are taken off by bytes and cut at single characters: of all that Spark does with texts, this
costs the least. An end that does not look as most do (a long client id, a brace in a principal,
an old form) is found from the whole line, with more care and at more cost.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollcall.pipeline.parsing import json_format as parse_json
from rollcall.pipeline.parsing import text_format as parse_text
from rollcall.pipeline.parsing.codegen import in_a_new_method
from rollcall.pipeline.parsing.expressions import (
    CONNECTION,
    RESPONSE_QUEUE,
    THROTTLE,
    TOTAL,
    WHO,
    cut_bytes,
)
from rollcall.pipeline.parsing.prefix import JSON, TEXT, with_frame
from rollcall.pipeline.parsing.schema import SourceSettings

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
        .transform(in_a_new_method, "words", "date", "time", "clock", "day")
        .transform(with_json_head)
        .transform(in_a_new_method, "head")
        .transform(with_text_head)
        .transform(in_a_new_method, "front", "head")
        .transform(with_tail)
        .transform(in_a_new_method)
        .transform(with_bodies)
        .transform(in_a_new_method, "listed", "body", "bytes", "end", "api")
        .transform(with_told)
        .transform(with_sure_ends)
        .transform(in_a_new_method, "asks")
        .transform(with_parts)
    )


def with_json_head(framed: DataFrame) -> DataFrame:
    """`request`, what is before the bodies, and `body`, the start of them."""
    payload, head = F.col("payload"), F.col("head")
    is_json = F.col("kind") == JSON
    front = F.when(is_json, cut_bytes(payload, 1, FRONT_BYTES))
    return (
        framed.withColumn("head", F.split(front, "}", 3))
        .withColumns(
            {
                "body": parse_json.take_body(head),
                "head": F.when(is_json, parse_json.cut_head(head, payload)),
            }
        )
        .withColumns(
            {
                "api": parse_json.cut_api(head),
                "request": parse_json.cut_request(head),
                # a text would be copied for every piece that is cut off it
                "bytes": payload.cast("binary"),
            }
        )
        .withColumn("error_code", F.when(is_json, parse_json.early_error()))
    )


def with_text_head(headed: DataFrame) -> DataFrame:
    """`request`, if the line begins as most do."""
    front, head = F.col("front"), F.col("head")
    asks = by_kind(F.col("api") == parse_json.API_VERSIONS, front.startswith(parse_text.ASKS))
    start = cut_bytes(F.col("bytes"), 1, FRONT_BYTES)
    return (
        headed.withColumn("front", F.when(F.col("kind") == TEXT, start))
        .withColumn("head", F.split(front, ",", 4))
        .withColumn("head", parse_text.cut_head(head))
        .withColumns(
            {"asks": asks, "request": by_kind(F.col("request"), parse_text.take_request(head))}
        )
    )


def with_tail(headed: DataFrame) -> DataFrame:
    """`tail`, what is behind the bodies, if it looks as most do."""
    tail = F.col("tail")
    return (
        headed.withColumn("end", cut_bytes(F.col("bytes"), -END_BYTES, END_BYTES))
        .withColumn("tail", F.split("end", by_kind("}", ";")))
        .withColumns(
            {
                "peer": F.try_element_at(tail, F.lit(-2)),
                "tail": by_kind(parse_json.take_tail(tail), parse_text.take_tail(tail)),
            }
        )
    )


def with_bodies(ends: DataFrame) -> DataFrame:
    """What is kept of the bodies. ApiVersions is the one API that answers what a broker has, which
    is between the first brackets of most lines. Few lines need their payload any more."""
    is_json, listed = F.col("kind") == JSON, F.col("listed")
    simple = by_kind(parse_json.is_answer(listed), parse_text.is_answer(listed))
    found = extract(parse_json.ANSWER, parse_text.ANSWER)
    taken = F.get(F.split(F.get(listed, 1), "]", 2), 0)
    is_done = is_json & ~F.col("asks") & F.col("tail").startswith(parse_json.CONNECTION)
    split = F.when(F.col("asks"), F.split("payload", r"\[", 3))
    return ends.withColumn("listed", split).withColumns(
        {
            "replica_id": F.when(is_json, parse_json.cut_replica()),
            "error_code": F.when(is_json, parse_json.cut_error()),
            "answer": F.when(F.col("asks"), F.when(simple, taken).otherwise(found)),
            "payload": F.when(~F.coalesce(is_done, F.lit(False)), F.col("payload")),
        }
    )


def with_told(ends: DataFrame) -> DataFrame:
    """Who a client is, as it says in ApiVersions."""
    told = extract(parse_json.TOLD, parse_text.TOLD)
    return ends.withColumn("told", F.when(F.col("asks"), told))


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
    kind, reason, uncut = F.col("kind"), F.col("reason"), is_uncut()
    return ends.withColumns(
        {
            "reason": F.when(uncut, NO_FORM).otherwise(reason),
            "kind": F.when(~uncut & reason.isNull(), kind),
        }
    ).withColumns(
        {
            "request": F.when(kind.isNotNull(), F.col("request")),
            "connection": part(CONNECTION),
            "total_us": micros(behind(TOTAL)),
            "throttle_us": whole_millis(behind(THROTTLE)),
            "shape": by_kind(parse_json.SHAPE, parse_text.shape(part(RESPONSE_QUEUE))),
            "who": part(WHO),
        }
    )


def by_kind(json: Column | str, text: Column | str) -> Column:
    return F.when(F.col("kind") == JSON, json).when(F.col("kind") == TEXT, text)


def part(place: int) -> Column:
    return F.get("tail", place)


def behind(place: int) -> Column:
    """The number that follows a name."""
    json, text = (F.lit(len(names[place]) + 1) for names in (parse_json.NAMES, parse_text.NAMES))
    return cut_bytes(part(place), by_kind(json, text), LONGEST_NUMBER)


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
    return (F.when(number.between(0, LONGEST_MS), number) * 1000 + 0.5).cast("bigint")


def whole_millis(millis: Column) -> Column:
    """In microseconds. Null if there are decimals: up to 2.5 they are the time between two steps
    of the broker, throttled or not."""
    # a cast that fails costs as much as a whole line
    number = F.when(~millis.contains("."), millis.try_cast("bigint"))
    return F.when(number.between(0, LONGEST_MS), number) * 1000
