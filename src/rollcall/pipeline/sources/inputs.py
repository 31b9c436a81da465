"""What Spark reads for a batch, and the check that it read exactly that.

Spark reads a file to its end, wherever that is by then. A file that grows, ends in an incomplete
line, was read before up to some byte, or is a damaged gzip is copied first: from the byte where
reading stopped to the end of the last complete line. The copy does not change.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Row

from rollcall.pipeline.errors import ChangedError
from rollcall.pipeline.sources.files import FileSystem, FileSystemOf
from rollcall.pipeline.sources.gzip_stream import (
    SIZE_MODULUS,
    BrokenGzipError,
    read_content,
    stated_size,
)
from rollcall.pipeline.sources.identity import HEAD_BYTES, prefix_fingerprint
from rollcall.pipeline.sources.paths import normalized, path_from_spark, spark_path
from rollcall.pipeline.sources.planning import PlannedRead
from rollcall.tables.stores import Store

PIECE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class SparkInput:
    """The files that Spark reads for one planned read."""

    read: PlannedRead
    addresses: tuple[str, ...]
    """The file itself, or the pieces of its copy in order."""
    end: int | None
    unreadable: str | None = None
    """Why a part of the file could not be read."""
    bom_bytes: int = 0
    """Bytes of byte-order marks, which Spark skips."""


def prepare(
    reads: Sequence[PlannedRead], file_system_of: FileSystemOf, store: Store, staging: str
) -> list[SparkInput]:
    """Copy what must be copied; leave out files that turn out to have nothing new."""
    inputs = []
    for number, read in enumerate(reads):
        if not read.copy:
            bom_bytes = read.content.bom_bytes
            inputs.append(SparkInput(read, (spark_path(read.path),), read.end, bom_bytes=bom_bytes))
            continue
        copied = copy_lines(file_system_of(read.path), read, store, f"{staging}/{number:06}")
        if copied.addresses or copied.unreadable:
            inputs.append(copied)
    return inputs


def copy_lines(files: FileSystem, read: PlannedRead, store: Store, name: str) -> SparkInput:
    """Copy complete lines to the files `name`-0.log, `name`-1.log, ... in the store."""
    addresses: list[str] = []
    copied, unreadable, bom_bytes = 0, None, 0

    def put(data: bytes) -> None:
        nonlocal bom_bytes, copied
        bom_bytes += len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
        piece = f"{name}-{len(addresses)}.log"
        store.write(piece, data)
        addresses.append(spark_path(f"{store.address}/{piece}"))
        copied += len(data)

    waiting = bytearray()
    try:
        for chunk in _planned_bytes(files, read):
            waiting += chunk
            if len(waiting) >= PIECE_BYTES and (end := waiting.rfind(b"\n") + 1):
                put(bytes(waiting[:end]))
                del waiting[:end]
    except BrokenGzipError as error:
        unreadable = f"{error}: cannot read beyond byte {read.start + copied + len(waiting)}"
    if end := waiting.rfind(b"\n") + 1:
        put(bytes(waiting[:end]))
    return SparkInput(read, tuple(addresses), read.start + copied, unreadable, bom_bytes)


def _planned_bytes(files: FileSystem, read: PlannedRead) -> Iterator[bytes]:
    """The content from the planned start to the planned end, if one was planned."""
    position = read.start
    for chunk in read_content(files, read.path, gzip=read.content.gzip, start=read.start):
        yield chunk if read.end is None else chunk[: max(0, read.end - position)]
        position += len(chunk)
        if read.end is not None and position >= read.end:
            return


@dataclass(frozen=True, slots=True)
class InputCounts:
    """What was counted in one input: one row for each of its pieces, in order."""

    spark_input: SparkInput
    end: int
    rows: tuple[Row, ...]

    def total(self, name: str) -> int:
        return sum(row[name] for row in self.rows)

    def fingerprint(self, files: FileSystem) -> str:
        content = self.spark_input.read.content
        if self.end >= HEAD_BYTES or content.fingerprinted == self.end:
            return content.fingerprint
        return prefix_fingerprint(files, content.file, self.end)


def counts_by_input(inputs: Sequence[SparkInput], counted: Sequence[Row]) -> list[InputCounts]:
    by_path: Mapping[str, Row] = {path_from_spark(row["file"]): row for row in counted}
    found = []
    for given in inputs:
        paths = map(normalized, given.addresses)
        rows = tuple(by_path[path] for path in paths if path in by_path)
        bytes_read = sum(row["bytes_read"] for row in rows) + (given.bom_bytes if rows else 0)
        found.append(InputCounts(given, given.read.start + bytes_read, rows))
    return found


def check_ends(counts: Sequence[InputCounts], file_system_of: FileSystemOf) -> list[PlannedRead]:
    """Check that Spark read each input to its planned end; raise ChangedError if it did not.

    Returns gzips without a planned end that must be copied, because they are damaged or end in an
    incomplete line."""
    damaged = []
    for counted in counts:
        read = counted.spark_input.read
        if counted.spark_input.end is not None:
            if counted.end != counted.spark_input.end:
                raise changed(read.path)
        elif not _gzip_was_complete(file_system_of(read.path), counted):
            damaged.append(read)
    return damaged


def _gzip_was_complete(files: FileSystem, counted: InputCounts) -> bool:
    """Spark counts an incomplete last line as if it had a newline, so the sizes differ by 1."""
    read = counted.spark_input.read
    if counted.end % SIZE_MODULUS == stated_size(files, read.content.file):
        return True
    length, last = 0, b""
    try:
        for chunk in read_content(files, read.path, gzip=True):
            length, last = length + len(chunk), chunk[-1:]
    except BrokenGzipError:
        return False
    return length == counted.end and last == b"\n"


def find_damaged(reads: Sequence[PlannedRead], file_system_of: FileSystemOf) -> list[PlannedRead]:
    """The damaged gzips of a batch: Spark does not report which file failed.

    All gzips if zlib can read them all, because then Spark's codec is stricter."""
    gzips = [read for read in reads if read.content.gzip and not read.copy]
    damaged = []
    for read in gzips:
        try:
            for _ in read_content(file_system_of(read.path), read.path, gzip=True):
                pass
        except BrokenGzipError:
            damaged.append(read)
    return damaged or gzips


def with_copies(reads: Sequence[PlannedRead], damaged: Sequence[PlannedRead]) -> list[PlannedRead]:
    return [replace(read, copy=True) if read in damaged else read for read in reads]


def changed(path: str) -> ChangedError:
    return ChangedError(
        f"{path} changed while it was read",
        hint="run the command again, or give the directory: files still being written are skipped",
    )
