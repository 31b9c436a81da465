"""Headers: what stands before the body of every request and response, and Kafka's exceptions.

- Flexible requests have header 2 and flexible responses header 1; all others 1 and 0.
- The ApiVersions response always has header 0: a client must find the error code at the same place
  before it knows which versions the broker speaks (KIP-511).
- ControlledShutdown 0 came before headers had a client id: header 0.
- Bytes behind the body of a request are ignored: librdkafka sends three too many with Metadata.
- The client id keeps its old form, with a length of two bytes, in flexible headers too: so it can
  be read before anything is known about the version.
"""

import struct
from dataclasses import dataclass

from rollcall.protocol.dialects import ApiSpec, Dialect
from rollcall.protocol.errors import RemoteProtocolError
from rollcall.protocol.messages import Message
from rollcall.protocol.schema import API_VERSIONS_KEY

CONTROLLED_SHUTDOWN_KEY = 7
_FIXED = struct.Struct(">hhi")
_CORRELATION_ID = struct.Struct(">i")


def request_header_version(api: ApiSpec, version: int) -> int:
    if api.key == CONTROLLED_SHUTDOWN_KEY and version == 0:
        return 0
    return 2 if version in api.request.flexible else 1


def response_header_version(api: ApiSpec, version: int) -> int:
    if api.key == API_VERSIONS_KEY:
        return 0
    return 1 if version in api.response.flexible else 0


@dataclass(frozen=True, slots=True)
class Request:
    """A request whose header was read; its body is still bytes."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    frame: bytes
    body_offset: int

    def body(self, dialect: Dialect) -> Message:
        """The message of the body; what stands behind it is ignored, as Kafka ignores it."""
        codec = dialect.codec(dialect.api(self.api_key).request.name, self.api_version)
        return codec.read(self.frame, self.body_offset)[0]


def read_request(frame: bytes, dialect: Dialect) -> Request:
    """The request in a frame. Of an API or version nobody knows, only the head can be told."""
    if len(frame) < _FIXED.size:
        raise RemoteProtocolError(
            f"a request of {len(frame)} bytes is too short for a header",
            hint="the peer does not speak the Kafka protocol",
        )
    api_key, api_version, correlation_id = _FIXED.unpack_from(frame)
    api = dialect.apis.get(api_key)
    known = api is not None and api_version in api.request.versions
    header_version = request_header_version(api, api_version) if api and known else 1
    try:
        header, offset = dialect.codec("RequestHeader", header_version).read(frame)
    except RemoteProtocolError:
        if known:
            raise
        # Whoever speaks an unknown version may have a header of its own.
        return Request(api_key, api_version, correlation_id, None, frame, _FIXED.size)
    return Request(api_key, api_version, correlation_id, header.client_id, frame, offset)


def write_request(
    dialect: Dialect,
    api: ApiSpec,
    version: int,
    correlation_id: int,
    client_id: str | None,
    body: Message,
) -> list[bytes]:
    """Header and body of a request, as parts of a frame."""
    parts: list[bytes] = []
    header_version = request_header_version(api, version)
    codec = dialect.codec("RequestHeader", header_version)
    codec.write(
        codec.message_class(
            request_api_key=api.key,
            request_api_version=version,
            correlation_id=correlation_id,
            client_id=client_id,
        ),
        parts,
    )
    dialect.codec(api.request.name, version).write(body, parts)
    return parts


def write_response(
    dialect: Dialect, api: ApiSpec, version: int, correlation_id: int, body: Message
) -> list[bytes]:
    """Header and body of a response, as parts of a frame."""
    head = _CORRELATION_ID.pack(correlation_id)
    parts = [head + b"\0" if response_header_version(api, version) else head]
    dialect.codec(api.response.name, version).write(body, parts)
    return parts


def read_correlation_id(frame: bytes) -> int:
    if len(frame) < _CORRELATION_ID.size:
        raise RemoteProtocolError(
            f"a response of {len(frame)} bytes is too short for a header",
            hint="the peer does not speak the Kafka protocol",
        )
    correlation_id: int = _CORRELATION_ID.unpack_from(frame)[0]
    return correlation_id


def response_body_offset(dialect: Dialect, api: ApiSpec, version: int, frame: bytes) -> int:
    """Where the body of a response begins."""
    header_version = response_header_version(api, version)
    return dialect.codec("ResponseHeader", header_version).read(frame)[1]
