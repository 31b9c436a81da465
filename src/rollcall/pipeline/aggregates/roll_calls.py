"""Roll calls (lines that `rollcall brokers --output` appends) to rows of the table `brokers`."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollcall.pipeline.aggregates.requests import MAX_PIECE, without_secrets
from rollcall.pipeline.parsing import to_timestamp

FORMAT = "rollcall-broker/2"
NOT_A_ROLL_CALL = "not a line of a roll call"
TWO_IN_ONE = "two roll calls on one line, with no newline between them"
SECOND = r'\}\s*\{"'
"""A second object on a line. Objects inside one have a comma between them, and a quote in a string
is escaped."""
LATEST_MS = 253_402_300_799_999
"""The end of the year 9999, the last of Python's calendar."""

LINE = """
  format STRING, time_ms BIGINT, cluster_id STRING, id INT, host STRING, port INT, rack STRING,
  controller BOOLEAN, failure STRING,
  software STRUCT<name: STRING, version: STRING, provenance: STRING, candidates: ARRAY<STRING>>,
  start_time STRUCT<ms: BIGINT>,
  api_versions STRUCT<ranges: MAP<STRING, ARRAY<INT>>>
"""
"""Fields that are read of a line. Later versions of the format only add fields."""

RANGES = """
  array_sort(transform(map_entries(call.api_versions.ranges), entry -> named_struct(
    'api_key', try_cast(entry.key AS INT),
    'min_version', get(entry.value, 0), 'max_version', get(entry.value, 1)
  )))
"""
COMPLETE = """
  forall(ranges, range -> range.api_key IS NOT NULL AND range.min_version IS NOT NULL
    AND range.max_version IS NOT NULL)
"""


def read_roll_calls(lines: DataFrame) -> DataFrame:
    """LINES with `call` and `ranges`; `call` is null where the line is not a roll call."""
    call = F.col("call")
    is_valid = (call["format"] == FORMAT) & call["time_ms"].between(0, LATEST_MS) & ~has_second()
    return (
        lines.withColumn("call", F.from_json("value", LINE))
        .withColumn("ranges", F.expr(RANGES))
        .withColumn("call", F.when(is_valid & F.coalesce(F.expr(COMPLETE), F.lit(True)), call))
    )


def has_second() -> Column:
    """`from_json` reads the first of two objects and ignores the other."""
    return F.col("value").rlike(SECOND)


def reported_brokers(calls: DataFrame) -> DataFrame:
    """Rows of `brokers`, one per broker and roll call."""
    seen = moment("call.time_ms")
    return calls.where("call IS NOT NULL").select(
        F.date_trunc("hour", seen).cast("timestamp_ntz").alias("hour"),
        F.coalesce("cluster", "call.cluster_id").alias("cluster"),
        F.coalesce("broker", "call.host").alias("broker"),
        F.lit("roll call").alias("source"),
        F.col("call.id").alias("node_id"),
        "call.host",
        "call.port",
        "call.rack",
        "call.controller",
        "call.failure",
        F.col("call.software.name").alias("software_name"),
        F.col("call.software.version").alias("software_version"),
        F.col("call.software.provenance").alias("software_source"),
        F.col("call.software.candidates").alias("candidates"),
        moment("call.start_time.ms").alias("start_time"),
        "ranges",
        F.lit(1).alias("answers"),
        seen.alias("first_seen"),
        seen.alias("last_seen"),
    )


def moment(millis: str) -> Column:
    """Milliseconds to a timestamp, null beyond the year 9999: a broker may report any number."""
    ms = F.col(millis)
    return to_timestamp(F.when(ms.between(0, LATEST_MS), ms) * 1000)


def count_files(calls: DataFrame) -> DataFrame:
    """Line counts and times per file. Roll calls are not requests, so they count as skipped."""
    return calls.groupBy("file").agg(
        F.count("*").alias("lines"),
        F.lit(0).alias("requests"),
        F.count_if(F.col("call").isNotNull()).alias("skipped"),
        F.count_if(F.col("call").isNull()).alias("rejected"),
        F.min(moment("call.time_ms")).alias("first_time"),
        F.max(moment("call.time_ms")).alias("last_time"),
        F.lit(0).alias("levels"),
        F.lit(0).alias("forms"),
        F.sum(F.octet_length("value") + 1).alias("bytes_read"),
    )


def select_rejects(calls: DataFrame) -> DataFrame:
    return calls.where("call IS NULL").select(
        "cluster",
        "file",
        "block",
        "position",
        F.when(has_second(), TWO_IN_ONE).otherwise(NOT_A_ROLL_CALL).alias("reason"),
        F.lit(1).alias("lines"),
        F.octet_length("value").alias("length"),
        without_secrets(F.substring("value", 1, MAX_PIECE)).alias("piece"),
    )


def count_blocks(calls: DataFrame) -> DataFrame:
    """Line counts per block of a file, from which line numbers are made."""
    return calls.groupBy("file", "block").agg(
        F.count("*").alias("lines"), F.min("position").alias("first_position")
    )
