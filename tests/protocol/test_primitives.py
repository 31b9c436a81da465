import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollcall.protocol.primitives import (
    FIXED,
    PRIMITIVES,
    MalformedError,
    UvarintTable,
    array_readers,
    read_long_array,
    read_uvarint,
    size_of,
    write_uvarint,
)

# As KIP-482 and Kafka's own tests have them.
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
def test_a_varint_has_seven_bits_in_a_byte_the_lowest_first(value: int, data: str) -> None:
    assert write_uvarint(value) == bytes.fromhex(data)
    assert UvarintTable()[value] == bytes.fromhex(data)
    assert read_uvarint(b"xx" + bytes.fromhex(data) + b"\xff", 2) == (value, 2 + len(data) // 2)


@given(st.integers(0, 2**31 - 1))
def test_every_varint_survives_a_round_trip(value: int) -> None:
    data = write_uvarint(value)
    assert read_uvarint(data, 0) == (value, len(data))


def test_the_table_of_varints_does_not_grow() -> None:
    table = UvarintTable()
    size = len(table)
    for value in (4095, 4096, 70_000, 2**31 - 1):
        assert table[value] == write_uvarint(value)
    assert len(table) == size


@pytest.mark.parametrize("data", ["8080808008", "ffffffff0f", "ffffffffff00", "808080808000"])
def test_a_varint_of_more_than_31_bits_is_malformed(data: str) -> None:
    with pytest.raises(MalformedError):
        read_uvarint(bytes.fromhex(data), 0)


@pytest.mark.parametrize("data", ["", "80", "ffff", "ffffffff"])
def test_a_varint_that_is_cut_off_runs_out_of_bytes(data: str) -> None:
    with pytest.raises(IndexError):
        read_uvarint(bytes.fromhex(data), 0)


@pytest.mark.parametrize(
    ("type_", "size"),
    [("bool", 1), ("int8", 1), ("int16", 2), ("uint16", 2), ("int32", 4), ("uint32", 4),
     ("int64", 8), ("float64", 8), ("uuid", 16)],
)  # fmt: skip
def test_fixed_types_have_their_size(type_: str, size: int) -> None:
    assert size_of(FIXED[type_]) == size
    assert type_ in PRIMITIVES


@pytest.mark.parametrize("count", [0, 1, 126])
def test_an_array_is_read_by_its_length_on_the_wire(count: int) -> None:
    data = struct.pack(f">{count}i", *range(count))
    assert array_readers("i", compact=True)[count + 1](data, 0) == tuple(range(count))
    assert array_readers("i", compact=False)[count](data, 0) == tuple(range(count))


def test_a_compact_length_of_0_is_null_and_refused() -> None:
    with pytest.raises(MalformedError, match="null"):
        array_readers("i", compact=True)[0](b"", 0)


@pytest.mark.parametrize("count", [-1, -(2**31)])
def test_a_long_array_has_no_negative_length(count: int) -> None:
    with pytest.raises(MalformedError, match=str(count)):
        read_long_array(b"", 0, count, "i")


@pytest.mark.parametrize("code", ["?", "b", "h", "i", "q", "d"])
def test_a_long_array_is_not_longer_than_the_bytes(code: str) -> None:
    with pytest.raises(struct.error):
        read_long_array(bytes(100), 0, 2**31 - 1, code)
