"""Which files to read, and from where on: each line once, whatever has become of its file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from rollcall.pipeline.sources.files import GZIP_RATIO, FileSystemOf, LogFile
from rollcall.pipeline.sources.identity import (
    HEAD_BYTES,
    ISIZE_RANGE,
    Content,
    is_same,
    last_size,
    last_whole_line,
    look_at,
    may_be_cut_from,
    prefix_fingerprint,
)
from rollcall.pipeline.sources.paths import spark_misreads

ACTIVE_NAME = "kafka-request.log"
YOUNG_SECONDS = 120.0
BATCH_BYTES = 16 << 30
BATCH_FILES = 5000
LOOKS_AT_ONCE = 16
UNPACKED_BY_SPARK = (
    *(".gz", ".gzip", ".bz2", ".bzip2", ".zst", ".zstandard", ".lz4", ".snappy", ".deflate"),
    *(".default", ".passthrough"),
)
"""By their names, in whatever case, and whatever is in them."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A row of the table `files`: what was read of a file before."""

    head: str
    fingerprint: str
    bytes: int
    stored_bytes: int
    lines: int
    unreadable: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """One file, or what was added to it."""

    content: Content
    start: int = 0
    """Bytes that were read before, uncompressed."""
    end: int | None = None
    """Where the last whole line ends; None when only unpacking can tell."""
    lines_before: int = 0
    copy: bool = False
    """Spark shall not read the file itself, but a copy of what is to be read of it."""

    @property
    def path(self) -> str:
        return self.content.file.path

    @property
    def stored(self) -> int:
        """Bytes to be read, as they lie there."""
        return self.content.file.bytes - (0 if self.content.gzip else self.start)

    @property
    def weight(self) -> int:
        return self.stored * GZIP_RATIO if self.content.gzip else self.stored


@dataclass(frozen=True, slots=True)
class UnreadFile:
    """A file that is not read, and why."""

    path: str
    reason: str


@dataclass(frozen=True)
class Plan:
    readings: Sequence[Reading] = ()
    not_read: Sequence[UnreadFile] = ()
    already_read: int = 0
    """Files whose lines are all in the tables."""
    deferred: Sequence[str] = ()
    """Files that begin as one that is read, and may hold more: it shows when that one was read."""

    def batches(self) -> Iterator[list[Reading]]:
        batch: list[Reading] = []
        for reading in self.readings:
            heavy = sum(other.weight for other in batch) + reading.weight > BATCH_BYTES
            if batch and (heavy or len(batch) >= BATCH_FILES):
                yield batch
                batch = []
            batch.append(reading)
        if batch:
            yield batch


def still_written(file: LogFile, now: float) -> str | None:
    """Why a file that was not given by name should be left alone for now."""
    if PurePosixPath(file.path).name == ACTIVE_NAME:
        return "still being written: it is the active log"
    if is_young(file, now):
        return "still being written: it changed within 2 minutes"
    return None


def is_young(file: LogFile, now: float) -> bool:
    """A time that is ahead may come from another clock; one that is far ahead was set."""
    return abs(now - file.modified) < YOUNG_SECONDS


