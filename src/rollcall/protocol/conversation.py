"""Conversations: both roles on one connection, as plain objects that are fed bytes.

A server's conversation turns bytes into requests and answers into bytes. A client's turns calls
into bytes and bytes into answers, each matched with its request by the correlation id; Kafka
answers in the order of the requests, so any other id means that one of the two has lost count.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from rollcall.protocol.codec import Codec
from rollcall.protocol.dialects import Api, Dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.errors import RemoteProtocolError
from rollcall.protocol.framing import DEFAULT_MAX_FRAME_BYTES, FrameReader, frame
from rollcall.protocol.headers import (
    Request,
    read_correlation_id,
    read_request,
    response_body_offset,
    write_request,
    write_response,
)
from rollcall.protocol.messages import Message
from rollcall.protocol.schema import API_VERSIONS_KEY

PRODUCE_KEY = 0

Decoder = Callable[[Codec, bytes, int], Message]


@dataclass
class ServerConversation:
    """The broker's side of one connection."""

    dialect: Dialect
    frames: FrameReader = field(default_factory=FrameReader)

    def receive(self, data: bytes) -> list[Request]:
        return [read_request(frame, self.dialect) for frame in self.frames.feed(data)]

    def respond(self, request: Request, answer: Message, version: int | None = None) -> bytes:
        """The answer, in the version of the request unless another is given."""
        api = self.dialect.api(request.api_key)
        chosen = request.api_version if version is None else version
        parts = write_response(self.dialect, api, chosen, request.correlation_id, answer)
        return frame(parts)

    def respond_empty(self, request: Request) -> bytes:
        """The correlation id alone: KIP-35's answer to a request that is not supported."""
        return frame([request.correlation_id.to_bytes(4, "big", signed=True)])


@dataclass(frozen=True, slots=True)
class Call:
    """A request that was sent and waits for its answer."""

    correlation_id: int
    api: Api
    version: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for a call."""

    call: Call
    message: Message | None
    """None when the broker sent the correlation id alone: KIP-35's "request not supported"."""
    version: int
    """The version of the layout: that of the call, but 0 for an ApiVersions that was too new."""


@dataclass
class ClientConversation:
    """The client's side of one connection."""

    dialect: Dialect
    client_id: str | None = None
    frames: FrameReader = field(default_factory=lambda: FrameReader(DEFAULT_MAX_FRAME_BYTES))
    decode: Decoder = Codec.decode
    """How a body is read: who asks many brokers the same may remember what he has read."""
    _calls: deque[Call] = field(default_factory=deque, repr=False)
    _next_id: int = 0

    def send(self, api_key: int, version: int, body: Message) -> tuple[Call, bytes]:
        """The call, and the bytes that make it."""
        api = self.dialect.api(api_key)
        call = Call(self._next_id, api, version)
        parts = write_request(self.dialect, api, version, call.correlation_id, self.client_id, body)
        self._next_id = (self._next_id + 1) & 0x7FFFFFFF
        if not (api.key == PRODUCE_KEY and body.acks == 0):
            self._calls.append(call)  # Produce with acks=0 is the one request without an answer.
        return call, frame(parts)

    @property
    def waiting(self) -> int:
        return len(self._calls)

    def receive(self, data: bytes) -> list[Answer]:
        answers = [self._answer(frame) for frame in self.frames.feed(data)]
        self.frames.feed(b"")  # nonsense behind an answer is told at once, as none may follow it
        return answers

    def _answer(self, frame: bytes) -> Answer:
        correlation_id = read_correlation_id(frame)
        if not self._calls or self._calls[0].correlation_id != correlation_id:
            expected = f"{self._calls[0].correlation_id} is due" if self._calls else "none is due"
            raise RemoteProtocolError(
                f"the broker answered the request {correlation_id}, but {expected}",
                hint="the connection cannot be trusted any more: close it and connect again",
            )
        call = self._calls.popleft()
        if len(frame) == 4:
            return Answer(call, None, call.version)
        version = _layout_of(call, frame)
        offset = response_body_offset(self.dialect, call.api, version, frame)
        codec = self.dialect.codec(call.api.response.name, version)
        return Answer(call, self.decode(codec, frame, offset), version)


def _layout_of(call: Call, frame: bytes) -> int:
    """An ApiVersions version the broker does not know is answered in the layout of version 0."""
    if call.api.key == API_VERSIONS_KEY:
        error_code = int.from_bytes(frame[4:6], "big", signed=True)
        if error_code == Errors.UNSUPPORTED_VERSION:
            return 0
    return call.version
