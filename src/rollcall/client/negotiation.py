"""ApiVersions negotiation: API ranges and dialect of the broker, name and version of the client.

The first request has the highest version that rollcall knows. A broker that does not know it
responds with UNSUPPORTED_VERSION in version 0 and lists its range; the next request has the highest
common version, or 0 if the range is missing. A gateway and the broker behind it can each respond
like this, so the loop continues while the version falls (511.2). INVALID_REQUEST means that the
broker rejects the client's name, and ends the negotiation (511.5).
"""

from __future__ import annotations

from rollcall import __version__
from rollcall.catalog import Range
from rollcall.client.errors import BrokerError, UnsupportedError
from rollcall.client.transport import ClientTransport
from rollcall.client.versions import API_VERSIONS, BrokerVersions
from rollcall.protocol import DIALECT_NAMES, RELEASED, Errors, Message, Response, error_code

SOFTWARE_NAME = "rollcall"
FIRST_WITH_DIALECT = 3


async def negotiate(
    transport: ClientTransport, seconds: float, *, highest: int | None = None
) -> BrokerVersions:
    dialect = transport.conversation.dialect
    body = dialect.message_class("ApiVersionsRequest")(
        client_software_name=SOFTWARE_NAME, client_software_version=__version__
    )
    version = dialect.apis[API_VERSIONS].versions.highest if highest is None else highest
    while True:
        response = await transport.call(API_VERSIONS, version, body, seconds)
        assert response.message is not None
        if response.message.error_code != Errors.UNSUPPORTED_VERSION:
            return _read_versions(response, transport)
        version = _next_version(response.message, version, transport)


def _next_version(refusal: Message, tried: int, transport: ClientTransport) -> int:
    """Version of the next request, always lower than the one that was tried."""
    ours = transport.conversation.dialect.apis[API_VERSIONS].versions
    listed = next((api for api in refusal.api_keys if api.api_key == API_VERSIONS), None)
    if tried == ours.lowest or (listed and listed.min_version > ours.highest):
        theirs = f"{listed.min_version} to {listed.max_version}" if listed else "unknown"
        raise UnsupportedError(
            f"no common version of ApiVersions: {transport.address} supports {theirs}, "
            f"rollcall {ours.lowest} to {ours.highest}",
            hint="check the address: every Kafka from 0.10 on supports version 0",
        )
    highest = min(listed.max_version, ours.highest) if listed else ours.lowest
    return highest if ours.lowest <= highest < tried else ours.lowest


def _read_versions(response: Response, transport: ClientTransport) -> BrokerVersions:
    message = response.message
    assert message is not None
    if message.error_code != Errors.NONE:
        error = error_code(message.error_code)
        raise BrokerError(
            f"{transport.address} rejected ApiVersions with {error.name}: {error.message}",
            code=error.code,
            hint="the broker rejects the client software name or version"
            if error.code == Errors.INVALID_REQUEST
            else None,
        )
    ranges = {api.api_key: Range(api.min_version, api.max_version) for api in message.api_keys}
    if response.version < FIRST_WITH_DIALECT:
        return BrokerVersions(ranges, api_versions=response.version)
    supported = {
        feature.name: Range(feature.min_version, feature.max_version)
        for feature in message.supported_features
    }
    finalized = {feature.name: feature.max_version_level for feature in message.finalized_features}
    return BrokerVersions(
        ranges,
        api_versions=response.version,
        dialect=_dialect_of(message, transport),
        supported_features=supported,
        finalized_features=finalized if message.finalized_features_epoch >= 0 else None,
        zk_migration_ready=message.zk_migration_ready,
    )


def _dialect_of(message: Message, transport: ClientTransport) -> str:
    name: str = message.dialect or RELEASED
    if name not in DIALECT_NAMES:
        known = ", ".join(DIALECT_NAMES)
        raise UnsupportedError(
            f"{transport.address} uses the unknown dialect {name!r}; rollcall supports {known}",
            hint="connect to a listener with another dialect, or upgrade rollcall",
        )
    return name