@dataclass
class Planner:
    file_system_of: FileSystemOf
    now: float
    not_read: list[UnreadFile] = field(default_factory=list)

    def look(self, files: Iterable[LogFile]) -> list[Content]:
        """Look into all files that can be read now, each once, several at a time."""
        settled = []
        for file in {file.path: file for file in files}.values():
            if not file.named and (why := still_written(file, self.now)):
                self.not_read.append(UnreadFile(file.path, why))
            else:
                settled.append(file)
        with ThreadPoolExecutor(LOOKS_AT_ONCE) as pool:
            looks = pool.map(lambda file: look_at(self.file_system_of(file.path), file), settled)
            contents = list(looks)
        for content in contents:
            if why := self._nothing_in(content) or self._half_a_line(content):
                self.not_read.append(UnreadFile(content.file.path, why))
        return [content for content in contents if not self._nothing_in(content)]

    def _nothing_in(self, content: Content) -> str | None:
        if content.looks_like:
            return f"not a log: it looks like {content.looks_like}"
        if content.whole == 0:
            if content.broken:
                return f"a gzip of which not one line can be read: {content.broken}"
            return "empty" if content.file.bytes == 0 else "it holds no whole line yet"
        return None

    def _half_a_line(self, content: Content) -> str | None:
        """What a log ends in that nobody writes to any more."""
        half = 0 if content.gzip else content.file.bytes - content.length
        if not half or is_young(content.file, self.now):
            return None
        return f"its last {half:,} bytes are no whole line yet, and wait for the rest of it"

    def plan(self, contents: Sequence[Content], known: Iterable[KnownFile]) -> Plan:
        """What is new in them. Of two with the same lines, one is taken: the longer, the plain one.
        A gzip may be longer than it tells: one of several members tells the length of the last."""
        by_head: dict[str, list[KnownFile]] = {}
        for row in known:
            by_head.setdefault(row.head, []).append(row)
        taken: dict[str, list[Content]] = {}
        readings, already = [], 0
        deferred: list[str] = []
        order = sorted(contents, key=lambda each: (-each.length, each.gzip, each.file.path))
        for content in order:
            others = taken.setdefault(content.head, [])
            rows = [row for row in by_head.get(content.head, ()) if self._begins_with(content, row)]
            reading = self._new_in(content, rows)
            if reading is None:
                already += 1
                continue
            longer = next((it for it in others if self._is_part_of(content, it)), None)
            if longer is None:
                others.append(content)
                readings.append(reading)
            elif _may_exceed(content, longer):
                deferred.append(content.file.path)
            else:
                already += 1
        readings.sort(key=lambda reading: reading.path)
        return Plan(readings, tuple(self.not_read), already, tuple(deferred))

    def _begins_with(self, content: Content, row: KnownFile) -> bool:
        """Whether it begins with what was read; or is a copy of that, cut off early."""
        length = min(row.bytes, HEAD_BYTES)
        if length > content.first:
            return may_be_cut_from(content.fingerprint, row.fingerprint)
        return is_same(row.fingerprint, self._beginning(content, length))

    def _is_part_of(self, content: Content, longer: Content) -> bool:
        if content.first > longer.first:
            return False
        return is_same(content.fingerprint, self._beginning(longer, content.first))

    def _beginning(self, content: Content, length: int) -> str:
        """The fingerprint of its first bytes."""
        if length == content.first:
            return content.fingerprint
        return prefix_fingerprint(self.file_system_of(content.file.path), content.file, length)

    def _new_in(self, content: Content, rows: Sequence[KnownFile]) -> Reading | None:
        file = content.file
        start = max((row.bytes for row in rows), default=0)
        lines = sum(row.lines for row in rows)
        if content.gzip:
            if rows and self._gzip_was_read(content, rows, start):
                return None
            odd = _has_odd_name(file) or not file.path.endswith(".gz")
            if content.broken:  # what is lost is told by who reads it to the break
                return Reading(content, start, None, lines, copy=True)
            return Reading(content, start, content.whole, lines, start > 0 or content.half or odd)
        end = content.length
        if end <= start:
            return None
        settled = end == file.bytes and not is_young(file, self.now)
        odd = _has_odd_name(file) or file.path.lower().endswith(UNPACKED_BY_SPARK)
        return Reading(content, start, end, lines, copy=start > 0 or not settled or odd)

    def _gzip_was_read(self, content: Content, rows: Sequence[KnownFile], start: int) -> bool:
        if content.whole is not None:
            return content.whole <= start
        place = self.file_system_of(content.file.path)
        last = max(rows, key=lambda row: row.bytes)
        # it may be whole now, or have grown by a member: what it tells of its length is no proof
        if last.unreadable or last.stored_bytes < content.file.bytes:
            return last_whole_line(place, content.file) <= start
        if any(row.stored_bytes == content.file.bytes for row in rows):
            return True
        return last_size(place, content.file) == start % ISIZE_RANGE


def _may_exceed(content: Content, longer: Content) -> bool:
    return content.gzip and content.whole is None and content.length != longer.length


def _has_odd_name(file: LogFile) -> bool:
    """Spark passes over hidden files, takes some names for patterns, and knows none but UTF-8."""
    return PurePosixPath(file.path).name.startswith(("_", ".")) or spark_misreads(file.path)
