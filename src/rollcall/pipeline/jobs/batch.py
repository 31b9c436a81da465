"""One batch: files to sums, sums to parts of the tables, and the manifest that commits them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from rollcall.pipeline.errors import NotALogError
from rollcall.pipeline.jobs.checks import check_lines
from rollcall.pipeline.jobs.job import Job
from rollcall.pipeline.jobs.shuffling import fixed_partitions
from rollcall.pipeline.jobs.write import Attempt, small_frame, write_parts
from rollcall.pipeline.sources.inputs import (
    Input,
    Tally,
    check_whole,
    find_broken,
    prepare,
    tally,
    with_copies,
)
from rollcall.pipeline.sources.lines import read_lines, with_line_numbers
from rollcall.pipeline.sources.planning import Reading, UnreadFile
from rollcall.pipeline.spark.errors import BrokenInputError, translate_errors
from rollcall.tables.columns import COUNT, FILES, REJECTS, TEXT
from rollcall.tables.manifests import Counts, Kind, Manifest

EXAMPLES = 3
"""Reasons that an example is shown of."""
ORIGIN = {"file": TEXT, "original": TEXT, "lines_before": COUNT}


@dataclass(frozen=True, slots=True)
class Example:
    reason: str
    file: str
    line: int
    piece: str


@dataclass(frozen=True)
class BatchResult:
    counts: Counts = field(default_factory=Counts)
    examples: tuple[Example, ...] = ()
    unreadable: tuple[UnreadFile, ...] = ()
    """Files of which something could not be read, and what."""
    already_read: int = 0
    """Files that turned out to hold nothing new."""


def read_batch(job: Job, readings: Sequence[Reading]) -> BatchResult:
    """Read these files into the tables, all or nothing."""
    attempt = Attempt.begin(job.writer.snapshot().next_number)
    try:
        inputs = prepare(readings, job.file_system_of, job.writer.store, attempt.staging)
        already = len(readings) - len(inputs)
        if not inputs:
            return BatchResult(already_read=already)
        try:
            with fixed_partitions(job.spark, sum(reading.weight for reading in readings)):
                return replace(_sum_and_commit(job, attempt, inputs), already_read=already)
        except BrokenInputError:
            broken = find_broken(readings, job.file_system_of)
            if not broken:
                raise
    except UnwholeError as error:
        broken = error.readings
    finally:
        job.writer.store.delete(attempt.staging)
    return read_batch(job, with_copies(readings, broken))


class UnwholeError(Exception):
    """Gzips whose last line is no whole one."""

    def __init__(self, readings: list[Reading]) -> None:
        super().__init__()
        self.readings = readings


def _sum_and_commit(job: Job, attempt: Attempt, inputs: Sequence[Input]) -> BatchResult:
    addresses = [address for each in inputs for address in each.addresses]
    if not addresses:  # gzips that break off before the end of their first line
        return _commit(job, attempt, None, None, tally(inputs, ()))
    with translate_errors(job.writer.store.address):
        lines = read_lines(job.spark, addresses, cluster=job.cluster, broker=job.broker)
        sums = job.record_type.sum_lines(lines).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            counted = job.record_type.count_files(sums).collect()
            check_lines(row.asDict() for row in counted)
            tallies = tally(inputs, counted)
            if unwhole := check_whole(tallies, job.file_system_of):
                raise UnwholeError(unwhole)
            return _commit(job, attempt, lines, sums, tallies)
        finally:
            sums.unpersist()


def _commit(
    job: Job,
    attempt: Attempt,
    lines: DataFrame | None,
    sums: DataFrame | None,
    tallies: Sequence[Tally],
) -> BatchResult:
    rejects = None
    if lines is not None and sums is not None:
        rejects = _number_rejects(job, lines, sums, tallies)
    examples, reasons = summarise(rejects) if rejects is not None else ((), {})
    counts = Counts(
        files=len(tallies),
        lines=sum(each.total("lines") for each in tallies),
        requests=sum(each.total("requests") for each in tallies),
        skipped=sum(each.total("skipped") for each in tallies),
        rejected=sum(each.total("rejected") for each in tallies),
        reasons=reasons,
    )
    if counts.rejected * 2 > counts.lines and not job.allow_rejects:
        raise not_a_log(counts, examples, job.record_type.hint)
    frames = {FILES.name: _file_rows(job, tallies)}
    if sums is not None:
        frames |= job.record_type.table_rows(sums)
    if rejects is not None:
        frames[REJECTS.name] = rejects
    parts = write_parts(job.writer, attempt, frames)
    now = job.writer.now_ms()
    job.writer.commit(Manifest(attempt.number, Kind.BATCH, now, None, parts, counts, job.sources))
    unreadable = tuple(
        UnreadFile(each.given.reading.path, each.given.unreadable)
        for each in tallies
        if each.given.unreadable
    )
    return BatchResult(counts, examples, unreadable)


def _number_rejects(
    job: Job, lines: DataFrame, sums: DataFrame, tallies: Sequence[Tally]
) -> DataFrame | None:
    """Rejects under the names and line numbers of the files they came from."""
    names = []
    for each in tallies:
        before = each.given.reading.lines_before
        for row in each.rows:
            if row["rejected"]:
                name = {"file": row["file"], "original": each.given.reading.path}
                names.append({**name, "lines_before": before})
            before += row["lines"]
    if not names:
        return None
    origin = small_frame(job.spark, ORIGIN, names)
    return (
        with_line_numbers(
            job.record_type.find_rejects(lines, sums), job.record_type.count_blocks(sums)
        )
        .join(F.broadcast(origin), "file")
        .withColumn("file", F.col("original"))
        .withColumn("line", F.col("line") + F.col("lines_before"))
    )


def summarise(rejects: DataFrame) -> tuple[tuple[Example, ...], dict[str, int]]:
    """How many lines for each reason, and the first line of the commonest ones."""
    first = F.min(F.struct("file", "line", "piece")).alias("first")
    rows = (
        rejects.groupBy("reason")
        .agg(F.count("*").alias("lines"), first)
        .orderBy(F.desc("lines"), "reason")
    ).collect()
    examples = tuple(Example(row["reason"], *row["first"]) for row in rows[:EXAMPLES])
    return examples, {row["reason"]: row["lines"] for row in rows}


def _file_rows(job: Job, tallies: Sequence[Tally]) -> DataFrame:
    now = datetime.fromtimestamp(job.writer.clock(), UTC).replace(tzinfo=None)
    columns = {column.name: column.type for column in FILES.columns}
    return small_frame(job.spark, columns, [_file_row(job, each, now) for each in tallies])


def _file_row(job: Job, each: Tally, now: datetime) -> dict[str, object]:
    reading = each.given.reading
    firsts = [row["first_time"] for row in each.rows if row["first_time"] is not None]
    lasts = [row["last_time"] for row in each.rows if row["last_time"] is not None]
    levels = forms = 0
    for row in each.rows:
        levels |= row["levels"] or 0
        forms |= row["forms"] or 0
    return {
        "cluster": job.cluster,
        "broker": job.broker,
        "file": reading.path,
        "head": reading.content.head,
        "fingerprint": each.fingerprint(job.file_system_of(reading.path)),
        "start": reading.start,
        "bytes": each.end,
        "stored_bytes": reading.content.file.bytes,
        "lost": each.given.unreadable,
        "read_at": now,
        **{name: each.total(name) for name in ("lines", "requests", "skipped", "rejected")},
        "first_time": min(firsts, default=None),
        "last_time": max(lasts, default=None),
        "levels": levels,
        "forms": forms,
    }


def not_a_log(counts: Counts, examples: Sequence[Example], hint: str) -> NotALogError:
    example = examples[0]
    return NotALogError(
        f"{counts.rejected:,} of {counts.lines:,} lines could not be read, most of them for: "
        f"{example.reason}; {example.file} line {example.line} begins: {example.piece[:120]!r}",
        hint=hint,
    )
