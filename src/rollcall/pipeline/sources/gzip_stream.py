"""Gzip content as a stream of bytes, up to the first damaged or missing byte."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from rollcall.pipeline.sources.files import FileSystem, LogFile

if TYPE_CHECKING:
    from zlib import _Decompress as Decompressor

CHUNK_BYTES = 1 << 20
MAGIC = b"\x1f\x8b"
WINDOW_BITS = 31
PADDING = b"\x00"
"""Tapes and block devices pad a gzip with zero bytes."""
SIZE_MODULUS = 1 << 32
"""A gzip ends with the uncompressed size of its last member, modulo this."""


class BrokenGzipError(Exception):
    """The content up to here is valid; the rest is missing or damaged."""


def read_content(
    files: FileSystem, path: str, *, gzip: bool, start: int = 0, chunk: int = CHUNK_BYTES
) -> Iterator[bytes]:
    """The uncompressed content from `start` on; a gzip may have several members."""
    if not gzip:
        yield from files.chunks(path, start, chunk)
        return
    skip = start
    for data in _decompress(files.chunks(path, 0, chunk)):
        if skip < len(data):
            yield data[skip:]
        skip = max(0, skip - len(data))


def _decompress(chunks: Iterator[bytes]) -> Iterator[bytes]:
    member = zlib.decompressobj(WINDOW_BITS)
    for chunk in chunks:
        while chunk := chunk.lstrip(PADDING) if member.eof else chunk:
            if member.eof:
                member = zlib.decompressobj(WINDOW_BITS)
            before = member.copy()
            try:
                data = member.decompress(chunk)
            except zlib.error as error:
                yield _up_to_damage(before, chunk)
                raise BrokenGzipError(f"gzip is damaged ({error})") from error
            yield data
            chunk = member.unused_data
    if not member.eof:
        raise BrokenGzipError("gzip ends too early")


def _up_to_damage(member: Decompressor, chunk: bytes) -> bytes:
    """The valid content of a damaged chunk, byte by byte: a failed call of zlib has no output."""
    found = bytearray()
    with suppress(zlib.error):
        for byte in chunk:
            found += member.decompress(bytes((byte,)))
    return bytes(found)


def stated_size(files: FileSystem, file: LogFile) -> int:
    """The uncompressed size in the last 4 bytes of a gzip: that of its last member."""
    tail = b"".join(files.chunks(file.path, max(0, file.bytes - 4), 4))[:4]
    return int.from_bytes(tail, "little")


def last_line_end(files: FileSystem, file: LogFile) -> int:
    """The end of the last complete line that can be read; decompresses the whole file."""
    length = end = 0
    with suppress(BrokenGzipError):
        for chunk in read_content(files, file.path, gzip=True):
            if (found := chunk.rfind(b"\n")) >= 0:
                end = length + found + 1
            length += len(chunk)
    return end
