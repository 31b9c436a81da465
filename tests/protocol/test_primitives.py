import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollcall.protocol.primitives import (
    FIXED,
    PRIMITIVES,
    MalformedError,
    UnwritableError,
    array_packer,
    array_unpacker,
    read_text_length,
    read_uvarint,
    size_of,
    write_text_length,
    write_uvarint,
)

# From KIP-482 and Kafka's tests.
VARINTS = {
    0: "00",
    1: "01",
    127: "7f",
    128: "8001",
    300: "ac02",
    16383: "ff7f",
    16384: "808001",
    2097151: "ffff7f",
    2097152: "80808001",
    268435455: "ffffff7f",
    268435456: "8080808001",
    2**31 - 1: "ffffffff07",
}


@pytest.mark.parametrize(("value", "data"), VARINTS.items())
def test_a_varint_has_seven_bits_per_byte_lowest_first(value: int, data: str) -> None:
    assert write_uvarint(value) == bytes.fromhex(data)
    assert read_uvarint(b"xx" + bytes.fromhex(data) + b"\xff", 2) == (value, 2 + len(data) // 2)


@given(st.integers(0, 2**31 - 1))
def test_a_varint_survives_a_round_trip(value: int) -> None:
    data = write_uvarint(value)
    assert read_uvarint(data, 0) == (value, len(data))


@pytest.mark.parametrize("length", [1, 32768])
def test_the_length_of_a_compact_string_survives_a_round_trip(length: int) -> None:
    assert read_text_length(write_text_length(length), 0)[0] == length


def test_the_length_of_a_compact_string_is_limited_to_32767_bytes() -> None:
    with pytest.raises(UnwritableError, match="32768 bytes of text"):
        write_text_length(32769)
    with pytest.raises(MalformedError, match="32768 bytes of text"):
        read_text_length(write_uvarint(32769), 0)


@pytest.mark.parametrize("data", ["8080808008", "ffffffff0f", "ffffffffff00", "808080808000"])
def test_a_varint_of_more_than_31_bits_is_malformed(data: str) -> None:
    with pytest.raises(MalformedError):
        read_uvarint(bytes.fromhex(data), 0)


@pytest.mark.parametrize("data", ["", "80", "ffff", "ffffffff"])
def test_a_truncated_varint_is_an_index_error(data: str) -> None:
    with pytest.raises(IndexError):
        read_uvarint(bytes.fromhex(data), 0)


@pytest.mark.parametrize(
    ("type_", "size"),
    [("bool", 1), ("int8", 1), ("int16", 2), ("uint16", 2), ("int32", 4), ("uint32", 4),
     ("int64", 8), ("float64", 8), ("uuid", 16)],
)  # fmt: skip
def test_a_fixed_type_has_its_size(type_: str, size: int) -> None:
    assert size_of(FIXED[type_]) == size
    assert type_ in PRIMITIVES


@pytest.mark.parametrize("count", [0, 1, 127, 128, 1000])
def test_an_array_of_numbers_survives_a_round_trip(count: int) -> None:
    data = array_packer("i")(count)(*range(count))
    assert data == struct.pack(f">{count}i", *range(count))
    assert array_unpacker("i")(count)(data, 0) == tuple(range(count))


@pytest.mark.parametrize("code", ["?", "b", "h", "i", "q", "d"])
def test_an_array_longer_than_the_bytes_is_an_error_before_memory_is_allocated(code: str) -> None:
    with pytest.raises(struct.error):
        array_unpacker(code)(2**31 - 1)(bytes(100), 0)
