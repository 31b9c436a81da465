"""Compaction: merge many Parquet files to few, apply retention, write the rollups for reports.

The old files stay valid until the manifest of the compaction replaces them. Merging sums rows with
equal keys, so it works on any range of manifests; retention needs all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from rollcall.pipeline.jobs.batch import utc_now
from rollcall.pipeline.jobs.retention import RetentionLimits, apply_retention
from rollcall.pipeline.jobs.write import Attempt, write_parts
from rollcall.pipeline.sources.paths import spark_path
from rollcall.pipeline.spark.errors import translate_errors
from rollcall.tables.columns import CONNECTION_HOURS, TABLES, USAGE, Merge, Table
from rollcall.tables.folder import Snapshot
from rollcall.tables.manifests import Counts, Kind, Manifest, Part
from rollcall.tables.totals import SOURCES, TOTALS, total
from rollcall.tables.views import Engine
from rollcall.tables.writers import Writer

FAN_IN = 16
"""This many manifests of one size are merged into one."""
RETENTION_INTERVAL = timedelta(hours=24)
ORDERED = (USAGE, CONNECTION_HOURS)
ORDER = (
    "cluster",
    "principal",
    "client_id",
    "host",
    "software_name",
    "software_version",
    "api_key",
    "api_version",
    "hour",
)
"""Within a day, rows of one client are adjacent: most reports are about clients and a few days."""

MERGES = {Merge.SUM: F.sum, Merge.MIN: F.min, Merge.MAX: F.max, Merge.BITS: F.bit_or}


@dataclass(frozen=True, slots=True)
class CompactionResult:
    manifests: int
    """How many were merged into one."""
    bytes_before: int
    bytes_after: int


def compact(spark: SparkSession, writer: Writer, keep: timedelta | None = None) -> CompactionResult:
    """Merge everything, apply retention, and drop rows older than `keep`."""
    snapshot = writer.snapshot()
    if not any(manifest.parts for manifest in snapshot.live):
        return CompactionResult(0, 0, 0)
    with translate_errors(writer.store.address):
        frames = _merged_frames(spark, snapshot, snapshot.live)
        now = utc_now(writer)
        limits = RetentionLimits.at(_newest(spark, snapshot, now), now, keep)
        frames = apply_retention(frames, limits, merge_rows)
    return _replace(writer, snapshot, snapshot.live, frames, folded_ms=writer.now_ms())


def compact_if_due(spark: SparkSession, writer: Writer) -> CompactionResult | None:
    """Between two batches of a stream: merge 16 manifests of one size; apply retention daily."""
    snapshot = writer.snapshot()
    folded = max((manifest.folded_ms for manifest in snapshot.live), default=0)
    age = timedelta(milliseconds=writer.now_ms() - folded)
    if age > RETENTION_INTERVAL and any(manifest.parts for manifest in snapshot.live):
        return compact(spark, writer)
    due = due_for_merge(snapshot.live)
    if not due:
        return None
    with translate_errors(writer.store.address):
        return _replace(writer, snapshot, due, _merged_frames(spark, snapshot, due), folded)


def due_for_merge(live: Sequence[Manifest]) -> Sequence[Manifest]:
    """The newest manifests of one size, if there are at least `FAN_IN`."""
    run = 0
    while run < len(live) and _level(live[-1 - run]) == _level(live[-1]):
        run += 1
    return live[-run:] if run >= FAN_IN else ()


def _level(manifest: Manifest) -> int:
    if manifest.covers is None:
        return 0
    return int(math.log(manifest.covers[1] - manifest.covers[0] + 1, FAN_IN))


def _merged_frames(
    spark: SparkSession, snapshot: Snapshot, chosen: Sequence[Manifest]
) -> dict[str, DataFrame]:
    frames = {}
    for name, table in TABLES.items():
        parts = [part for manifest in chosen for part in manifest.parts.get(name, ())]
        if parts:
            paths = [spark_path(f"{snapshot.store.address}/{part.name}") for part in parts]
            frames[name] = merge_rows(spark.read.parquet(*paths), table)
    return frames


def merge_rows(rows: DataFrame, table: Table) -> DataFrame:
    """Merge rows with equal keys into one."""
    if not table.values:
        return rows
    totals = [MERGES[value.merge](value.name).alias(value.name) for value in table.values]
    return rows.groupBy(*table.keys).agg(*totals)


def _newest(spark: SparkSession, snapshot: Snapshot, now: datetime) -> datetime:
    """The time of the newest request, from which ages are counted.

    At most now: a clock that is ahead, or a forged line, must not make all other rows old."""
    parts = [spark_path(address) for address in snapshot.addresses(USAGE.name)]
    newest = spark.read.parquet(*parts).agg(F.max("last_seen")).first() if parts else None
    return min(newest[0], now) if newest is not None and newest[0] is not None else now


def _replace(
    writer: Writer,
    snapshot: Snapshot,
    chosen: Sequence[Manifest],
    frames: dict[str, DataFrame],
    folded_ms: int,
) -> CompactionResult:
    attempt = Attempt.begin(snapshot.next_number)
    parts = write_parts(writer, attempt, frames | _in_order(frames))
    if frames:
        spark = next(iter(frames.values())).sparkSession
        parts |= write_parts(writer, attempt, rollups(spark, writer, parts))
    first = chosen[0].covers[0] if chosen[0].covers else chosen[0].number
    if chosen[0] is snapshot.live[0]:
        first = 1
    streams: dict[str, int] = {}
    for manifest in chosen:
        for stream, batch in manifest.streams.items():
            streams[stream] = max(batch, streams.get(stream, batch))
    writer.commit(
        Manifest(
            attempt.number,
            Kind.COMPACTION,
            writer.now_ms(),
            covers=(first, chosen[-1].number),
            parts=parts,
            counts=sum((manifest.counts for manifest in chosen), Counts()),
            streams=streams,
            folded_ms=folded_ms,
        )
    )
    before = sum(_bytes(manifest.parts) for manifest in chosen)
    return CompactionResult(len(chosen), before, _bytes(parts))


def rollups(
    spark: SparkSession, writer: Writer, parts: Mapping[str, Sequence[Part]]
) -> dict[str, DataFrame]:
    """Rollups of the tables that were just written, sorted by key: a report of a few days reads
    few row groups."""
    frames = {}
    with translate_errors(writer.store.address):
        for source in {table.name for table in SOURCES.values()}:
            if parts.get(source):
                paths = [
                    spark_path(f"{writer.store.address}/{part.name}") for part in parts[source]
                ]
                spark.read.parquet(*paths).createOrReplaceTempView(_view(source))
        for name, table in TOTALS.items():
            source = SOURCES[name].name
            if parts.get(source):
                rollup = spark.sql(total(table, _view(source), Engine.SPARK))
                frames[name] = rollup.orderBy(*table.keys)
    return frames


def _view(table: str) -> str:
    return f"rollcall_written_{table}"


def _in_order(frames: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    """Sorted across files; Spark spills to disk what does not fit into memory."""
    day = F.date_trunc("day", "hour")
    return {
        table.name: frames[table.name].orderBy(day, *(name for name in ORDER if name in table.keys))
        for table in ORDERED
        if table.name in frames
    }


def _bytes(parts: Mapping[str, Sequence[Part]]) -> int:
    return sum(part.bytes for table in parts.values() for part in table)
