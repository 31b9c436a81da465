"""Primitive types: their fixed sizes as `struct` codes, and the varints between them."""

import struct
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
"""Types whose size does not depend on the value, with their big-endian `struct` code."""

PRIMITIVES = frozenset({*FIXED, "string", "bytes", "records"})


class Malformed(Exception):
    """Bytes that cannot be read, told without context; the codec adds message, field and offset."""


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
            raise Malformed("a varint runs over five bytes")
    if value > 0x7FFFFFFF:
        raise Malformed(f"a varint holds {value}, more than 31 bits")
    return value, offset


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
