"""What was read before: rows of the table `files`, found by the first line of each file."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from rollcall.pipeline.sources.identity import Content
from rollcall.pipeline.sources.paths import spark_path
from rollcall.pipeline.sources.planning import KnownFile
from rollcall.pipeline.spark.errors import translate_errors
from rollcall.tables.columns import FILES
from rollcall.tables.folder import Snapshot

AT_ONCE = 5000


def known_files(
    spark: SparkSession, snapshot: Snapshot, contents: Iterable[Content]
) -> list[KnownFile]:
    """The rows that these files may continue; no more rows come here than there are files."""
    heads = sorted({content.head for content in contents})
    parts = snapshot.addresses(FILES.name)
    if not heads or not parts:
        return []
    found: list[KnownFile] = []
    with translate_errors(snapshot.store.address):
        table = spark.read.parquet(*map(spark_path, parts)).select(
            "head",
            "fingerprint",
            "bytes",
            "stored_bytes",
            "lines",
            F.col("lost").alias("unreadable"),
        )
        for first in range(0, len(heads), AT_ONCE):
            rows = table.where(F.col("head").isin(heads[first : first + AT_ONCE])).collect()
            found += (KnownFile(**row.asDict()) for row in rows)
    return found
