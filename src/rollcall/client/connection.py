"""One connection to one broker, ready to be asked: open, authenticated, its versions agreed on.

Brokers before 0.10 do not have ApiVersions: 0.8 closes the connection, 0.9 never answers. Then a
second connection tries Metadata 0, which all of them have. If it is answered the broker is old, and
the table of the release in the settings says what it can do; without that setting we know of
Metadata 0 alone. If it is not answered, the broker is unreachable and nothing else (35.10).
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass

from rollcall.catalog import Provenance, Range, listed_ranges
from rollcall.client.addresses import Address
from rollcall.client.authentication import authenticate
from rollcall.client.config import ClientConfig
from rollcall.client.connect import open_transport
from rollcall.client.errors import (
    ClientError,
    ConnectionLostError,
    RequestTimeoutError,
    UnreachableError,
)
from rollcall.client.negotiation import negotiate
from rollcall.client.transport import ClientTransport
from rollcall.client.versions import (
    METADATA,
    UNDISPUTED,
    ApiVersionsReply,
    BrokerVersions,
    Choice,
    choose_version,
)
from rollcall.protocol.codec import Codec
from rollcall.protocol.conversation import ClientConversation, Decoder, Response
from rollcall.protocol.dialects import RELEASED, Dialect, dialect
from rollcall.protocol.framing import FrameReader
from rollcall.protocol.messages import Message
from rollcall.protocol.versions import VersionRange


@dataclass(frozen=True, eq=False)
class Connection:
    """What the broker told holds for this connection; the next one asks again (35.6)."""

    address: Address
    versions: BrokerVersions
    config: ClientConfig
    transport: ClientTransport

    @property
    def dialect(self) -> Dialect:
        return self.transport.conversation.dialect

    @property
    def is_open(self) -> bool:
        return self.transport.is_open

    def has(self, api_key: int) -> bool:
        """Whether both sides have this API in some version."""
        ours = self.dialect.apis.get(api_key)
        offered = self.versions.ranges.get(api_key)
        return ours is not None and offered is not None and any(map(offered.has, ours.versions))

    def version_for(self, api_key: int, among: VersionRange | None = None) -> int:
        """The version to ask in; an error with both ranges if there is none (35.9)."""
        api = self.dialect.apis[api_key]
        if self.versions.dialect is None and api_key in UNDISPUTED:
            among = UNDISPUTED[api_key] & (among or api.versions)
        avoid = self.config.avoid.get(api.name, frozenset())
        offered = self.versions.ranges.get(api_key)
        return choose_version(api, offered, self.address, Choice(among, avoid))

    async def ask(self, api_key: int, version: int, **fields: object) -> Message:
        """The answer to a request with these fields."""
        request = self.dialect.message_class(self.dialect.apis[api_key].request.name)
        answer = await self.send(api_key, version, request(**fields))
        assert answer.message is not None
        return answer.message

    async def send(
        self, api_key: int, version: int, body: Message, seconds: float | None = None
    ) -> Response:
        """The same with a message, and with a time of its own."""
        limit = self.config.request_timeout if seconds is None else seconds
        try:
            return await self.transport.call(api_key, version, body, limit)
        except ConnectionLostError as error:
            if self.config.sasl is None and error.hint is None:
                error.hint = "a listener with SASL looks like this to a client without it"
            raise

    async def close(self) -> None:
        await self.transport.close()


async def open_connection(
    address: Address,
    config: ClientConfig,
    context: ssl.SSLContext | None = None,
    decode: Decoder = Codec.decode,
) -> Connection:
    """A connection that is ready to be asked."""
    opening = _Opening(address, config, context, decode)
    try:
        return await opening.negotiated()
    except _NoApiVersionsError as error:
        return await opening.as_old_broker(error.reply, error.cause)


class _NoApiVersionsError(Exception):
    def __init__(self, reply: ApiVersionsReply, cause: ClientError) -> None:
        super().__init__(reply)
        self.reply = reply
        self.cause = cause


@dataclass(frozen=True)
class _Opening:
    address: Address
    config: ClientConfig
    context: ssl.SSLContext | None
    decode: Decoder

    async def negotiated(self) -> Connection:
        transport = await self._transport()
        try:
            if self.config.sasl is not None:
                before = await self._ask_versions(transport, highest=0)
                await authenticate(transport, before, self.config.sasl, self.config.request_timeout)
                versions = await negotiate(transport, self.config.request_timeout)
            else:
                versions = await self._ask_versions(transport)
        except BaseException:
            await transport.close()
            raise
        transport.conversation.dialect = dialect(versions.dialect or RELEASED)
        return Connection(self.address, versions, self.config, transport)

    async def as_old_broker(self, reply: ApiVersionsReply, cause: ClientError) -> Connection:
        transport = await self._transport()
        try:
            body = transport.conversation.dialect.message_class("MetadataRequest")()
            await transport.call(METADATA, 0, body, self.config.api_versions_timeout)
        except (ConnectionLostError, RequestTimeoutError) as error:
            await transport.close()
            kind = (
                UnreachableError if isinstance(error, ConnectionLostError) else RequestTimeoutError
            )
            raise kind(
                f"{self.address} answers neither ApiVersions nor Metadata 0: {cause.message}",
                hint="a listener with TLS or SASL looks like this to a client without them"
                if self.context is None
                else "a listener that wants a client certificate, or SASL, looks like this",
            ) from None
        except BaseException:
            await transport.close()
            raise
        return Connection(self.address, self._assumed(reply), self.config, transport)

    def _assumed(self, reply: ApiVersionsReply) -> BrokerVersions:
        if self.config.release is None:
            return BrokerVersions({METADATA: Range(0, 0)}, Provenance.INFERRED, reply)
        return BrokerVersions(listed_ranges(self.config.release), Provenance.CONFIGURED, reply)

    async def _transport(self) -> ClientTransport:
        frames = FrameReader(self.config.max_frame_bytes)
        conversation = ClientConversation(
            dialect(RELEASED), self.config.client_id, frames, self.decode
        )
        seconds = self.config.connect_timeout
        return await open_transport(self.address, conversation, self.context, seconds)

    async def _ask_versions(
        self, transport: ClientTransport, highest: int | None = None
    ) -> BrokerVersions:
        try:
            return await negotiate(transport, self.config.api_versions_timeout, highest=highest)
        except (ConnectionLostError, RequestTimeoutError) as error:
            if transport.heard:  # whoever begins to answer has ApiVersions, and is not old
                raise
            closed = isinstance(error, ConnectionLostError)
            reply = ApiVersionsReply.CLOSED if closed else ApiVersionsReply.SILENT
            raise _NoApiVersionsError(reply, error) from None
