"""Primitive types: their fixed sizes as `struct` codes, varints, arrays of numbers."""

import struct
from collections.abc import Callable
from functools import cache
from typing import Any
from uuid import UUID, SafeUUID

ZERO_UUID = UUID(int=0)

FIXED: dict[str, str] = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
"""Types whose size does not depend on the value, with their big-endian `struct` code."""

LONGEST_TEXT = 32767
"""In bytes. Kafka keeps to it in flexible versions, too, whose lengths could tell more."""

PRIMITIVES = frozenset({*FIXED, "string", "bytes", "records"})


class MalformedError(Exception):
    """Bytes that cannot be read, told without context; the codec adds message, field and offset."""


class UnwritableError(Exception):
    """A value that this version cannot carry, told without context; the codec adds it."""


def size_of(codes: str) -> int:
    return struct.calcsize(f">{codes}")


def read_uvarint(buffer: bytes, offset: int) -> tuple[int, int]:
    """An unsigned varint of up to 31 bits, and the offset behind it."""
    value = shift = 0
    while True:
        byte = buffer[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 28:
            raise MalformedError("a varint runs over five bytes")
    if value > 0x7FFFFFFF:
        raise MalformedError(f"a varint holds {value}, more than 31 bits")
    return value, offset


def read_text_length(buffer: bytes, offset: int) -> tuple[int, int]:
    """The length of a compact string, one more than it is, and the offset behind it."""
    length, offset = read_uvarint(buffer, offset)
    if length > LONGEST_TEXT + 1:
        raise MalformedError(f"{length - 1} bytes of text announced, {LONGEST_TEXT} are allowed")
    return length, offset


def write_uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class UvarintTable(dict[int, bytes]):
    """Varints by value: those up to 4095 are looked up, the others made each time."""

    def __init__(self) -> None:
        super().__init__((value, write_uvarint(value)) for value in range(4096))

    def __missing__(self, value: int) -> bytes:
        return write_uvarint(value)


class TextLengthTable(UvarintTable):
    """Lengths of compact strings, one more than they are."""

    def __missing__(self, value: int) -> bytes:
        if value > LONGEST_TEXT + 1:
            raise UnwritableError(f"{value - 1} bytes of text, {LONGEST_TEXT} are allowed")
        return super().__missing__(value)


@cache
def array_readers(code: str, *, compact: bool) -> tuple[Callable[[bytes, int], Any], ...]:
    """How to read an array of numbers, by its length as it is written (compact: one more).

    The table ends at 127; longer arrays go through `read_long_array`.
    """
    readers = [struct.Struct(f">{count}{code}").unpack_from for count in range(128)]
    return (_refuse_null, *readers[:-1]) if compact else tuple(readers)


def _refuse_null(_buffer: bytes, _offset: int) -> Any:
    raise MalformedError("null is not allowed here")


def read_long_array(buffer: bytes, offset: int, count: int, code: str) -> tuple[Any, ...]:
    """`struct` holds the size against the bytes that are left before it makes the tuple."""
    if count < 0:
        raise MalformedError(f"the length is {count}, but null is not allowed here")
    return struct.unpack_from(f">{count}{code}", buffer, offset)


def read_uuid(raw: bytes) -> UUID:
    """`UUID(bytes=raw)`, without the checks that cost three times as much as the rest."""
    value = object.__new__(UUID)
    object.__setattr__(value, "int", int.from_bytes(raw, "big"))
    object.__setattr__(value, "is_safe", SafeUUID.unknown)
    return value
