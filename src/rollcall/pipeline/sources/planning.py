"""Which files to read, and from which byte, so that each line is read once.

A file that was rolled, renamed, moved, compressed or copied is recognised by its content
(`identity`) and compared with the rows of the table `files`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from rollcall.pipeline.sources.files import GZIP_RATIO, FileSystemOf, LogFile
from rollcall.pipeline.sources.gzip_stream import SIZE_MODULUS, last_line_end, stated_size
from rollcall.pipeline.sources.identity import (
    HEAD_BYTES,
    FileContent,
    inspect,
    may_be_prefix,
    prefix_fingerprint,
    same_content,
)
from rollcall.pipeline.sources.paths import spark_misreads, spark_path
from rollcall.pipeline.spark.errors import translate_errors
from rollcall.tables.columns import FILES
from rollcall.tables.folder import Snapshot

ACTIVE_NAME = "kafka-request.log"
RECENT_SECONDS = 120.0
BATCH_BYTES = 16 << 30
BATCH_FILES = 5000
INSPECT_THREADS = 16
HASHES_PER_QUERY = 5000
DECOMPRESSED_BY_SPARK = (
    *(".gz", ".gzip", ".bz2", ".bzip2", ".zst", ".zstandard", ".lz4", ".snappy", ".deflate"),
    *(".default", ".passthrough"),
)
"""Spark decompresses files with these suffixes (in any case), whatever they contain."""
NOT_A_LOG = "not a log"


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A row of the table `files`: a part of a file that was read before."""

    first_line_hash: str
    fingerprint: str
    bytes: int
    stored_bytes: int
    lines: int
    unreadable: str | None = None


def known_files(
    spark: SparkSession, snapshot: Snapshot, contents: Iterable[FileContent]
) -> list[KnownFile]:
    """The rows of the table `files` whose first line is that of one of these files."""
    hashes = sorted({content.first_line_hash for content in contents})
    parts = snapshot.addresses(FILES.name)
    if not hashes or not parts:
        return []
    found: list[KnownFile] = []
    with translate_errors(snapshot.store.address):
        first_line_hash = F.col("head").alias("first_line_hash")
        unreadable = F.col("lost").alias("unreadable")
        table = spark.read.parquet(*map(spark_path, parts)).select(
            first_line_hash, "fingerprint", "bytes", "stored_bytes", "lines", unreadable
        )
        for first in range(0, len(hashes), HASHES_PER_QUERY):
            chosen = hashes[first : first + HASHES_PER_QUERY]
            rows = table.where(F.col("first_line_hash").isin(chosen)).collect()
            found += (KnownFile(**row.asDict()) for row in rows)
    return found


