"""Who answers: the handlers of a listener, and the ranges that follow from them (KIP-35)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from rollcall.errors import ConfigError
from rollcall.protocol.dialects import Dialect
from rollcall.protocol.headers import Request
from rollcall.protocol.messages import Message
from rollcall.protocol.schema import API_VERSIONS_KEY
from rollcall.protocol.versions import VersionRange
from rollcall.server.registry import ConnectionInfo

if TYPE_CHECKING:
    from rollcall.server.listener import Listener

SASL_HANDSHAKE_KEY: Final = 17
SASL_AUTHENTICATE_KEY: Final = 36
SASL_KEYS: Final = (SASL_HANDSHAKE_KEY, SASL_AUTHENTICATE_KEY)
OWN_KEYS: Final = frozenset({API_VERSIONS_KEY, *SASL_KEYS})
"""What the server answers by itself."""


@dataclass(slots=True, eq=False)
class RequestContext:
    """All that a handler is told about a request."""

    connection: ConnectionInfo
    listener: Listener
    request: Request
    body: Message

    @property
    def api_version(self) -> int:
        return self.request.api_version

    @property
    def principal(self) -> str:
        return self.connection.principal

    @property
    def dialect(self) -> Dialect:
        return self.listener.dialect


Handler = Callable[[RequestContext], Message | Awaitable[Message | None] | None]
"""Gives the response; None sends nothing. A plain function is answered without a task."""


def answered_ranges(
    dialect: Dialect,
    handlers: Mapping[int, Handler],
    only: Mapping[int, VersionRange],
    *,
    sasl: bool,
) -> Mapping[int, VersionRange]:
    """What a listener answers, and so lists: its handlers, in the versions of the schema."""
    for key in handlers:
        if key in OWN_KEYS:
            raise ConfigError(
                f"a handler was given for the API {key}, which the server answers itself",
                hint="leave ApiVersions and SASL to the server",
            )
        if key not in dialect.apis:
            raise ConfigError(
                f"a handler was given for the API {key}, which the dialect {dialect.name} lacks",
                hint="add its schema, or drop the handler",
            )
    keys = {*handlers, API_VERSIONS_KEY, *(SASL_KEYS if sasl else ())}
    ranges = {}
    for key in sorted(keys):
        valid = dialect.apis[key].versions
        ranges[key] = valid & only.get(key, valid)
        if not ranges[key]:
            raise ConfigError(
                f"of {dialect.apis[key].name} only versions {only[key]} should be answered, "
                f"but the dialect {dialect.name} has {valid}",
                hint="choose versions it has, or drop the handler",
            )
    return MappingProxyType(ranges)
