"""What is in a file: its bytes uncompressed, what it looks like, and how it is known again.

A file is known by its content, so that it may be rolled, renamed, moved or compressed: a hash of
its first line finds the files that might be the same, a hash of the first 64 KB tells. Of a
file that was shorter when it was read, the hash is of the whole lines that were there. Hashes of
its first 256 bytes, 512 bytes and so on tell a copy that was cut off before that.
"""

from __future__ import annotations

import codecs
import hashlib
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from rollcall.pipeline.sources.files import FileSystem, LogFile

if TYPE_CHECKING:
    from zlib import _Decompress as Inflating

HEAD_BYTES = 65536
RUNGS = tuple(256 << doubling for doubling in range(8))
CHUNK_BYTES = 1 << 20
GZIP = b"\x1f\x8b"
GZIP_WINDOW = 31
PADDING = b"\x00"
"""What a tape or a block device leaves behind a gzip."""
ISIZE_RANGE = 1 << 32
"""A gzip ends with the length of its last member, modulo this."""

LOOKS = (
    (b"PK\x03\x04", "a zip archive"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"\x28\xb5\x2f\xfd", "a zstd file"),
    (b"\x04\x22\x4d\x18", "an lz4 file"),
    (b"PAR1", "a Parquet file"),
    (b"\x89PNG", "a picture"),
    (b"\x7fELF", "a program"),
    (b"%PDF", "a PDF"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
)
TAR, TAR_AT = b"ustar", 257
REQUEST_MARK = b"Completed request:"
PLAIN_CONTROLS = frozenset(b"\t\r\n\x1b")


class BrokenGzipError(Exception):
    """The bytes up to here are good; the rest is not there, or damaged."""


@dataclass(frozen=True, slots=True)
class Content:
    file: LogFile
    gzip: bool
    head: str
    """A hash of the first line."""
    first: int
    """How many bytes the first lines are known: 64 KB, or all there are."""
    fingerprint: str
    """A hash of those, and of each rung below."""
    whole: int | None
    """Where the last whole line ends, if all of the content was seen; else None."""
    length: int
    """Where the last whole line ends; of a long gzip, the length that it gives itself."""
    half: bool = False
    """All of the content was seen, and it does not end with a whole line."""
    bom: int = 0
    """Bytes of a byte-order mark at the beginning."""
    broken: str | None = None
    """What is wrong with a gzip that cannot be unpacked to the end of its first 64 KB."""
    looks_like: str | None = None
    """What it is, if it is no text."""


def look_at(place: FileSystem, file: LogFile) -> Content:
    """Read the first 64 KB, uncompressed, and the last few bytes."""
    start = read_head(place, file)
    head, complete = start.data, start.complete
    end = head.find(b"\n") + 1
    whole = head.rfind(b"\n") + 1 if complete else None
    seen = whole if whole is not None else len(head)
    return Content(
        file,
        start.gzip,
        head=digest(head[: end or len(head)]),
        first=seen,
        fingerprint=fingerprint(head[:seen]),
        whole=whole,
        length=whole if whole is not None else _length(place, file, gzip=start.gzip),
        half=whole is not None and whole < len(head),
        bom=len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0,
        broken=start.broken,
        looks_like=_looks_like(head),
    )


def _length(place: FileSystem, file: LogFile, *, gzip: bool) -> int:
    if gzip:
        return max(last_size(place, file), HEAD_BYTES)
    return last_line_end(place, file)


class Head(NamedTuple):
    data: bytes
    """The first 64 KB."""
    gzip: bool
    complete: bool
    """That is all there is, or all that can be unpacked."""
    broken: str | None = None


def read_head(place: FileSystem, file: LogFile) -> Head:
    gzip = next(place.chunks(file.path, 0, 2), b"") == GZIP
    head = b""
    try:
        for chunk in unpacked(place, file.path, gzip=gzip, chunk=HEAD_BYTES):
            head += chunk
            if len(head) > HEAD_BYTES:
                return Head(head[:HEAD_BYTES], gzip, complete=False)
    except BrokenGzipError as error:
        return Head(head[:HEAD_BYTES], gzip, complete=True, broken=str(error))
    return Head(head, gzip, complete=True)


def prefix_fingerprint(place: FileSystem, file: LogFile, length: int) -> str:
    return fingerprint(read_head(place, file).data[:length])


def fingerprint(head: bytes) -> str:
    """A hash of the whole, then short ones of its first bytes, up to each rung below its end."""
    rungs = (digest(head[:rung])[:8] for rung in RUNGS if rung < len(head))
    return "-".join((digest(head), *rungs))


def is_same(one: str, other: str) -> bool:
    """Whether two fingerprints, of the same number of bytes, are of the same bytes."""
    return one.partition("-")[0] == other.partition("-")[0]


def may_be_cut_from(short: str, longer: str) -> bool:
    """Whether all rungs of one fingerprint are those of another, which was made of more bytes."""
    rungs = short.split("-")[1:]
    return bool(rungs) and longer.split("-")[1 : len(rungs) + 1] == rungs


def unpacked(
    place: FileSystem, path: str, *, gzip: bool, start: int = 0, chunk: int = CHUNK_BYTES
) -> Iterator[bytes]:
    """The content from `start` on, uncompressed; a gzip may have several members."""
    if not gzip:
        yield from place.chunks(path, start, chunk)
        return
    skip = start
    for data in _gunzip(place.chunks(path, 0, chunk)):
        if skip < len(data):
            yield data[skip:]
        skip = max(0, skip - len(data))


def _gunzip(chunks: Iterator[bytes]) -> Iterator[bytes]:
    member = zlib.decompressobj(GZIP_WINDOW)
    for chunk in chunks:
        while chunk := chunk.lstrip(PADDING) if member.eof else chunk:
            if member.eof:
                member = zlib.decompressobj(GZIP_WINDOW)
            before = member.copy()
            try:
                data = member.decompress(chunk)
            except zlib.error as error:
                yield _before_damage(before, chunk)
                raise BrokenGzipError(f"it is damaged ({error})") from error
            yield data
            chunk = member.unused_data
    if not member.eof:
        raise BrokenGzipError("it ends too early")


def _before_damage(member: Inflating, chunk: bytes) -> bytes:
    """What can be read of a damaged chunk: byte by byte, as an error takes all with it that was
    read in the same call."""
    found = bytearray()
    try:
        for byte in chunk:
            found += member.decompress(bytes((byte,)))
    except zlib.error:
        pass
    return bytes(found)


def last_size(place: FileSystem, file: LogFile) -> int:
    """The length that a gzip gives at its end."""
    tail = b"".join(place.chunks(file.path, max(0, file.bytes - 4), 4))[:4]
    return int.from_bytes(tail, "little")


def last_whole_line(place: FileSystem, file: LogFile) -> int:
    """Where the last whole line of a gzip ends that can be read: all of it is unpacked for that."""
    length = end = 0
    with suppress(BrokenGzipError):
        for chunk in unpacked(place, file.path, gzip=True):
            if (found := chunk.rfind(b"\n")) >= 0:
                end = length + found + 1
            length += len(chunk)
    return end


def last_line_end(place: FileSystem, file: LogFile) -> int:
    """Where the last whole line of a plain file ends, within the size it was listed with."""
    end = file.bytes
    while end > 0:
        start = max(0, end - HEAD_BYTES)
        tail = next(place.chunks(file.path, start, end - start), b"")[: end - start]
        if (found := tail.rfind(b"\n")) >= 0:
            return start + found + 1
        end = start
    return 0


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _looks_like(head: bytes) -> str | None:
    for magic, name in LOOKS:
        if head.startswith(magic):
            return name
    # a name comes first, and what is left of its 100 bytes is empty: no client writes there
    if head.startswith(TAR, TAR_AT) and b"\x00" in head[:100]:
        return "a tar archive"
    if REQUEST_MARK in head:  # a client may have any byte in its id, and must not hide the others
        return None
    if b"\x00" in head:
        return "a binary file, or a log with a hole of zero bytes"
    controls = sum(byte < ord(" ") and byte not in PLAIN_CONTROLS for byte in head[:4096])
    return "a binary file" if controls * 10 > len(head[:4096]) else None
