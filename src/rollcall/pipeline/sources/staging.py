"""Copies of what Spark cannot be let loose on itself.

Spark reads a file to its end, wherever that is by then. What grows, ends in half a line, was read
before up to some byte, or is a gzip that breaks off, is copied first: from the byte where reading
stopped, to the end of the last whole line. The copy does not change any more.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass

from rollcall.pipeline.sources.files import FileSystem
from rollcall.pipeline.sources.identity import BrokenGzipError, unpacked
from rollcall.pipeline.sources.planning import Reading
from rollcall.tables.stores import Store

PIECE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Copy:
    names: tuple[str, ...]
    """Pieces in order, in the store of the tables; none when there was no whole line."""
    end: int
    """Where the last whole line ended in the original, uncompressed."""
    unreadable: str | None
    """What could not be read of it."""
    marks: int = 0
    """Bytes of the byte-order marks that pieces begin with: Spark passes over them."""


def copy_lines(place: FileSystem, reading: Reading, store: Store, name: str) -> Copy:
    """Copy whole lines to files `name`-0.log, `name`-1.log, ..."""
    names: list[str] = []
    copied, lost, marks = 0, None, 0

    def put(data: bytes) -> None:
        nonlocal marks
        marks += len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0
        names.append(f"{name}-{len(names)}.log")
        store.write(names[-1], data)

    waiting = bytearray()
    try:
        for chunk in _wanted(place, reading):
            waiting += chunk
            if len(waiting) >= PIECE_BYTES and (cut := waiting.rfind(b"\n") + 1):
                put(bytes(waiting[:cut]))
                copied += cut
                del waiting[:cut]
    except BrokenGzipError as error:
        lost = f"{error}: nothing can be read after {reading.start + copied + len(waiting)} bytes"
    if cut := waiting.rfind(b"\n") + 1:
        put(bytes(waiting[:cut]))
        copied += cut
    return Copy(tuple(names), reading.start + copied, lost, marks)


def _wanted(place: FileSystem, reading: Reading) -> Iterator[bytes]:
    """From the byte where reading stopped to the end that was planned, if one was."""
    at = reading.start
    for chunk in unpacked(place, reading.path, gzip=reading.content.gzip, start=reading.start):
        yield chunk if reading.end is None else chunk[: max(0, reading.end - at)]
        at += len(chunk)
        if reading.end is not None and at >= reading.end:
            return
