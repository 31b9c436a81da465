"""Frames: four bytes of length, then that many bytes."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from rollcall.protocol.errors import RemoteProtocolError

DEFAULT_MAX_FRAME_BYTES = 100 * 1024 * 1024
"""Kafka's default of `socket.request.max.bytes`."""

_HTTP_REQUESTS = tuple(b"GET |POST|PUT |HEAD|DELE|OPTI|PATC|CONN|TRAC|PRI ".split(b"|"))


def frame(parts: Iterable[bytes]) -> bytes:
    """Join parts into one frame, ready for the socket."""
    body = b"".join(parts)
    return len(body).to_bytes(4, "big") + body


@dataclass
class FrameReader:
    """Splits a stream of bytes into frames."""

    max_bytes: int = DEFAULT_MAX_FRAME_BYTES
    _buffer: bytearray = field(default_factory=bytearray, repr=False)

    def feed(self, data: bytes) -> list[bytes]:
        """Return the frames that are complete now and keep the rest.

        An invalid length raises if no complete frame precedes it, otherwise at the next call.
        """
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
        """Number of bytes received of an incomplete frame."""
        return len(self._buffer)


def frame_size(prefix: bytes | bytearray, max_bytes: int) -> int:
    """The length in the first four bytes of a frame; raises if it is negative or too large."""
    size = int.from_bytes(prefix, "big", signed=True)
    if not 0 <= size <= max_bytes:
        raise RemoteProtocolError(
            f"frame length {size} is not between 0 and {max_bytes}", hint=_hint(bytes(prefix))
        )
    return size


def _hint(prefix: bytes) -> str:
    """The cause of an invalid length, which often is the first bytes of another protocol."""
    if prefix[0] == 0x16 and prefix[1] == 0x03:
        return "these bytes begin a TLS handshake: use a TLS listener, or a client without TLS"
    if prefix in _HTTP_REQUESTS:
        return "these bytes are an HTTP request: use the HTTP port, this is a Kafka listener"
    if prefix == b"HTTP":
        return "these bytes are an HTTP response: connect to the port of a Kafka listener"
    if prefix[0] > 0x7F:
        return "the length is negative: check that the peer uses the Kafka protocol"
    return "raise the maximum frame size if the peer really sends that much"
