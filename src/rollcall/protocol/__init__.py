"""The Kafka protocol: bytes to messages and back, compiled from schemas.

This package holds every message in every version and in two dialects, frames and headers, the
client's side of a connection as a sans-IO object, SASL exchanges and error codes. It has no
sockets, clock or settings, and nothing in it awaits: callers feed bytes in and send the bytes that
come out.

Modules in reading order:

- `versions`, `primitives`, `schema`: version ranges, primitive types, specs of messages
- `schema_files`, `schema_parser`: from schema files in Kafka's format to specs
- `schemas/`: the schema files; `schemas/kip/` is the overlay of the dialect `kip`
- `messages`: message classes built from specs
- `compiler/`, `codec`: functions that read and write one version of a message
- `dialects`: sets of messages with their APIs and codecs
- `framing`, `headers`, `conversation`: from a stream of bytes to requests and responses
- `sasl/`: SASL exchanges, exported by that package
- `error_codes`, `errors`: Kafka's error codes, and the exceptions of this package
- `rendering`: messages as request log text
- `reference`: layouts and Markdown pages; import it directly, only the command line needs it
"""

from rollcall.protocol.codec import Codec
from rollcall.protocol.conversation import ClientConversation, Decoder, Response
from rollcall.protocol.dialects import (
    DIALECT_NAMES,
    KIP,
    RELEASED,
    ApiSpec,
    Dialect,
    dialect,
    load_dialect,
)
from rollcall.protocol.error_codes import Errors, error_code
from rollcall.protocol.errors import (
    LocalProtocolError,
    ProtocolError,
    RemoteProtocolError,
    SchemaError,
)
from rollcall.protocol.framing import DEFAULT_MAX_FRAME_BYTES, FrameReader, frame, frame_size
from rollcall.protocol.headers import (
    Request,
    read_request,
    response_header_version,
    write_request,
    write_response,
)
from rollcall.protocol.messages import Message
from rollcall.protocol.rendering import json_form, struct_form
from rollcall.protocol.schema import API_VERSIONS_KEY, StructSpec
from rollcall.protocol.versions import VersionRange

__all__ = [
    "API_VERSIONS_KEY",
    "DEFAULT_MAX_FRAME_BYTES",
    "DIALECT_NAMES",
    "KIP",
    "RELEASED",
    "ApiSpec",
    "ClientConversation",
    "Codec",
    "Decoder",
    "Dialect",
    "Errors",
    "FrameReader",
    "LocalProtocolError",
    "Message",
    "ProtocolError",
    "RemoteProtocolError",
    "Request",
    "Response",
    "SchemaError",
    "StructSpec",
    "VersionRange",
    "dialect",
    "error_code",
    "frame",
    "frame_size",
    "json_form",
    "load_dialect",
    "read_request",
    "response_header_version",
    "struct_form",
    "write_request",
    "write_response",
]
