"""The client's side of a Kafka connection as a sans-IO object: requests out, responses in.

Brokers respond in the order of the requests, so a response with any other correlation id is a
protocol error. The server's side is `rollcall.server`, which uses `headers` directly.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from rollcall.protocol.codec import Codec
from rollcall.protocol.dialects import ApiSpec, Dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.errors import RemoteProtocolError
from rollcall.protocol.framing import FrameReader, frame
from rollcall.protocol.headers import (
    read_correlation_id,
    response_body_offset,
    write_request,
)
from rollcall.protocol.messages import Message
from rollcall.protocol.schema import API_VERSIONS_KEY

PRODUCE_KEY = 0

Decoder = Callable[[Codec, bytes, int], Message]


@dataclass(frozen=True, slots=True)
class SentRequest:
    """Header of a request that a client sent."""

    correlation_id: int
    api: ApiSpec
    version: int


@dataclass(frozen=True, slots=True)
class Response:
    """A response that a client received, with the request it belongs to."""

    request: SentRequest
    message: Message | None
    """None if the broker sent the correlation id only: KIP-35's "request not supported"."""
    version: int
    """Version of the message: that of the request, or 0 for an unsupported ApiVersions version."""


@dataclass
class ClientConversation:
    """The client's side of one connection."""

    dialect: Dialect
    client_id: str | None = None
    frames: FrameReader = field(default_factory=FrameReader)
    decode: Decoder = Codec.decode
    """Decodes a response body. A client of many brokers can pass a caching one."""
    _in_flight: deque[SentRequest] = field(default_factory=deque, repr=False)
    _next_id: int = 0

    def send(self, api_key: int, version: int, body: Message) -> tuple[SentRequest, bytes]:
        """Register a request and return it with the bytes to send."""
        api = self.dialect.api(api_key)
        request = SentRequest(self._next_id, api, version)
        parts = write_request(self.dialect, api, version, self._next_id, self.client_id, body)
        self._next_id = (self._next_id + 1) & 0x7FFFFFFF
        if not (api.key == PRODUCE_KEY and body.acks == 0):  # the only request without a response
            self._in_flight.append(request)
        return request, frame(parts)

    @property
    def in_flight(self) -> int:
        """Number of requests without a response so far."""
        return len(self._in_flight)

    def receive(self, data: bytes) -> list[Response]:
        responses = [self._response(frame) for frame in self.frames.feed(data)]
        self.frames.feed(b"")  # raise now if the bytes after the last response are not a frame
        return responses

    def _response(self, frame: bytes) -> Response:
        correlation_id = read_correlation_id(frame)
        expected = self._in_flight[0].correlation_id if self._in_flight else "none"
        if correlation_id != expected:
            raise RemoteProtocolError(
                f"response has correlation id {correlation_id}, expected {expected}",
                hint="close this connection and connect again",
            )
        request = self._in_flight.popleft()
        if len(frame) == 4:
            return Response(request, None, request.version)
        version = _body_version(request, frame)
        offset = response_body_offset(self.dialect, request.api, version, frame)
        codec = self.dialect.codec(request.api.response.name, version)
        return Response(request, self.decode(codec, frame, offset), version)


def _body_version(request: SentRequest, frame: bytes) -> int:
    """Version of the response body: 0 if the broker does not support this ApiVersions version."""
    if request.api.key == API_VERSIONS_KEY:
        error_code = int.from_bytes(frame[4:6], "big", signed=True)
        if error_code == Errors.UNSUPPORTED_VERSION:
            return 0
    return request.version
