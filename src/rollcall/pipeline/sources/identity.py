"""What a log file contains, and a fingerprint by which it is recognised again.

A file is recognised by its content, so it may be rolled, renamed, moved or compressed. A hash of
the first line finds candidates; a hash of the first 64 KB decides. If a file was shorter when it
was read, that hash covers the complete lines it had. Hashes of the first 256, 512, ... bytes
recognise a copy that was cut off earlier.
"""

from __future__ import annotations

import codecs
import hashlib
from dataclasses import dataclass
from typing import NamedTuple

from rollcall.pipeline.sources.files import FileSystem, LogFile
from rollcall.pipeline.sources.gzip_stream import (
    MAGIC,
    BrokenGzipError,
    read_content,
    stated_size,
)

HEAD_BYTES = 65536
PREFIX_LENGTHS = tuple(256 << doubling for doubling in range(8))

MAGIC_NUMBERS = (
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
TAR_MAGIC, TAR_MAGIC_AT, TAR_NAME_BYTES = b"ustar", 257, 100
REQUEST_MARK = b"Completed request:"
TEXT_CONTROLS = frozenset(b"\t\r\n\x1b")


@dataclass(frozen=True, slots=True)
class FileContent:
    file: LogFile
    gzip: bool
    first_line_hash: str
    fingerprinted: int
    """Bytes that the fingerprint covers: 64 KB, or all complete lines of a shorter file."""
    fingerprint: str
    known_end: int | None
    """End of the last complete line if the file is at most 64 KB long, else None."""
    end: int
    """End of the last complete line; of a longer gzip, the size that its last member states."""
    partial_line: bool = False
    """The file is at most 64 KB long and ends in an incomplete line."""
    bom_bytes: int = 0
    """Length of the byte-order mark."""
    damage: str | None = None
    """Why the first 64 KB of a gzip cannot be decompressed."""
    format: str | None = None
    """What the file is, if it is not a text file."""


def inspect(files: FileSystem, file: LogFile) -> FileContent:
    """Read the first 64 KB, uncompressed, and the last few bytes."""
    head = read_head(files, file)
    data = head.data
    first_line_end = data.find(b"\n") + 1
    known_end = data.rfind(b"\n") + 1 if head.complete else None
    fingerprinted = known_end if known_end is not None else len(data)
    if known_end is not None:
        end = known_end
    elif head.gzip:
        end = max(stated_size(files, file), HEAD_BYTES)
    else:
        end = last_line_end(files, file)
    return FileContent(
        file,
        head.gzip,
        first_line_hash=digest(data[: first_line_end or len(data)]),
        fingerprinted=fingerprinted,
        fingerprint=fingerprint(data[:fingerprinted]),
        known_end=known_end,
        end=end,
        partial_line=known_end is not None and known_end < len(data),
        bom_bytes=len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0,
        damage=head.damage,
        format=_other_format(data),
    )


class Head(NamedTuple):
    data: bytes
    """The first 64 KB, uncompressed."""
    gzip: bool
    complete: bool
    """`data` is the whole content, or all of it that can be decompressed."""
    damage: str | None = None


def read_head(files: FileSystem, file: LogFile) -> Head:
    gzip = next(files.chunks(file.path, 0, len(MAGIC)), b"") == MAGIC
    data = b""
    try:
        for chunk in read_content(files, file.path, gzip=gzip, chunk=HEAD_BYTES):
            data += chunk
            if len(data) > HEAD_BYTES:
                return Head(data[:HEAD_BYTES], gzip, complete=False)
    except BrokenGzipError as error:
        return Head(data[:HEAD_BYTES], gzip, complete=True, damage=str(error))
    return Head(data, gzip, complete=True)


def last_line_end(files: FileSystem, file: LogFile) -> int:
    """The end of the last complete line of a plain file, within the size it was listed with."""
    end = file.bytes
    while end > 0:
        start = max(0, end - HEAD_BYTES)
        tail = next(files.chunks(file.path, start, end - start), b"")[: end - start]
        if (found := tail.rfind(b"\n")) >= 0:
            return start + found + 1
        end = start
    return 0


def prefix_fingerprint(files: FileSystem, file: LogFile, length: int) -> str:
    """The fingerprint of the first `length` bytes."""
    return fingerprint(read_head(files, file).data[:length])


def fingerprint(data: bytes) -> str:
    """A hash of the data, then a short hash of each shorter prefix length."""
    prefixes = (digest(data[:length])[:8] for length in PREFIX_LENGTHS if length < len(data))
    return "-".join((digest(data), *prefixes))


def same_content(one: str, other: str) -> bool:
    """Whether two fingerprints of the same number of bytes are of the same bytes."""
    return one.partition("-")[0] == other.partition("-")[0]


def may_be_prefix(shorter: str, longer: str) -> bool:
    """Whether all prefix hashes of `shorter` are those of a fingerprint of more bytes."""
    prefixes = shorter.split("-")[1:]
    return bool(prefixes) and longer.split("-")[1 : len(prefixes) + 1] == prefixes


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]


def _other_format(data: bytes) -> str | None:
    """The format of a file that is not a text file."""
    for magic, name in MAGIC_NUMBERS:
        if data.startswith(magic):
            return name
    # a tar header pads the file name with zero bytes; a log line has none there
    if data.startswith(TAR_MAGIC, TAR_MAGIC_AT) and b"\x00" in data[:TAR_NAME_BYTES]:
        return "a tar archive"
    if REQUEST_MARK in data:  # client ids may contain any byte: the file is a log nevertheless
        return None
    if b"\x00" in data:
        return "a binary file, or a log with a hole of zero bytes"
    controls = sum(byte < ord(" ") and byte not in TEXT_CONTROLS for byte in data[:4096])
    return "a binary file" if controls * 10 > len(data[:4096]) else None
