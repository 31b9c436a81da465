"""Request and response headers.

- Flexible requests have header version 2, flexible responses 1; all others 1 and 0.
- ApiVersions responses always have header version 0: a client must find the error code at the same
  offset before it knows which versions the broker supports (KIP-511).
- ControlledShutdown 0 has request header version 0, which has no client id.
- The client id has a length of two bytes also in flexible headers, so that it can be read before
  the version is known.
- Bytes after the body of a request are ignored: librdkafka sends three too many with Metadata.
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
    """A received request: the header is decoded, the body is not."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    frame: bytes
    body_offset: int

    def body(self, dialect: Dialect) -> Message:
        """Decode the body. Bytes after it are ignored, as in Kafka."""
        codec = dialect.codec(dialect.api(self.api_key).request.name, self.api_version)
        return codec.read(self.frame, self.body_offset)[0]


def read_request(frame: bytes, dialect: Dialect) -> Request:
    """Decode the header of a request. Of an unknown API or version the client id can be missing."""
    if len(frame) < _FIXED.size:
        raise RemoteProtocolError(
            f"request of {len(frame)} bytes is too short for a header",
            hint="check that the peer uses the Kafka protocol",
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
        # An unknown version can have another header.
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
    """Encode header and body of a request, as parts of a frame."""
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
    """Encode header and body of a response, as parts of a frame."""
    head = _CORRELATION_ID.pack(correlation_id)
    parts = [head + b"\0" if response_header_version(api, version) else head]
    dialect.codec(api.response.name, version).write(body, parts)
    return parts


def read_correlation_id(frame: bytes) -> int:
    if len(frame) < _CORRELATION_ID.size:
        raise RemoteProtocolError(
            f"response of {len(frame)} bytes is too short for a header",
            hint="check that the peer uses the Kafka protocol",
        )
    correlation_id: int = _CORRELATION_ID.unpack_from(frame)[0]
    return correlation_id


def response_body_offset(dialect: Dialect, api: ApiSpec, version: int, frame: bytes) -> int:
    """The offset of the body in the frame of a response."""
    header_version = response_header_version(api, version)
    return dialect.codec("ResponseHeader", header_version).read(frame)[1]
