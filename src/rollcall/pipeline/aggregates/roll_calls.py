"""Roll calls, as `rollcall brokers --output` appends them, to the table `brokers`."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from rollcall.pipeline.aggregates.requests import LONGEST_PIECE, without_secrets
from rollcall.pipeline.parsing.parse import utc

FORMAT = "rollcall-broker/2"
NO_ROLL_CALL = "not a line of a roll call"
TWO_IN_ONE = "two roll calls on one line, with no newline between them"
SECOND = r'\}\s*\{"'
"""Inside of one object there is a comma between two, and a quote in a text is escaped."""
LATEST_MS = 253_402_300_799_999
"""The end of the calendar, with the year 9999."""

LINE = """
  format STRING, time_ms BIGINT, cluster_id STRING, id INT, host STRING, port INT, rack STRING,
  controller BOOLEAN, failure STRING,
  software STRUCT<name: STRING, version: STRING, provenance: STRING, candidates: ARRAY<STRING>>,
  start_time STRUCT<ms: BIGINT>,
  api_versions STRUCT<ranges: MAP<STRING, ARRAY<INT>>>
"""
"""What is taken of a line; keys are only added."""

RANGES = """
  array_sort(transform(map_entries(told.api_versions.ranges), entry -> named_struct(
    'api_key', try_cast(entry.key AS INT),
    'min_version', get(entry.value, 0), 'max_version', get(entry.value, 1)
  )))
"""
WHOLE = """
  forall(ranges, range -> range.api_key IS NOT NULL AND range.min_version IS NOT NULL
    AND range.max_version IS NOT NULL)
"""


def read_roll_calls(lines: DataFrame) -> DataFrame:
    """The lines with `told` and `ranges`, `told` null where a line is none of a roll call."""
    told = F.col("told")
    fits = (told["format"] == FORMAT) & told["time_ms"].between(0, LATEST_MS) & ~is_double()
    return (
        lines.withColumn("told", F.from_json("value", LINE))
        .withColumn("ranges", F.expr(RANGES))
        .withColumn("told", F.when(fits & F.coalesce(F.expr(WHOLE), F.lit(True)), told))
    )


def is_double() -> Column:
    """Of two objects, Spark reads the first and says nothing of the other."""
    return F.col("value").rlike(SECOND)


def reported_brokers(told: DataFrame) -> DataFrame:
    """A row per broker and roll call."""
    seen = moment("told.time_ms")
    return told.where("told IS NOT NULL").select(
        F.date_trunc("hour", seen).cast("timestamp_ntz").alias("hour"),
        F.coalesce("cluster", "told.cluster_id").alias("cluster"),
        F.coalesce("broker", "told.host").alias("broker"),
        F.lit("roll call").alias("source"),
        F.col("told.id").alias("node_id"),
        "told.host",
        "told.port",
        "told.rack",
        "told.controller",
        "told.failure",
        F.col("told.software.name").alias("software_name"),
        F.col("told.software.version").alias("software_version"),
        F.col("told.software.provenance").alias("software_source"),
        F.col("told.software.candidates").alias("candidates"),
        moment("told.start_time.ms").alias("start_time"),
        "ranges",
        F.lit(1).alias("answers"),
        seen.alias("first_seen"),
        seen.alias("last_seen"),
    )


def moment(millis: str) -> Column:
    """Null for a time beyond the calendar: a broker may tell any number as its start."""
    ms = F.col(millis)
    return utc(F.when(ms.between(0, LATEST_MS), ms) * 1000)


def count_files(told: DataFrame) -> DataFrame:
    """No line of a roll call is a request: what was understood counts as skipped."""
    bad = F.count_if(F.col("told").isNull())
    return told.groupBy("file").agg(
        F.count("*").alias("lines"),
        F.lit(0).alias("requests"),
        F.count_if(F.col("told").isNotNull()).alias("skipped"),
        bad.alias("rejected"),
        F.min(moment("told.time_ms")).alias("first_time"),
        F.max(moment("told.time_ms")).alias("last_time"),
        F.lit(0).alias("levels"),
        F.lit(0).alias("forms"),
        F.sum(F.octet_length("value") + 1).alias("bytes_read"),
    )


def select_rejects(told: DataFrame) -> DataFrame:
    return told.where("told IS NULL").select(
        "cluster",
        "file",
        "block",
        "position",
        F.when(is_double(), TWO_IN_ONE).otherwise(NO_ROLL_CALL).alias("reason"),
        F.lit(1).alias("lines"),
        F.octet_length("value").alias("length"),
        without_secrets(F.substring("value", 1, LONGEST_PIECE)).alias("piece"),
    )


def count_blocks(told: DataFrame) -> DataFrame:
    """What line numbers are made from."""
    return told.groupBy("file", "block").agg(
        F.count("*").alias("lines"), F.min("position").alias("first_position")
    )
