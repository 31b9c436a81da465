"""Retention: old hours to days, old connections to counts per hour, a limit of client ids.

Sums are kept and detail is dropped, so that tables stay small however long they are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from rollcall.tables.columns import (
    BROKERS,
    CONNECTION_HOURS,
    CONNECTIONS,
    FILES,
    REJECTS,
    USAGE,
    Table,
)
from rollcall.tables.views import Engine, merge, numbered

KEEP_HOURS = timedelta(days=7)
KEEP_CONNECTIONS = timedelta(hours=48)
MAX_CLIENT_IDS = 10_000
OTHER = "other"

MergeRows = Callable[[DataFrame, Table], DataFrame]


@dataclass(frozen=True, slots=True)
class RetentionLimits:
    days_before: datetime
    """Hours before this day become days."""
    connections_before: datetime
    """Connections last seen before this become counts, if their broker was observed later."""
    dropped_before: datetime | None
    """Rows last seen before this are dropped; None drops nothing."""

    @classmethod
    def at(cls, newest: datetime, now: datetime, keep: timedelta | None) -> RetentionLimits:
        day = (newest - KEEP_HOURS).replace(hour=0, minute=0, second=0, microsecond=0)
        return cls(day, newest - KEEP_CONNECTIONS, now - keep if keep is not None else None)


def apply_retention(
    frames: dict[str, DataFrame], limits: RetentionLimits, merge_rows: MergeRows
) -> dict[str, DataFrame]:
    """Merged rows of all tables to those that are kept."""
    kept = drop_old(frames, limits)
    if CONNECTIONS.name in kept:
        recent, old = split_connections(kept[CONNECTIONS.name], limits)
        hours = kept.get(CONNECTION_HOURS.name)
        kept[CONNECTIONS.name] = recent
        kept[CONNECTION_HOURS.name] = old if hours is None else hours.unionByName(old)
    for table in (USAGE, CONNECTION_HOURS):
        if table.name in kept:
            rows = cap_client_ids(with_days(kept[table.name], limits))
            kept[table.name] = merge_rows(rows, table)
    return kept


def drop_old(frames: Mapping[str, DataFrame], limits: RetentionLimits) -> dict[str, DataFrame]:
    """Drop old rows. Rows of `files` are kept forever, otherwise old logs would be read again."""
    kept = dict(frames)
    if limits.dropped_before is None:
        return kept
    limit = _timestamp(limits.dropped_before)
    for table in (USAGE, CONNECTIONS, CONNECTION_HOURS, BROKERS):
        if table.name in kept:
            kept[table.name] = kept[table.name].where(F.col("last_seen") >= limit)
    if REJECTS.name in kept and FILES.name in kept:
        last = F.coalesce("last_time", "read_at")
        recent = kept[FILES.name].where(last >= limit).select("file").distinct()
        kept[REJECTS.name] = kept[REJECTS.name].join(recent, "file", "left_semi")
    return kept


def with_days(rows: DataFrame, limits: RetentionLimits) -> DataFrame:
    old = F.col("hour") < _timestamp(limits.days_before)
    day = _day(F.col("hour"))
    return rows.withColumn("hour", F.when(old, day).otherwise(F.col("hour")))


def cap_client_ids(rows: DataFrame) -> DataFrame:
    """Above 10,000 client ids of a principal and day, those with fewest requests become `other`."""
    group = ["cluster", "principal", "day"]
    dated = rows.withColumn("day", _day(F.col("hour")))
    ids = dated.where(F.col("client_id").isNotNull() & (F.col("client_id") != OTHER))
    counted = ids.groupBy(*group, "client_id").agg(F.sum("requests").alias("requests"))
    rank = F.row_number().over(Window.partitionBy(*group).orderBy(F.desc("requests"), "client_id"))
    beyond = counted.withColumn("rank", rank).where(F.col("rank") > MAX_CLIENT_IDS)
    marks = beyond.select(*(F.col(name).alias(f"b_{name}") for name in [*group, "client_id"]))
    same = [F.col(name).eqNullSafe(F.col(f"b_{name}")) for name in [*group, "client_id"]]
    condition = reduce(and_, same)
    client_id = F.when(F.col("b_client_id").isNotNull(), OTHER).otherwise(F.col("client_id"))
    return (
        dated.join(marks, condition, "left")
        .withColumn("client_id", client_id)
        .select(*rows.columns)
    )


def split_connections(rows: DataFrame, limits: RetentionLimits) -> tuple[DataFrame, DataFrame]:
    """Rows of connections that may continue, and the counts of those that ended.

    A connection has ended if its broker logged lines 48 hours later: the logs of another broker
    may have been read up to a later day. After 7 days it has ended in any case."""
    spark = rows.sparkSession
    rows.createOrReplaceTempView("rollcall_connections")
    nth = spark.sql(numbered("rollcall_connections"))
    whole = Window.partitionBy("cluster", "broker", "connection", "nth")
    ended = nth.withColumn("ended", F.max("last_seen").over(whole))
    newest = F.max("last_seen").over(Window.partitionBy("cluster", "broker"))
    limit = newest - F.expr(f"INTERVAL {KEEP_CONNECTIONS.days} DAYS")
    ended = ended.withColumn("broker_limit", limit)
    before = F.least("broker_limit", _timestamp(limits.connections_before))
    is_old = (F.col("ended") < before) | (F.col("ended") < _timestamp(limits.days_before))
    ended.where(is_old).select(*rows.columns).createOrReplaceTempView("rollcall_ended")
    connections = spark.sql(merge(CONNECTIONS, "rollcall_ended", Engine.SPARK))
    return ended.where(~is_old).select(*rows.columns), count_by_hour(connections)


def count_by_hour(connections: DataFrame) -> DataFrame:
    """Per opening hour, broker and client: connections, those with one request, the longest."""
    microseconds = F.expr("timestampdiff(MICROSECOND, first_seen, last_seen)")
    opened, once = F.count("*"), F.count_if(F.col("requests") == 1)
    return (
        connections.withColumn("hour", F.date_trunc("hour", "first_seen").cast("timestamp_ntz"))
        .groupBy(*CONNECTION_HOURS.keys)
        .agg(
            opened.alias("opened"),
            once.alias("seen_once"),
            opened.alias("most_opened"),
            once.alias("most_seen_once"),
            F.max(microseconds).alias("longest_us"),
            F.sum("requests").alias("requests"),
            F.min("first_seen").alias("first_seen"),
            F.max("last_seen").alias("last_seen"),
        )
        .select(*(column.name for column in CONNECTION_HOURS.columns))
    )


def _day(hour: Column) -> Column:
    return F.date_trunc("day", hour).cast("timestamp_ntz")


def _timestamp(time: datetime) -> Column:
    """From text, because Spark takes a naive `datetime` to be in the zone of this machine."""
    return F.lit(time.isoformat(sep=" ")).cast("timestamp_ntz")
