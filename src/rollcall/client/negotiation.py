"""The first words on a connection: which versions, which dialect, and who we are.

We ask at our highest version. A broker that does not know it says so in the layout of version 0 and
names the range it knows; then we ask again with the highest of that, or with 0 when it names none.
A gateway may answer once and the broker behind it once more, so this goes on for as long as the
version falls (511.2). INVALID_REQUEST means that it does not like our name: we leave (511.5).
"""

from __future__ import annotations

from rollcall import __version__
from rollcall.catalog import Range
from rollcall.client.errors import BrokerError, UnsupportedError
from rollcall.client.transport import ClientTransport
from rollcall.client.versions import API_VERSIONS, BrokerVersions
from rollcall.protocol.conversation import Response
from rollcall.protocol.dialects import DIALECT_NAMES, RELEASED
from rollcall.protocol.error_codes import Errors, error_code
from rollcall.protocol.messages import Message

SOFTWARE_NAME = "rollcall"
FIRST_WITH_DIALECT = 3


async def negotiate(
    transport: ClientTransport, seconds: float, *, highest: int | None = None
) -> BrokerVersions:
    """Ask for the versions of the broker, and tell it our name where there is room for it."""
    dialect = transport.conversation.dialect
    ours = dialect.apis[API_VERSIONS].versions
    body = dialect.message_class("ApiVersionsRequest")(
        client_software_name=SOFTWARE_NAME, client_software_version=__version__
    )
    version = ours.highest if highest is None else highest
    while True:
        answer = await transport.call(API_VERSIONS, version, body, seconds)
        assert answer.message is not None
        if answer.message.error_code != Errors.UNSUPPORTED_VERSION:
            return _read(answer, transport)
        version = _next_version(answer.message, version, transport)


def _next_version(refusal: Message, asked: int, transport: ClientTransport) -> int:
    """A lower one, so that this ends: the highest in common, or 0 if the broker is no help."""
    ours = transport.conversation.dialect.apis[API_VERSIONS].versions
    named = next((row for row in refusal.api_keys if row.api_key == API_VERSIONS), None)
    if asked == ours.lowest or (named and named.min_version > ours.highest):
        known = f"{named.min_version} to {named.max_version}" if named else "none that it names"
        raise UnsupportedError(
            f"ApiVersions cannot be asked of {transport.address}: it has versions {known}, "
            f"rollcall has {ours.lowest} to {ours.highest}",
            hint="every Kafka from 0.10 on answers version 0: this may be something else",
        )
    highest = min(named.max_version, ours.highest) if named else ours.lowest
    return highest if ours.lowest <= highest < asked else ours.lowest


def _read(answer: Response, transport: ClientTransport) -> BrokerVersions:
    message = answer.message
    assert message is not None
    if message.error_code != Errors.NONE:
        error = error_code(message.error_code)
        raise BrokerError(
            f"{transport.address} answered ApiVersions with {error.name}: {error.message}",
            code=error.code,
            hint="the broker does not accept how rollcall names itself"
            if error.code == Errors.INVALID_REQUEST
            else None,
        )
    ranges = {row.api_key: Range(row.min_version, row.max_version) for row in message.api_keys}
    if answer.version < FIRST_WITH_DIALECT:
        return BrokerVersions(ranges, api_versions=answer.version)
    known = message.finalized_features_epoch >= 0
    return BrokerVersions(
        ranges,
        api_versions=answer.version,
        dialect=_dialect_of(message, transport),
        supported_features={
            row.name: Range(row.min_version, row.max_version) for row in message.supported_features
        },
        finalized_features={row.name: row.max_version_level for row in message.finalized_features}
        if known
        else None,
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
