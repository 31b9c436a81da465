"""What Spark is given to read for a batch, and the check that it read just that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pyspark.sql import Row

from rollcall.pipeline.errors import ChangedError
from rollcall.pipeline.sources.files import FileSystem, FileSystemOf
from rollcall.pipeline.sources.identity import (
    HEAD_BYTES,
    ISIZE_RANGE,
    BrokenGzipError,
    last_size,
    prefix_fingerprint,
    unpacked,
)
from rollcall.pipeline.sources.paths import normalized, path_from_spark, spark_path
from rollcall.pipeline.sources.planning import Reading
from rollcall.pipeline.sources.staging import copy_lines
from rollcall.tables.stores import Store


@dataclass(frozen=True, slots=True)
class Input:
    reading: Reading
    addresses: tuple[str, ...]
    """The file itself, or the pieces of its copy in order."""
    end: int | None
    unreadable: str | None = None
    marks: int = 0
    """Bytes of byte-order marks that Spark passes over."""


def prepare(
    readings: Sequence[Reading],
    file_system_of: FileSystemOf,
    store: Store,
    staging: str,
) -> list[Input]:
    """Copy what has to be copied; leave out what turns out to have nothing new."""
    inputs = []
    for number, reading in enumerate(readings):
        if not reading.copy:
            address = (spark_path(reading.path),)
            inputs.append(Input(reading, address, reading.end, marks=reading.content.bom))
            continue
        copy = copy_lines(file_system_of(reading.path), reading, store, f"{staging}/{number:06}")
        if copy.names or copy.unreadable:
            addresses = tuple(spark_path(f"{store.address}/{name}") for name in copy.names)
            inputs.append(Input(reading, addresses, copy.end, copy.unreadable, copy.marks))
    return inputs


@dataclass(frozen=True, slots=True)
class Tally:
    """What was counted of one input, its pieces in order."""

    given: Input
    end: int
    rows: tuple[Row, ...]

    def total(self, name: str) -> int:
        return sum(row[name] for row in self.rows)

    def fingerprint(self, place: FileSystem) -> str:
        content = self.given.reading.content
        if self.end >= HEAD_BYTES or content.first == self.end:
            return content.fingerprint
        return prefix_fingerprint(place, content.file, self.end)


def tally(inputs: Sequence[Input], counted: Sequence[Row]) -> list[Tally]:
    by_file: Mapping[str, Row] = {path_from_spark(row["file"]): row for row in counted}
    found = []
    for each in inputs:
        rows = tuple(by_file[name] for name in map(normalized, each.addresses) if name in by_file)
        read = sum(row["bytes_read"] for row in rows) + (each.marks if rows else 0)
        found.append(Tally(each, each.reading.start + read, rows))
    return found


def check_whole(tallies: Sequence[Tally], file_system_of: FileSystemOf) -> list[Reading]:
    """Readings that Spark must be given a copy of; an error if a file changed under its hands."""
    broken = []
    for each in tallies:
        reading = each.given.reading
        if each.given.end is not None:
            if each.end != each.given.end:
                raise changed(reading.path)
        elif not _gzip_was_whole(file_system_of(reading.path), each):
            broken.append(reading)
    return broken


def _gzip_was_whole(place: FileSystem, each: Tally) -> bool:
    """Ends in a whole line; a last line that is not one was counted with a newline it lacks."""
    reading = each.given.reading
    if each.end % ISIZE_RANGE == last_size(place, reading.content.file):
        return True
    length, last = 0, b""
    try:
        for chunk in unpacked(place, reading.path, gzip=True):
            length, last = length + len(chunk), chunk[-1:]
    except BrokenGzipError:
        return False
    return length == each.end and last == b"\n"


def find_broken(readings: Sequence[Reading], file_system_of: FileSystemOf) -> list[Reading]:
    """Gzips that break off: unpack each, here, as Spark did not say which it was. All of them, if
    we can read what Spark cannot."""
    packed = [reading for reading in readings if reading.content.gzip and not reading.copy]
    broken = []
    for reading in packed:
        try:
            for _ in unpacked(file_system_of(reading.path), reading.path, gzip=True):
                pass
        except BrokenGzipError:
            broken.append(reading)
    return broken or packed


def with_copies(readings: Sequence[Reading], broken: Sequence[Reading]) -> list[Reading]:
    return [replace(reading, copy=True) if reading in broken else reading for reading in readings]


def changed(path: str) -> ChangedError:
    return ChangedError(
        f"{path} changed while it was read",
        hint="run this again; a log that is still written is left when its folder is given",
    )
