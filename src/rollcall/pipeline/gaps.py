"""Where nothing was heard of a broker for an hour or more: a log that is read later may fill it.

Logs are rolled every hour, so that one which is missing leaves a gap of an hour at least. What is
before the first line of a broker is a gap, too.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

BROKER = ("cluster", "broker")
LONG_AGO = datetime(1970, 1, 1)  # noqa: DTZ001 - as all times in the tables


def find_gaps(usage: DataFrame, since: datetime) -> DataFrame:
    """Per broker, the gaps that ended after `since`, as an array: there is one an hour at most.

    Rows of `usage` need not be merged, and of hours that have become days, the last day tells
    when the broker was heard before."""
    heard = (
        usage.where(F.col("hour") >= moment(since - timedelta(days=1)))
        .groupBy(*BROKER, "hour")
        .agg(F.min("first_seen").alias("ended"), F.max("last_seen").alias("last_seen"))
    )
    before = F.lag("last_seen").over(Window.partitionBy(*BROKER).orderBy("hour"))
    began = F.coalesce(before, moment(LONG_AGO))
    gap = F.struct("began", "ended")
    return (
        heard.withColumn("began", began)
        .where((F.col("ended") >= moment(since)) & F.expr("ended >= began + INTERVAL 1 HOUR"))
        .groupBy(*BROKER)
        .agg(F.collect_list(gap).alias("gaps"))
    )


def with_gaps(rows: DataFrame, gaps: DataFrame) -> DataFrame:
    """The rows with `gaps` of their broker; null where there is none."""
    told = gaps.select(*(F.col(name).alias(f"gaps_{name}") for name in BROKER), "gaps")
    same = [F.col(name).eqNullSafe(F.col(f"gaps_{name}")) for name in BROKER]
    return rows.join(F.broadcast(told), same[0] & same[1], "left").drop(
        *(f"gaps_{name}" for name in BROKER)
    )


def is_beside_a_gap(began: str, ended: str, silence: str) -> Column:
    """Whether what began and ended then may go on in a gap: within `silence` of it."""
    return F.expr(
        f"exists(coalesce(gaps, array()), gap -> gap.began <= {ended} + {silence} "
        f"AND gap.ended >= {began} - {silence})"
    )


def moment(when: datetime) -> Column:
    """As a text: a `datetime` without a zone would be taken for one of this machine's zone."""
    return F.lit(when.isoformat(sep=" ")).cast("timestamp_ntz")
