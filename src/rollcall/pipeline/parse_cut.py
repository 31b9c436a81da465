"""A line cut into its parts: cheap, line by line, and without a look at the bodies."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollcall.pipeline import parse_json, parse_text
from rollcall.pipeline.parse_frame import JSON, TEXT, outcome_of_frame, with_frame
from rollcall.pipeline.settings import SourceSettings

NO_FORM = "a request line in a form that no release of Kafka writes"

PARTS = ("shape", "request", "connection", "who", "bodies", "replica_id", "error_code")
"""Texts that say who sent what; all that `read_cuts` needs besides the frame."""

LONGEST_MS = 86_400_000
"""More than a day is no time of a request: a forged line must not spoil a sum."""


def cut_lines(lines: DataFrame, settings: SourceSettings) -> DataFrame:
    """The frame and the parts of each line; parts are null unless it is a request line.

    Each column that others build on is a step of its own, as inside a condition Spark would work
    it out anew for every column that uses it. And all steps become one Java method, which must
    stay below 8,000 bytes of code to be compiled: so JSON and text share what they can.
    """
    text, tail = F.col("text"), F.split("tail", "\x01", 5)
    uncut = F.col("request").startswith("[") | F.col("tail").startswith("[")
    return (
        lines.transform(with_frame, settings)
        .withColumn("request", by_kind(parse_json.cut_request(text), parse_text.cut_request(text)))
        .withColumn("tail", by_kind(parse_json.cut_tail(text), parse_text.cut_tail(text)))
        .withColumn("reason", F.when(uncut, NO_FORM).otherwise(F.col("reason")))
        .withColumn("kind", F.when(F.col("reason").isNull(), F.col("kind")))
        .withColumn("tail", F.when(F.col("kind").isNotNull(), tail))
        .withColumns(
            {
                "outcome": outcome_of_frame(),
                "request": F.when(F.col("kind").isNotNull(), F.col("request")),
                "connection": F.get("tail", 0),
                "total_us": micros(F.get("tail", 1)),
                "throttle_us": whole_millis(F.get("tail", 2)) * 1000,
                "shape": F.get("tail", 3),
                "who": F.get("tail", 4),
                "bodies": bodies_of_api_versions(text, F.col("request")),
                "replica_id": F.when(F.col("kind") == JSON, parse_json.cut_replica(text)),
                "error_code": F.when(
                    F.col("kind") == JSON, parse_json.cut_error(text, F.col("request"))
                ),
            }
        )
    )


def by_kind(json: Column | str, text: Column | str) -> Column:
    return F.when(F.col("kind") == JSON, json).when(F.col("kind") == TEXT, text)


def bodies_of_api_versions(text: Column, request: Column) -> Column:
    """The one API whose bodies say something: who the client is, what the broker has."""
    asks = request.contains(by_kind('"requestApiKey":18,', "API_VERSIONS\x01"))
    start, end = by_kind(',"request":', " -- {"), by_kind(',"connection":"', " from connection ")
    bodies = F.call_function("substring_index", text, start, F.lit(-1))
    return F.when(asks, F.call_function("substring_index", bodies, end, F.lit(1)))


def micros(millis: Column) -> Column:
    """Whole, as a sum of them does not depend on the order."""
    number = F.translate(millis, ",", ".").try_cast("double")
    return F.when(number.between(0, LONGEST_MS), F.floor(number * 1000 + 0.5))


def whole_millis(millis: Column) -> Column:
    """Null if there are decimals: up to 2.5 they are the time between two steps of the broker,
    throttled or not."""
    number = millis.try_cast("bigint")
    return F.when(number.between(0, LONGEST_MS), number)
