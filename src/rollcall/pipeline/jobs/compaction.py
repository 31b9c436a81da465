"""Compaction: many parts to few, old hours to days, old connections to rows per hour.

What was written stands until the compaction's manifest replaces it; a compaction that dies is a
folder that nobody names. Merging adds up equal keys and nothing else, so it may be done to any
range of numbers; folding looks at all that is there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from rollcall.pipeline.jobs.retention import Folding, fold
from rollcall.pipeline.jobs.totals import total_frames
from rollcall.pipeline.jobs.write import Attempt, write_parts
from rollcall.pipeline.sources.paths import spark_path
from rollcall.pipeline.spark.errors import translate_errors
from rollcall.tables.columns import CONNECTION_HOURS, TABLES, USAGE, Merge, Table
from rollcall.tables.folder import Snapshot
from rollcall.tables.manifests import Counts, Kind, Manifest, Part
from rollcall.tables.writers import Writer

FAN_IN = 16
"""So many manifests of a size are merged into one."""
FOLD_EVERY = timedelta(hours=24)
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
"""Within a day, rows of one client lie together: reports are about clients, and about a few days;
from totals they know the rest."""

MERGES = {Merge.SUM: F.sum, Merge.MIN: F.min, Merge.MAX: F.max, Merge.BITS: F.bit_or}


@dataclass(frozen=True, slots=True)
class CompactionResult:
    manifests: int
    """How many were merged into one."""
    bytes_before: int
    bytes_after: int


def compact(spark: SparkSession, writer: Writer, keep: timedelta | None = None) -> CompactionResult:
    """Merge everything, fold what is old, and drop what is older than `keep`."""
    snapshot = writer.snapshot()
    if not any(manifest.parts for manifest in snapshot.live):
        return CompactionResult(0, 0, 0)
    with translate_errors(writer.store.address):
        frames = _merged_frames(spark, snapshot, snapshot.live)
        now = datetime.fromtimestamp(writer.clock(), UTC).replace(tzinfo=None)
        frames = fold(frames, Folding.at(_newest(spark, snapshot, now), now, keep), merge_rows)
    return _replace(writer, snapshot, snapshot.live, frames, folded_ms=writer.now_ms())


def compact_if_due(spark: SparkSession, writer: Writer) -> CompactionResult | None:
    """What a stream does between its batches: merge sixteen of a size; fold once a day."""
    snapshot = writer.snapshot()
    folded = max((manifest.folded_ms for manifest in snapshot.live), default=0)
    age = timedelta(milliseconds=writer.now_ms() - folded)
    if age > FOLD_EVERY and any(manifest.parts for manifest in snapshot.live):
        return compact(spark, writer)
    due = due_for_merge(snapshot.live)
    if not due:
        return None
    with translate_errors(writer.store.address):
        return _replace(writer, snapshot, due, _merged_frames(spark, snapshot, due), folded)


def due_for_merge(live: Sequence[Manifest]) -> Sequence[Manifest]:
    """The newest manifests of one size, if there are enough of them."""
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
    """Rows with the same keys become one."""
    if not table.values:
        return rows
    totals = [MERGES[each.merge](each.name).alias(each.name) for each in table.values]
    return rows.groupBy(*table.keys).agg(*totals)


def _newest(spark: SparkSession, snapshot: Snapshot, now: datetime) -> datetime:
    """The time of the newest request: what is old is old beside it. A clock that runs ahead, or
    a line that was forged, must not make all else old: never later than now."""
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
        parts |= write_parts(writer, attempt, total_frames(spark, writer, parts))
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


def _in_order(frames: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    """Sorted from the first file to the last; Spark sorts on disk what memory does not hold."""
    day = F.date_trunc("day", "hour")
    return {
        table.name: frames[table.name].orderBy(day, *(name for name in ORDER if name in table.keys))
        for table in ORDERED
        if table.name in frames
    }


def _bytes(parts: Mapping[str, Sequence[Part]]) -> int:
    return sum(part.bytes for table in parts.values() for part in table)
