"""Frames: joining parts, splitting a stream, limits, hints about other protocols."""

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollcall.protocol.errors import RemoteProtocolError
from rollcall.protocol.framing import DEFAULT_MAX_FRAME_BYTES, FrameReader, frame

WIRE = b"\0\0\0\5hello" + b"\0\0\0\0" + b"\0\0\0\1x"
FRAMES = [b"hello", b"", b"x"]


def test_a_frame_is_its_length_and_its_parts() -> None:
    assert frame([b"he", b"", b"llo"]) == b"\0\0\0\5hello"
    assert frame([]) == b"\0\0\0\0"
    assert frame([memoryview(b"abc")]) == b"\0\0\0\3abc"


@pytest.mark.parametrize("cut", range(len(WIRE) + 1))
def test_frame_reader_accepts_a_stream_split_anywhere(cut: int) -> None:
    reader = FrameReader(max_bytes=1024)
    assert reader.feed(WIRE[:cut]) + reader.feed(WIRE[cut:]) == FRAMES
    assert reader.pending == 0


def test_frame_reader_accepts_single_bytes() -> None:
    reader = FrameReader()
    found = [body for i in range(len(WIRE)) for body in reader.feed(WIRE[i : i + 1])]
    assert found == FRAMES


@given(
    frames=st.lists(st.binary(max_size=40), max_size=8),
    cuts=st.lists(st.integers(0, 400), max_size=8),
)
def test_frame_reader_accepts_any_frames_split_anywhere(
    frames: list[bytes], cuts: list[int]
) -> None:
    wire = b"".join(frame([body]) for body in frames)
    edges = [0, *sorted(min(cut, len(wire)) for cut in cuts), len(wire)]
    reader = FrameReader(max_bytes=40)
    found = []
    for start, end in pairwise(edges):
        found += reader.feed(wire[start:end])
    assert found == frames
    assert reader.pending == 0


def test_frame_reader_returns_frames_in_order() -> None:
    wire = b"".join(frame([str(i).encode()]) for i in range(10_000))
    assert FrameReader().feed(wire) == [str(i).encode() for i in range(10_000)]


def test_frame_reader_keeps_an_incomplete_frame_as_pending() -> None:
    reader = FrameReader()
    assert reader.feed(WIRE[:-1]) == FRAMES[:-1]
    assert reader.pending == 4
    assert reader.feed(b"") == []
    assert reader.feed(b"x") == [b"x"]


def test_frame_reader_returns_independent_bytes() -> None:
    fed = bytearray(b"\0\0\0\1a")
    reader = FrameReader()
    (found,) = reader.feed(bytes(fed))
    reader.feed(b"\0\0\0\1b")
    assert found == b"a"
    assert type(found) is bytes


@pytest.mark.parametrize("size", [0, 9, 10])
def test_a_frame_can_be_as_long_as_the_limit(size: int) -> None:
    assert FrameReader(max_bytes=10).feed(frame([bytes(size)])) == [bytes(size)]


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("size", [11, 2**31 - 1, -1, -(2**31)])
def test_a_length_beyond_the_limit_is_rejected_before_its_bytes_arrive(
    size: int, together: bool
) -> None:
    reader = FrameReader(max_bytes=10)
    prefix = size.to_bytes(4, "big", signed=True)
    if not together:
        assert reader.feed(prefix[:3]) == []
        prefix = prefix[3:]
    with pytest.raises(RemoteProtocolError, match=rf"length {size} .* 10") as caught:
        reader.feed(prefix)
    assert caught.value.hint


def test_the_hint_for_a_negative_length_does_not_mention_the_limit() -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        FrameReader().feed(b"\xff\xff\xff\xff")
    assert "raise the maximum frame size" not in str(caught.value.hint)


def test_frame_reader_allocates_nothing_for_an_announced_length() -> None:
    reader = FrameReader()
    tracemalloc.start()
    try:
        reader.feed(DEFAULT_MAX_FRAME_BYTES.to_bytes(4, "big") + b"x")
        assert tracemalloc.get_traced_memory()[1] < 10_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("start", "word"),
    [
        (bytes.fromhex("16030100c8010000c40303"), "TLS"),
        (bytes.fromhex("16030300"), "TLS"),
        (b"GET / HTTP/1.1\r\n", "HTTP"),
        (b"POST /x HTTP/1.1\r\n", "HTTP"),
        (b"HEAD / HTTP/1.0\r\n", "HTTP"),
        (b"OPTIONS * HTTP/1.1\r\n", "HTTP"),
        (b"PRI * HTTP/2.0\r\n", "HTTP"),
        (b"HTTP/1.1 400 Bad Request\r\n", "HTTP"),
    ],
)
def test_the_hint_names_another_protocol_by_its_first_bytes(start: bytes, word: str) -> None:
    for cut in range(4):
        reader = FrameReader()
        assert reader.feed(start[:cut]) == []
        with pytest.raises(RemoteProtocolError) as caught:
            reader.feed(start[cut:])
        assert word in str(caught.value.hint)


def test_the_hint_for_http_differs_between_request_and_response() -> None:
    hints = []
    for start in (b"HTTP/1.1 400 Bad Request\r\n", b"GET / HTTP/1.1\r\n"):
        with pytest.raises(RemoteProtocolError) as caught:
            FrameReader().feed(start)
        hints.append(str(caught.value.hint))
    assert "connect to the port of a Kafka listener" in hints[0]
    assert "this is a Kafka listener" in hints[1]


def test_the_hint_for_a_large_frame_is_to_raise_the_limit() -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        FrameReader(max_bytes=100).feed((101).to_bytes(4, "big"))
    assert "raise the maximum frame size" in str(caught.value.hint)


def test_frame_reader_returns_the_frames_before_an_invalid_length_first() -> None:
    reader = FrameReader(max_bytes=10)
    assert reader.feed(b"\0\0\0\1a\0\0\0\1b\x7f\0\0\0") == [b"a", b"b"]
    with pytest.raises(RemoteProtocolError, match="between 0 and 10"):
        reader.feed(b"")


def test_frame_reader_keeps_raising_after_an_invalid_length() -> None:
    reader = FrameReader(max_bytes=10)
    for data in (b"\x7f\0\0\0", b"\0\0\0\1x", b""):
        with pytest.raises(RemoteProtocolError):
            reader.feed(data)