@dataclass(frozen=True, slots=True)
class PlannedRead:
    """A file to read, or the part of it that is new."""

    content: FileContent
    start: int = 0
    """Uncompressed bytes that were read before."""
    end: int | None = None
    """End of the last complete line; None for a gzip that must be decompressed to know it."""
    lines_before: int = 0
    copy: bool = False
    """Spark must read a copy of the range instead of the file."""

    @property
    def path(self) -> str:
        return self.content.file.path

    @property
    def stored_bytes(self) -> int:
        """Bytes to read from disk."""
        return self.content.file.bytes - (0 if self.content.gzip else self.start)

    @property
    def log_bytes(self) -> int:
        """Uncompressed bytes; of a gzip, an estimate."""
        return self.stored_bytes * GZIP_RATIO if self.content.gzip else self.stored_bytes


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file that was not read, or of which a part was not read."""

    path: str
    reason: str


@dataclass(frozen=True)
class ReadPlan:
    reads: Sequence[PlannedRead] = ()
    not_read: Sequence[UnreadFile] = ()
    already_read: int = 0
    """Files whose lines are all in the tables."""
    deferred: Sequence[str] = ()
    """Gzips that begin like a file of `reads` and may be longer: plan again after that is read."""

    def batches(self) -> Iterator[list[PlannedRead]]:
        batch: list[PlannedRead] = []
        for read in self.reads:
            size = sum(other.log_bytes for other in batch) + read.log_bytes
            if batch and (size > BATCH_BYTES or len(batch) >= BATCH_FILES):
                yield batch
                batch = []
            batch.append(read)
        if batch:
            yield batch


def is_recent(file: LogFile, now: float) -> bool:
    """Modified within 2 minutes. A time slightly in the future may come from another clock."""
    return abs(now - file.modified) < RECENT_SECONDS


def why_still_written(file: LogFile, now: float) -> str | None:
    """The reason if a file found in a directory is still being written, and so is not read yet."""
    if PurePosixPath(file.path).name == ACTIVE_NAME:
        return "still being written: active log"
    if is_recent(file, now):
        return "still being written: changed within the last 2 minutes"
    return None


def why_no_lines(content: FileContent) -> str | None:
    """The reason if there is nothing to read in a file."""
    if content.format:
        return f"{NOT_A_LOG}: looks like {content.format}"
    if content.known_end != 0:
        return None
    if content.damage:
        return f"no line can be read: {content.damage}"
    return "empty" if content.file.bytes == 0 else "no complete line yet"


def incomplete_tail(content: FileContent, now: float) -> str | None:
    """Report an incomplete last line of a plain file that is no longer written."""
    tail = 0 if content.gzip else content.file.bytes - content.end
    if not tail or is_recent(content.file, now):
        return None
    return f"last {tail:,} bytes are an incomplete line, read when the line is complete"


@dataclass
class Planner:
    file_system_of: FileSystemOf
    now: float
    not_read: list[UnreadFile] = field(default_factory=list)

    def inspect(self, files: Iterable[LogFile]) -> list[FileContent]:
        """Inspect each file that can be read now; the others are added to `not_read`."""
        finished = []
        for file in {file.path: file for file in files}.values():
            if not file.explicit and (reason := why_still_written(file, self.now)):
                self.not_read.append(UnreadFile(file.path, reason))
            else:
                finished.append(file)
        with ThreadPoolExecutor(INSPECT_THREADS) as pool:
            contents = list(
                pool.map(lambda file: inspect(self.file_system_of(file.path), file), finished)
            )
        for content in contents:
            if reason := why_no_lines(content) or incomplete_tail(content, self.now):
                self.not_read.append(UnreadFile(content.file.path, reason))
        return [content for content in contents if not why_no_lines(content)]

    def plan(self, contents: Sequence[FileContent], known: Iterable[KnownFile]) -> ReadPlan:
        """What is new in the files. Of copies, the longest is read, and a plain one before a gzip.

        A gzip with several members states only the size of the last one, so it may be longer."""
        by_first_line: dict[str, list[KnownFile]] = {}
        for row in known:
            by_first_line.setdefault(row.first_line_hash, []).append(row)
        chosen: dict[str, list[FileContent]] = {}
        reads, already_read = [], 0
        deferred: list[str] = []
        for content in sorted(contents, key=lambda c: (-c.end, c.gzip, c.file.path)):
            others = chosen.setdefault(content.first_line_hash, [])
            rows = [
                row
                for row in by_first_line.get(content.first_line_hash, ())
                if self._continues(content, row)
            ]
            read = self._new_part(content, rows)
            if read is None:
                already_read += 1
                continue
            longer = next((other for other in others if self._is_part_of(content, other)), None)
            if longer is None:
                others.append(content)
                reads.append(read)
            elif _may_exceed(content, longer):
                deferred.append(content.file.path)
            else:
                already_read += 1
        reads.sort(key=lambda read: read.path)
        return ReadPlan(reads, tuple(self.not_read), already_read, tuple(deferred))

    def _continues(self, content: FileContent, row: KnownFile) -> bool:
        """Whether the file begins with what was read, or is a shorter copy of it."""
        length = min(row.bytes, HEAD_BYTES)
        if length > content.fingerprinted:
            return may_be_prefix(content.fingerprint, row.fingerprint)
        return same_content(row.fingerprint, self._prefix(content, length))

    def _is_part_of(self, content: FileContent, longer: FileContent) -> bool:
        if content.fingerprinted > longer.fingerprinted:
            return False
        return same_content(content.fingerprint, self._prefix(longer, content.fingerprinted))

    def _prefix(self, content: FileContent, length: int) -> str:
        """The fingerprint of the first `length` bytes."""
        if length == content.fingerprinted:
            return content.fingerprint
        return prefix_fingerprint(self.file_system_of(content.file.path), content.file, length)

    def _new_part(self, content: FileContent, rows: Sequence[KnownFile]) -> PlannedRead | None:
        start = max((row.bytes for row in rows), default=0)
        lines = sum(row.lines for row in rows)
        if content.gzip:
            return self._new_part_of_gzip(content, rows, start, lines)
        file, end = content.file, content.end
        if end <= start:
            return None
        settled = end == file.bytes and not is_recent(file, self.now)
        by_name = _needs_copy(file) or file.path.lower().endswith(DECOMPRESSED_BY_SPARK)
        return PlannedRead(content, start, end, lines, copy=start > 0 or not settled or by_name)

    def _new_part_of_gzip(
        self, content: FileContent, rows: Sequence[KnownFile], start: int, lines: int
    ) -> PlannedRead | None:
        if rows and self._gzip_was_read(content, rows, start):
            return None
        if content.damage:  # where it ends is known when it is copied
            return PlannedRead(content, start, None, lines, copy=True)
        by_name = _needs_copy(content.file) or not content.file.path.endswith(".gz")
        copy = start > 0 or content.partial_line or by_name
        return PlannedRead(content, start, content.known_end, lines, copy)

    def _gzip_was_read(self, content: FileContent, rows: Sequence[KnownFile], start: int) -> bool:
        if content.known_end is not None:
            return content.known_end <= start
        files = self.file_system_of(content.file.path)
        last = max(rows, key=lambda row: row.bytes)
        # it may be complete now, or have another member: the stated size does not prove it was read
        if last.unreadable or last.stored_bytes < content.file.bytes:
            return last_line_end(files, content.file) <= start
        if any(row.stored_bytes == content.file.bytes for row in rows):
            return True
        return stated_size(files, content.file) == start % SIZE_MODULUS


def _may_exceed(content: FileContent, longer: FileContent) -> bool:
    return content.gzip and content.known_end is None and content.end != longer.end


def _needs_copy(file: LogFile) -> bool:
    """Spark skips hidden files, expands some names as patterns and decodes only UTF-8 names."""
    return PurePosixPath(file.path).name.startswith(("_", ".")) or spark_misreads(file.path)
