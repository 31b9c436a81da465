import pytest

from rollcall.protocol.errors import RemoteProtocolError
from rollcall.protocol.framing import frame
from rollcall.server.frame_queue import FrameQueue

MAX_BYTES = 100


def pop_all(queue: FrameQueue, max_bytes: int = MAX_BYTES) -> list[bytes]:
    frames = []
    while (popped := queue.pop(max_bytes)) is not None:
        frames.append(popped)
    return frames


@pytest.mark.parametrize(
    ("received", "frames", "unfinished"),
    [
        (b"", [], False),
        (b"\0\0\0", [], True),
        (frame([b"ab"]), [b"ab"], False),
        (frame([b""]), [b""], False),
        (frame([b"ab"]) + frame([b"cd"]), [b"ab", b"cd"], False),
        (frame([b"ab"]) + b"\0\0\0\5cd", [b"ab"], True),
        (frame([bytes(MAX_BYTES)]), [bytes(MAX_BYTES)], False),
    ],
)
def test_queue_returns_whole_frames_and_keeps_the_rest(
    received: bytes, frames: list[bytes], unfinished: bool
) -> None:
    queue = FrameQueue()
    if received:
        queue.append(received)
    assert pop_all(queue) == frames
    assert bool(queue) is unfinished


def test_frames_received_byte_by_byte_are_joined() -> None:
    queue = FrameQueue()
    popped = []
    for byte in frame([b"first"]) + frame([b"second"]):
        queue.append(bytes([byte]))
        popped += pop_all(queue)
    assert popped == [b"first", b"second"]
    assert not queue


@pytest.mark.parametrize("size", [-1, -0x80000000, MAX_BYTES + 1, 0x7FFFFFFF])
def test_invalid_length_raises_after_the_frames_before_it(size: int) -> None:
    queue = FrameQueue()
    queue.append(frame([b"ab"]) + size.to_bytes(4, "big", signed=True))
    assert queue.pop(MAX_BYTES) == b"ab"
    with pytest.raises(RemoteProtocolError, match=str(size)):
        queue.pop(MAX_BYTES)


def test_length_is_compared_with_the_limit_of_the_call_that_takes_the_frame() -> None:
    queue = FrameQueue()
    queue.append(frame([b"ab"]) + frame([bytes(MAX_BYTES)]))
    assert queue.pop(2) == b"ab"
    assert queue.pop(MAX_BYTES) == bytes(MAX_BYTES)


def test_cleared_queue_is_empty() -> None:
    queue = FrameQueue()
    queue.append(b"\0\0")
    queue.clear()
    assert not queue
    assert queue.pop(MAX_BYTES) is None
