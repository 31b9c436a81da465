"""Frames: a length of four bytes, then that many bytes."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from rollcall.protocol.errors import RemoteProtocolError

DEFAULT_MAX_FRAME_BYTES = 100 * 1024 * 1024
"""Kafka's own default, `socket.request.max.bytes`."""

_HTTP_REQUEST = tuple(b"GET |POST|PUT |HEAD|DELE|OPTI|PATC|CONN|TRAC|PRI ".split(b"|"))
_HTTP_RESPONSE = b"HTTP"
"""Their first four bytes."""


def frame(parts: Iterable[bytes]) -> bytes:
    """The parts as one frame, ready for the socket."""
    body = [b"", *parts]
    body[0] = sum(map(len, body)).to_bytes(4, "big")
    return b"".join(body)


@dataclass
class FrameReader:
    """Cuts frames out of a stream of bytes, wherever the stream was cut before."""

    max_bytes: int = DEFAULT_MAX_FRAME_BYTES
    _buffer: bytearray = field(default_factory=bytearray, repr=False)

    def feed(self, data: bytes) -> list[bytes]:
        """The frames that are whole now; the rest is kept until more comes.

        A length that makes no sense is told when nothing good stands before it, else next time.
        """
        if not self._buffer and int.from_bytes(data[:4], "big") == len(data) - 4 <= self.max_bytes:
            return [data[4:]]  # nearly always one read brings exactly one frame
        self._buffer += data
        frames: list[bytes] = []
        while len(self._buffer) >= 4:
            try:
                end = 4 + frame_size(self._buffer[:4], self.max_bytes)
            except RemoteProtocolError:
                if frames:
                    break
                raise
            if len(self._buffer) < end:
                break
            frames.append(bytes(self._buffer[4:end]))
            del self._buffer[:end]
        return frames

    @property
    def pending(self) -> int:
        """How many bytes of an unfinished frame have come so far."""
        return len(self._buffer)


def frame_size(prefix: bytes | bytearray, max_bytes: int) -> int:
    """The length in the first four bytes of a frame; raises if it is negative or too large."""
    size = int.from_bytes(prefix, "big", signed=True)
    if not 0 <= size <= max_bytes:
        raise RemoteProtocolError(
            f"the peer announced a frame of {size} bytes, the limit is {max_bytes}",
            hint=_hint(bytes(prefix)),
        )
    return size


def _hint(prefix: bytes) -> str:
    """A length that makes no sense is often the first word of another protocol."""
    if prefix[0] == 0x16 and prefix[1] == 0x03:
        return "these bytes begin a TLS handshake: use a TLS listener, or a client without TLS"
    if prefix in _HTTP_REQUEST:
        return "these bytes are HTTP: this port speaks the Kafka protocol"
    if prefix == _HTTP_RESPONSE:
        return "these bytes are HTTP: is this the port of a Kafka listener?"
    if prefix[0] > 0x7F:
        return "a length is never negative: the peer does not speak the Kafka protocol"
    return "raise the limit of frame bytes if the peer really sends that much"
