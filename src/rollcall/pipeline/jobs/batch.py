"""One batch of files: parse, sum, check, write the Parquet files, commit the manifest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from rollcall.pipeline.errors import NotALogError, PipelineError
from rollcall.pipeline.jobs.job import Job
from rollcall.pipeline.jobs.write import Attempt, small_frame, write_parts
from rollcall.pipeline.sources.inputs import (
    InputCounts,
    SparkInput,
    check_ends,
    counts_by_input,
    find_damaged,
    prepare,
    with_copies,
)
from rollcall.pipeline.sources.lines import read_lines, with_line_numbers
from rollcall.pipeline.sources.planning import PlannedRead, UnreadFile
from rollcall.pipeline.spark.config import LOCAL, LOCAL_DEFAULTS
from rollcall.pipeline.spark.errors import BrokenInputError, translate_errors
from rollcall.tables.columns import COUNT, FILES, REJECTS, TEXT
from rollcall.tables.manifests import Counts, Kind, Manifest
from rollcall.tables.writers import Writer

REJECT_EXAMPLES = 3
OUTCOMES = ("lines", "requests", "skipped", "rejected")
ORIGIN = {"file": TEXT, "original": TEXT, "lines_before": COUNT}

ADAPTIVE = "spark.sql.adaptive.enabled"
PARTITIONS = "spark.sql.shuffle.partitions"
BYTES_PER_CORE = 64 << 20
"""Log bytes that are worth another shuffle partition."""
BYTES_IN_MEMORY = 1 << 30
"""The sums of this many log bytes fit into the memory of one task."""


@dataclass(frozen=True, slots=True)
class RejectExample:
    reason: str
    file: str
    line: int
    piece: str


@dataclass(frozen=True)
class BatchResult:
    counts: Counts = field(default_factory=Counts)
    examples: tuple[RejectExample, ...] = ()
    unreadable: tuple[UnreadFile, ...] = ()
    already_read: int = 0
    """Files that turned out to have nothing new."""


class NeedsCopyError(Exception):
    """Gzips that are damaged or end in an incomplete line, found after Spark read them."""

    def __init__(self, reads: list[PlannedRead]) -> None:
        super().__init__()
        self.reads = reads


def read_batch(job: Job, reads: Sequence[PlannedRead]) -> BatchResult:
    """Read these files into the tables, all or nothing."""
    attempt = Attempt.begin(job.writer.snapshot().next_number)
    try:
        inputs = prepare(reads, job.file_system_of, job.writer.store, attempt.staging)
        already_read = len(reads) - len(inputs)
        if not inputs:
            return BatchResult(already_read=already_read)
        try:
            with fixed_partitions(job.spark, sum(read.log_bytes for read in reads)):
                return replace(_sum_and_commit(job, attempt, inputs), already_read=already_read)
        except BrokenInputError:
            damaged = find_damaged(reads, job.file_system_of)
            if not damaged:
                raise
    except NeedsCopyError as error:
        damaged = error.reads
    finally:
        job.writer.store.delete(attempt.staging)
    return read_batch(job, with_copies(reads, damaged))


def _sum_and_commit(job: Job, attempt: Attempt, inputs: Sequence[SparkInput]) -> BatchResult:
    addresses = [address for given in inputs for address in given.addresses]
    if not addresses:  # gzips that are damaged before the end of their first line
        return _commit(job, attempt, None, None, counts_by_input(inputs, ()))
    with translate_errors(job.writer.store.address):
        lines = read_lines(job.spark, addresses, cluster=job.cluster, broker=job.broker)
        sums = job.record_type.sum_lines(lines).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            counted = job.record_type.count_files(sums).collect()
            check_lines(row.asDict() for row in counted)
            counts = counts_by_input(inputs, counted)
            if damaged := check_ends(counts, job.file_system_of):
                raise NeedsCopyError(damaged)
            return _commit(job, attempt, lines, sums, counts)
        finally:
            sums.unpersist()


def _commit(
    job: Job,
    attempt: Attempt,
    lines: DataFrame | None,
    sums: DataFrame | None,
    counted: Sequence[InputCounts],
) -> BatchResult:
    rejects = None
    if lines is not None and sums is not None:
        rejects = _numbered_rejects(job, lines, sums, counted)
    examples, reasons = summarise(rejects) if rejects is not None else ((), {})
    totals = {name: sum(file.total(name) for file in counted) for name in OUTCOMES}
    counts = Counts(files=len(counted), **totals, reasons=reasons)
    if counts.rejected * 2 > counts.lines and not job.allow_rejects:
        raise not_a_log(counts, examples, job.record_type.hint)
    frames = {FILES.name: _file_rows(job, counted)}
    if sums is not None:
        frames |= job.record_type.table_rows(sums)
    if rejects is not None:
        frames[REJECTS.name] = rejects
    parts = write_parts(job.writer, attempt, frames)
    now = job.writer.now_ms()
    job.writer.commit(Manifest(attempt.number, Kind.BATCH, now, None, parts, counts, job.sources))
    inputs = [file.spark_input for file in counted]
    unreadable = (UnreadFile(i.read.path, i.unreadable) for i in inputs if i.unreadable)
    return BatchResult(counts, examples, tuple(unreadable))


def check_lines(files: Iterable[Mapping[str, Any]]) -> None:
    """Check that lines = requests + skipped + rejected in each row of `count_files`.

    `inputs.check_ends` checks by bytes that all lines of a file were read."""
    for row in files:
        if row["lines"] != row["requests"] + row["skipped"] + row["rejected"]:
            raise PipelineError(
                f"{row['file']}: {row['lines']} lines, but {row['requests']} requests, "
                f"{row['skipped']} skipped and {row['rejected']} rejected",
                hint="report this bug; nothing was written",
            )


def _numbered_rejects(
    job: Job, lines: DataFrame, sums: DataFrame, counted: Sequence[InputCounts]
) -> DataFrame | None:
    """Rejects with the path and line number of the original file instead of its copy."""
    origins = []
    for file in counted:
        before = file.spark_input.read.lines_before
        for row in file.rows:
            if row["rejected"]:
                origin = {"file": row["file"], "original": file.spark_input.read.path}
                origins.append({**origin, "lines_before": before})
            before += row["lines"]
    if not origins:
        return None
    return (
        with_line_numbers(
            job.record_type.find_rejects(lines, sums), job.record_type.count_blocks(sums)
        )
        .join(F.broadcast(small_frame(job.spark, ORIGIN, origins)), "file")
        .withColumn("file", F.col("original"))
        .withColumn("line", F.col("line") + F.col("lines_before"))
    )


def summarise(rejects: DataFrame) -> tuple[tuple[RejectExample, ...], dict[str, int]]:
    """The first line of the most frequent reasons, and the number of lines for each reason."""
    first = F.min(F.struct("file", "line", "piece")).alias("first")
    rows = (
        rejects.groupBy("reason")
        .agg(F.count("*").alias("lines"), first)
        .orderBy(F.desc("lines"), "reason")
    ).collect()
    examples = tuple(RejectExample(row["reason"], *row["first"]) for row in rows[:REJECT_EXAMPLES])
    return examples, {row["reason"]: row["lines"] for row in rows}


def _file_rows(job: Job, counted: Sequence[InputCounts]) -> DataFrame:
    now = utc_now(job.writer)
    columns = {column.name: column.type for column in FILES.columns}
    return small_frame(job.spark, columns, [_file_row(job, file, now) for file in counted])


def utc_now(writer: Writer) -> datetime:
    return datetime.fromtimestamp(writer.clock(), UTC).replace(tzinfo=None)


def _file_row(job: Job, counted: InputCounts, now: datetime) -> dict[str, object]:
    read = counted.spark_input.read
    firsts = [row["first_time"] for row in counted.rows if row["first_time"] is not None]
    lasts = [row["last_time"] for row in counted.rows if row["last_time"] is not None]
    levels = forms = 0
    for row in counted.rows:
        levels |= row["levels"] or 0
        forms |= row["forms"] or 0
    return {
        "cluster": job.cluster,
        "broker": job.broker,
        "file": read.path,
        "head": read.content.first_line_hash,
        "fingerprint": counted.fingerprint(job.file_system_of(read.path)),
        "start": read.start,
        "bytes": counted.end,
        "stored_bytes": read.content.file.bytes,
        "lost": counted.spark_input.unreadable,
        "read_at": now,
        **{name: counted.total(name) for name in OUTCOMES},
        "first_time": min(firsts, default=None),
        "last_time": max(lasts, default=None),
        "levels": levels,
        "forms": forms,
    }


def not_a_log(counts: Counts, examples: Sequence[RejectExample], hint: str) -> NotALogError:
    example = examples[0]
    return NotALogError(
        f"{counts.rejected:,} of {counts.lines:,} lines were rejected, most of them with: "
        f"{example.reason}; {example.file} line {example.line} begins: {example.piece[:120]!r}",
        hint=hint,
    )


@contextmanager
def fixed_partitions(spark: SparkSession, log_bytes: int) -> Iterator[None]:
    """Turn adaptive execution off and set the number of shuffle partitions for this many bytes.

    Adaptive execution plans again after every stage: 0.6 s of the 2.7 s of CPU of a small batch. On
    a cluster, and where the user set either setting, nothing is changed."""
    before = {name: str(spark.conf.get(name)) for name in (ADAPTIVE, PARTITIONS)}
    if not _has_local_defaults(spark.sparkContext, before):
        yield
        return
    partitions = count_partitions(log_bytes, spark.sparkContext.defaultParallelism)
    try:
        spark.conf.set(ADAPTIVE, "false")
        spark.conf.set(PARTITIONS, str(partitions))
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def _has_local_defaults(context: SparkContext, current: Mapping[str, str]) -> bool:
    given = context.getConf()
    is_local = LOCAL.fullmatch(given.get("spark.master", "")) is not None
    unchanged = current == {ADAPTIVE: "true", PARTITIONS: LOCAL_DEFAULTS[PARTITIONS]}
    return is_local and unchanged and not given.contains(ADAPTIVE)


def count_partitions(log_bytes: int, cores: int) -> int:
    return max(1, min(cores, log_bytes // BYTES_PER_CORE), log_bytes // BYTES_IN_MEMORY)
