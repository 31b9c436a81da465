"""The broker's side of one connection, for tests: bytes in, requests out."""

from dataclasses import dataclass, field

from rollcall.protocol.dialects import Dialect
from rollcall.protocol.framing import FrameReader, frame
from rollcall.protocol.headers import Request, read_request, write_response
from rollcall.protocol.messages import Message


@dataclass
class ServerConversation:
    """The broker's side of one connection."""

    dialect: Dialect
    frames: FrameReader = field(default_factory=FrameReader)

    def receive(self, data: bytes) -> list[Request]:
        return [read_request(frame, self.dialect) for frame in self.frames.feed(data)]

    def respond(self, request: Request, body: Message, version: int | None = None) -> bytes:
        """The frame of a response, in the version of the request unless another is given."""
        api = self.dialect.api(request.api_key)
        chosen = request.api_version if version is None else version
        return frame(write_response(self.dialect, api, chosen, request.correlation_id, body))

    def respond_empty(self, request: Request) -> bytes:
        """A response with the correlation id only: KIP-35's "request not supported"."""
        return frame([request.correlation_id.to_bytes(4, "big", signed=True)])
