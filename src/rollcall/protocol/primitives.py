"""Primitive types: `struct` codes of fixed sizes, varints, arrays of numbers."""

import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any
from uuid import UUID

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
"""Types of fixed size with their big-endian `struct` code."""

MAX_TEXT_BYTES = 32767
"""Kafka keeps this limit of strings in flexible versions, although a varint could hold more."""

PRIMITIVES = frozenset({*FIXED, "string", "bytes", "records"})


class MalformedError(Exception):
    """Bytes that cannot be read. The codec adds message, field and offset."""


class UnwritableError(Exception):
    """A value that cannot be written in this version. The codec adds message and field."""


def size_of(codes: str) -> int:
    return struct.calcsize(f">{codes}")


def read_uvarint(buffer: bytes, offset: int) -> tuple[int, int]:
    """An unsigned varint of up to 31 bits, and the offset after it."""
    value = shift = 0
    while True:
        byte = buffer[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 28:
            raise MalformedError("varint is longer than five bytes")
    if value > 0x7FFFFFFF:
        raise MalformedError(f"varint {value} has more than 31 bits")
    return value, offset


def read_text_length(buffer: bytes, offset: int) -> tuple[int, int]:
    """The length of a compact string plus one, and the offset after it."""
    length, offset = read_uvarint(buffer, offset)
    if length > MAX_TEXT_BYTES + 1:
        raise MalformedError(f"{length - 1} bytes of text, at most {MAX_TEXT_BYTES} are allowed")
    return length, offset


@lru_cache(maxsize=4096)
def write_uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def write_text_length(length: int) -> bytes:
    """The length of a compact string plus one, as a varint."""
    if length > MAX_TEXT_BYTES + 1:
        raise UnwritableError(f"{length - 1} bytes of text, at most {MAX_TEXT_BYTES} are allowed")
    return write_uvarint(length)


# Both keep one `struct.Struct` per array length: with a new format string for each array, Metadata
# 12 is read in 1213 instead of 754 us and written in 1525 instead of 800 us.


def array_unpacker(code: str) -> Callable[[int], Callable[..., tuple[Any, ...]]]:
    """A function from the length of an array of numbers to the function that reads it."""
    return lru_cache(maxsize=128)(lambda count: struct.Struct(f">{count}{code}").unpack_from)


def array_packer(code: str) -> Callable[[int], Callable[..., bytes]]:
    """A function from the length of an array of numbers to the function that writes it."""
    return lru_cache(maxsize=128)(lambda count: struct.Struct(f">{count}{code}").pack)
