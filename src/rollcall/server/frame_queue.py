"""Frames received on a connection and not yet served."""

from __future__ import annotations

from rollcall.protocol import frame_size

PREFIX_BYTES = 4


class FrameQueue:
    """Received bytes, taken out one frame at a time.

    A length is checked when the frame's turn has come. So requests before an invalid length are
    served, and a frame right after SASL authentication may already have the larger size.
    """

    __slots__ = ("_buffer",)  # saves memory, see Transport

    def __init__(self) -> None:
        self._buffer: bytearray | None = None
        """None when empty: most connections are idle."""

    def __bool__(self) -> bool:
        """Whether there are bytes: whole frames, or the beginning of one."""
        return self._buffer is not None

    def append(self, data: bytes) -> None:
        if self._buffer is None:
            self._buffer = bytearray(data)
        else:
            self._buffer += data

    def pop(self, max_bytes: int) -> bytes | None:
        """The next frame, or None while it is incomplete; raises RemoteProtocolError."""
        buffer = self._buffer
        if buffer is None or len(buffer) < PREFIX_BYTES:
            return None
        end = PREFIX_BYTES + frame_size(buffer[:PREFIX_BYTES], max_bytes)
        if len(buffer) < end:
            return None
        frame = bytes(buffer[PREFIX_BYTES:end])
        if len(buffer) == end:
            self._buffer = None
        else:
            del buffer[:end]
        return frame

    def clear(self) -> None:
        self._buffer = None
