"""What becomes of rows that have grown old: hours to days, connections to counts, many ids to one.

Totals stay; detail goes, so that tables stay small however long they are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

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

HOURS_FOR = timedelta(days=7)
CONNECTIONS_FOR = timedelta(hours=48)
CLIENT_IDS = 10_000
OTHER = "other"

MergeRows = Callable[[DataFrame, Table], DataFrame]


@dataclass(frozen=True, slots=True)
class Folding:
    days_before: datetime
    """Hours that begin before this day become days."""
    connections_before: datetime
    """Connections last seen before this become counts, if their broker was heard later."""
    dropped_before: datetime | None
    """What was last seen before this goes; None: nothing goes."""

    @classmethod
    def at(cls, newest: datetime, now: datetime, keep: timedelta | None) -> Folding:
        day = (newest - HOURS_FOR).replace(hour=0, minute=0, second=0, microsecond=0)
        return cls(day, newest - CONNECTIONS_FOR, now - keep if keep is not None else None)


def fold(frames: dict[str, DataFrame], how: Folding, merge_rows: MergeRows) -> dict[str, DataFrame]:
    """Merged rows of all tables in, folded rows of all tables out."""
    folded = drop_old(frames, how)
    if CONNECTIONS.name in folded:
        young, old = split_connections(folded[CONNECTIONS.name], how)
        hours = folded.get(CONNECTION_HOURS.name)
        folded[CONNECTIONS.name] = young
        folded[CONNECTION_HOURS.name] = old if hours is None else hours.unionByName(old)
    for table in (USAGE, CONNECTION_HOURS):
        if table.name in folded:
            rows = cap_client_ids(with_days(folded[table.name], how))
            folded[table.name] = merge_rows(rows, table)
    return folded


def drop_old(frames: Mapping[str, DataFrame], how: Folding) -> dict[str, DataFrame]:
    """Files stay known for ever, or old logs would count again; rejects go with their file."""
    kept = dict(frames)
    if how.dropped_before is None:
        return kept
    cut = _moment(how.dropped_before)
    for table in (USAGE, CONNECTIONS, CONNECTION_HOURS, BROKERS):
        if table.name in kept:
            kept[table.name] = kept[table.name].where(F.col("last_seen") >= cut)
    if REJECTS.name in kept and FILES.name in kept:
        last = F.coalesce("last_time", "read_at")
        young = kept[FILES.name].where(last >= cut).select("file").distinct()
        kept[REJECTS.name] = kept[REJECTS.name].join(young, "file", "left_semi")
    return kept


def with_days(rows: DataFrame, how: Folding) -> DataFrame:
    old = F.col("hour") < _moment(how.days_before)
    day = _day(F.col("hour"))
    return rows.withColumn("hour", F.when(old, day).otherwise(F.col("hour")))


def cap_client_ids(rows: DataFrame) -> DataFrame:
    """Beyond 10,000 client ids of a principal in a day, those that ask least are `other`."""
    group = ["cluster", "principal", "day"]
    dated = rows.withColumn("day", _day(F.col("hour")))
    ids = dated.where(F.col("client_id").isNotNull() & (F.col("client_id") != OTHER))
    counted = ids.groupBy(*group, "client_id").agg(F.sum("requests").alias("asked"))
    place = F.row_number().over(Window.partitionBy(*group).orderBy(F.desc("asked"), "client_id"))
    beyond = counted.withColumn("place", place).where(F.col("place") > CLIENT_IDS)
    marks = beyond.select(*(F.col(name).alias(f"b_{name}") for name in [*group, "client_id"]))
    same = [F.col(name).eqNullSafe(F.col(f"b_{name}")) for name in [*group, "client_id"]]
    condition = same[0]
    for each in same[1:]:
        condition &= each
    client_id = F.when(F.col("b_client_id").isNotNull(), OTHER).otherwise(F.col("client_id"))
    return (
        dated.join(marks, condition, "left")
        .withColumn("client_id", client_id)
        .select(*rows.columns)
    )


def split_connections(rows: DataFrame, how: Folding) -> tuple[DataFrame, DataFrame]:
    """Rows of connections that may go on, and the counts of those that ended long ago.

    What is long ago is told by the newest line of the same broker: logs of another may have been
    read up to a later day. Of a broker that is silent nothing waits for longer than hours do."""
    spark = rows.sparkSession
    rows.createOrReplaceTempView("rollcall_connections")
    nth = spark.sql(numbered("rollcall_connections"))
    whole = Window.partitionBy("cluster", "broker", "connection", "nth")
    ended = nth.withColumn("ended", F.max("last_seen").over(whole))
    newest = F.max("last_seen").over(Window.partitionBy("cluster", "broker"))
    ended = ended.withColumn("heard", newest - F.expr(f"INTERVAL {CONNECTIONS_FOR.days} DAYS"))
    before = F.least("heard", _moment(how.connections_before))
    is_old = (F.col("ended") < before) | (F.col("ended") < _moment(how.days_before))
    ended.where(is_old).select(*rows.columns).createOrReplaceTempView("rollcall_ended")
    connections = spark.sql(merge(CONNECTIONS, "rollcall_ended", Engine.SPARK))
    return ended.where(~is_old).select(*rows.columns), count_by_hour(connections)


def count_by_hour(connections: DataFrame) -> DataFrame:
    """Per hour of opening, broker and client: how many, how many asked once, the longest."""
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


def _moment(when: datetime) -> Column:
    """As a text: a `datetime` without a zone would be taken for one of this machine's zone."""
    return F.lit(when.isoformat(sep=" ")).cast("timestamp_ntz")
