"""The totals of a compaction: made of the tables that it has just written, so that nothing is
worked out twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from rollcall.pipeline.sources.paths import spark_path
from rollcall.pipeline.spark.errors import translate_errors
from rollcall.tables.manifests import Part
from rollcall.tables.totals import SOURCES, TOTALS, total
from rollcall.tables.views import Engine
from rollcall.tables.writers import Writer


def total_frames(
    spark: SparkSession, writer: Writer, parts: Mapping[str, Sequence[Part]]
) -> dict[str, DataFrame]:
    """In order, so that who asks for a few days need not read the others."""
    frames = {}
    with translate_errors(writer.store.address):
        for source in {table.name for table in SOURCES.values()}:
            if parts.get(source):
                paths = [spark_path(f"{writer.store.address}/{it.name}") for it in parts[source]]
                spark.read.parquet(*paths).createOrReplaceTempView(_view(source))
        for name, table in TOTALS.items():
            source = SOURCES[name].name
            if parts.get(source):
                made = spark.sql(total(table, _view(source), Engine.SPARK))
                frames[name] = made.orderBy(*table.keys)
    return frames


def _view(table: str) -> str:
    return f"rollcall_written_{table}"
