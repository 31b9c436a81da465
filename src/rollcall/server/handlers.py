"""Request handlers of a listener, and the API version ranges that follow from them (KIP-35)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from rollcall.errors import ConfigError
from rollcall.protocol import API_VERSIONS_KEY, Dialect, Message, Request, VersionRange
from rollcall.server.registry import ConnectionInfo

if TYPE_CHECKING:
    from rollcall.server.listener import Listener

SASL_HANDSHAKE_KEY: Final = 17
SASL_AUTHENTICATE_KEY: Final = 36
SASL_KEYS: Final = (SASL_HANDSHAKE_KEY, SASL_AUTHENTICATE_KEY)
SERVED_BY_SERVER: Final = frozenset({API_VERSIONS_KEY, *SASL_KEYS})
"""API keys that the server handles without a registered handler."""


@dataclass(slots=True, eq=False)
class RequestContext:
    """A request with its connection and listener, as passed to a handler."""

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
"""Returns the response, or None to send none. Only an asynchronous handler needs a task."""


def supported_ranges(
    dialect: Dialect,
    handlers: Mapping[int, Handler],
    only: Mapping[int, VersionRange],
    *,
    sasl: bool,
) -> Mapping[int, VersionRange]:
    """API key -> versions that a listener serves and advertises.

    The versions of the schema, restricted to `only` where it names the key.
    """
    for key in handlers:
        if key in SERVED_BY_SERVER:
            raise ConfigError(
                f"API key {key} has a handler, but the server handles it itself",
                hint="remove the handlers for ApiVersions and SASL",
            )
        if key not in dialect.apis:
            raise ConfigError(
                f"API key {key} has a handler, but is not in the dialect {dialect.name}",
                hint="add a schema for it, or remove the handler",
            )
    keys = {*handlers, API_VERSIONS_KEY, *(SASL_KEYS if sasl else ())}
    ranges = {}
    for key in sorted(keys):
        valid = dialect.apis[key].versions
        ranges[key] = valid & only.get(key, valid)
        if not ranges[key]:
            raise ConfigError(
                f"versions {only[key]} of {dialect.apis[key].name} are configured, "
                f"but the dialect {dialect.name} has {valid}",
                hint="choose versions of the dialect, or remove the handler",
            )
    return MappingProxyType(ranges)
