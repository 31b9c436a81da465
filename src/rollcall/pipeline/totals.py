"""The totals of a compaction: made of the usage that it has just written, so that nothing is
worked out twice."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession

from rollcall.pipeline.failures import explained
from rollcall.pipeline.paths import for_spark
from rollcall.tables.manifests import Part
from rollcall.tables.totals import TOTALS, total
from rollcall.tables.views import Engine
from rollcall.tables.writers import Writer

VIEW = "rollcall_written_usage"


def total_frames(
    spark: SparkSession, writer: Writer, usage: Sequence[Part]
) -> dict[str, DataFrame]:
    if not usage:
        return {}
    paths = [for_spark(f"{writer.store.address}/{part.name}") for part in usage]
    with explained(writer.store.address):
        spark.read.parquet(*paths).createOrReplaceTempView(VIEW)
        return {name: spark.sql(total(table, VIEW, Engine.SPARK)) for name, table in TOTALS.items()}
