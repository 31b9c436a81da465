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
from rollcall.pipeline.settings import SourceSettings

NO_FORM = "a request line in a form that no release of Kafka writes"

PARTS = ("shape", "request", "connection", "who", "bodies", "replica_id", "error_code")
"""Texts that say who sent what; all that `read_cuts` needs besides the frame."""

FRONT_BYTES = 360
END_BYTES = 480
"""These hold the ends of nearly all lines; the others take longer."""
TAIL_PARTS = 10
"""The tail from its first comma on: connection, seven times, and who it was."""
CONNECTION, TOTAL, THROTTLE, SHAPE, WHO = 1, 2, 6, 7, 9
TOTAL_NAME, THROTTLE_NAME = '"totalTimeMs":', '"throttleTimeMs":'
LONGEST_NUMBER = 30

LONGEST_LINE = 2**30
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
        .transform(with_ends)
        .transform(with_parts)
    )


def with_ends(framed: DataFrame) -> DataFrame:
    """`request` and `tail`: what is before the bodies, and what is behind them."""
    payload, front, end = F.col("payload"), F.col("front"), F.col("end")
    request, tail = F.col("request"), F.col("tail")
    start = F.length("level") + len("[yyyy-MM-dd HH:mm:ss,SSS]  Completed ") + 1
    rest = F.substring(F.col("text").cast("binary"), start, F.lit(LONGEST_LINE))
    return (
        framed.withColumn("payload", F.when(F.col("kind").isNotNull(), rest))
        .withColumns(
            {
                "front": F.substring(payload, 1, FRONT_BYTES).cast("string"),
                "end": F.substring(payload, -END_BYTES, END_BYTES).cast("string"),
                "payload": payload.cast("string"),
            }
        )
        .transform(parse_json.with_head)
        .withColumns(
            {
                "request": by_kind(parse_json.cut_request(), parse_text.take_request(front)),
                "tail": by_kind(parse_json.take_tail(end), parse_text.take_tail(end)),
            }
        )
        .withColumns(
            {
                "request": by_kind(request, parse_text.find_request(request, payload)),
                "tail": by_kind(
                    parse_json.find_tail(tail, payload), parse_text.find_tail(tail, payload)
                ),
            }
        )
        .withColumn("tail", F.split(tail, by_kind(",", parse_text.SEPARATOR), TAIL_PARTS))
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
                "total_us": micros(behind(part(TOTAL), TOTAL_NAME)),
                "throttle_us": whole_millis(behind(part(THROTTLE), THROTTLE_NAME)),
                "shape": by_kind(parse_json.SHAPE, part(SHAPE)),
                "who": part(WHO),
                "bodies": F.when(
                    asks_for_versions(),
                    by_kind(parse_json.cut_bodies(payload), parse_text.cut_bodies(payload)),
                ),
                "replica_id": F.when(kind == JSON, parse_json.cut_replica(payload)),
                "error_code": F.when(kind == JSON, parse_json.cut_error(payload)),
            }
        )
    )


def by_kind(json: Column | str, text: Column | str) -> Column:
    return F.when(F.col("kind") == JSON, json).when(F.col("kind") == TEXT, text)


def part(place: int) -> Column:
    return F.get("tail", place)


def behind(part: Column, name: str) -> Column:
    return F.substring(part, len(name) + 1, LONGEST_NUMBER)


def is_uncut() -> Column:
    """A request line of which one end is not what it should be."""
    whole = (
        part(TOTAL).startswith(TOTAL_NAME)
        & part(THROTTLE).startswith(THROTTLE_NAME)
        & part(WHO).startswith('"securityProtocol":')
        & by_kind(F.lit(True), ~F.col("request").startswith("request:"))
        & F.col("request").isNotNull()
    )
    return F.col("kind").isNotNull() & ~F.coalesce(whole, F.lit(False))


def asks_for_versions() -> Column:
    """ApiVersions is the one API whose bodies say something: who the client is, what the broker
    has."""
    return by_kind(
        F.col("api") == parse_json.API_VERSIONS, F.col("request").startswith("API_VERSIONS\x01")
    )


def micros(millis: Column) -> Column:
    """Whole, as a sum of them does not depend on the order. 0.11 writes decimals as its locale
    does."""
    number = F.translate(millis, ",", ".").try_cast("double")
    return F.floor(F.when(number.between(0, LONGEST_MS), number) * 1000 + 0.5)


def whole_millis(millis: Column) -> Column:
    """In microseconds. Null if there are decimals: up to 2.5 they are the time between two steps
    of the broker, throttled or not."""
    number = millis.try_cast("bigint")
    return F.when(number.between(0, LONGEST_MS), number) * 1000
