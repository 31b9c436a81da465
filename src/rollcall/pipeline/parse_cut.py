"""A line cut into its parts: cheap, line by line, and without a look at the bodies."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollcall.pipeline import parse_json, parse_text
from rollcall.pipeline.parse_frame import JSON, TEXT, outcome_of_frame, with_frame
from rollcall.pipeline.settings import SourceSettings

PARTS = (
    "form", "request", "connection", "who", "told_name", "told_version", "answer", "replica_id",
    "error_code",
)  # fmt: skip
"""Texts that say who sent what; all that `read_cuts` needs besides the frame."""

LONGEST_US = 86_400_000_000
"""More than a day is no time of a request: a forged line must not spoil a sum."""


def cut_lines(lines: DataFrame, settings: SourceSettings) -> DataFrame:
    """The frame and the parts of each line; parts are null unless it is a request line.

    Each column that others build on is a step of its own: inside a condition Spark would work it
    out anew for every column that uses it.
    """
    text, tail, request = F.col("text"), F.col("tail"), F.col("request")
    head = F.when(F.col("kind") == JSON, parse_json.cut_head(text))
    return (
        lines.transform(with_frame, settings)
        .withColumns({"outcome": outcome_of_frame(), "head": head, "tail": tail_of(text)})
        .withColumn("request", request_of(F.col("head"), text))
        .withColumn("asks_versions", asks_versions(request))
        .withColumns(
            {
                "form": by_kind(F.lit("H"), parse_text.form_of(F.col("message"), tail)),
                "connection": connection_of(tail),
                "who": by_kind(parse_json.cut_who(tail), parse_text.cut_who(tail)),
                "told_name": told(text, 1),
                "told_version": told(text, 2),
                "answer": answer_of(text),
                "replica_id": F.when(F.col("kind") == JSON, parse_json.cut_replica(text)),
                "error_code": F.when(F.col("kind") == JSON, parse_json.cut_error(text, request)),
                "total_us": total_of(tail),
                "throttle_us": throttle_of(tail),
            }
        )
    )


def by_kind(json: Column, text: Column) -> Column:
    return F.when(F.col("kind") == JSON, json).when(F.col("kind") == TEXT, text)


def tail_of(text: Column) -> Column:
    return by_kind(parse_json.cut_tail(text), parse_text.cut_tail(text))


def request_of(head: Column, text: Column) -> Column:
    return by_kind(parse_json.cut_request(head), parse_text.cut_request(text))


def asks_versions(request: Column) -> Column:
    return by_kind(parse_json.is_api_versions(request), parse_text.is_api_versions(request))


def connection_of(tail: Column) -> Column:
    return by_kind(parse_json.cut_connection(tail), parse_text.cut_connection(tail))


def told(text: Column, group: int) -> Column:
    """What an ApiVersions request tells of its sender: name (1), version (2)."""
    found = by_kind(parse_json.cut_name(text, group), parse_text.cut_name(text, group))
    return F.when(F.col("asks_versions"), found)


def answer_of(text: Column) -> Column:
    found = by_kind(parse_json.cut_answer(text), parse_text.cut_answer(text))
    return F.when(F.col("asks_versions"), found)


def total_of(tail: Column) -> Column:
    """Microseconds, whole: a sum of them does not depend on the order."""
    millis = by_kind(parse_json.cut_total(tail), parse_text.cut_total(tail)).try_cast("double")
    return F.when(millis.between(0, LONGEST_US / 1000), F.rint(millis * 1000).try_cast("bigint"))


def throttle_of(tail: Column) -> Column:
    """Whole milliseconds only: up to 2.5 the field holds decimals, and those are the time
    between two steps of the broker, throttled or not."""
    millis = by_kind(parse_json.cut_throttle(tail), parse_text.cut_throttle(tail))
    whole = millis.try_cast("bigint")
    return F.when(whole.between(0, LONGEST_US // 1000), whole * 1000)
