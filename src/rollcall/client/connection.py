"""A connection to one broker: opened, authenticated, with negotiated versions.

Brokers before 0.10 do not have ApiVersions: 0.8 closes the connection, 0.9 does not respond. A
second connection then tries Metadata 0, which every release up to 3.9 has. If the broker responds
it is old: the API ranges of the configured release are used, or only Metadata 0 if no release is
configured. Otherwise the broker is unreachable (35.10).
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
    SAME_IN_BOTH_DIALECTS,
    ApiVersionsOutcome,
    BrokerVersions,
    choose_version,
)
from rollcall.protocol import (
    RELEASED,
    ClientConversation,
    Codec,
    Decoder,
    Dialect,
    FrameReader,
    Message,
    Response,
    VersionRange,
    dialect,
)


@dataclass(frozen=True, eq=False)
class BrokerConnection:
    """Versions are negotiated per connection; a new connection negotiates again (35.6)."""

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
        """Whether client and broker have a common version of this API."""
        ours = self.dialect.apis.get(api_key)
        offered = self.versions.ranges.get(api_key)
        return ours is not None and offered is not None and any(map(offered.has, ours.versions))

    def version_for(self, api_key: int, among: VersionRange | None = None) -> int:
        """Version for a request; raises UnsupportedError if there is no common one (35.9)."""
        api = self.dialect.apis[api_key]
        if self.versions.dialect is None and api_key in SAME_IN_BOTH_DIALECTS:
            among = SAME_IN_BOTH_DIALECTS[api_key] & (among or api.versions)
        offered = self.versions.ranges.get(api_key)
        avoid = self.config.avoid.get(api.name, frozenset())
        return choose_version(api, offered, self.address, among=among, avoid=avoid)

    async def request(self, api_key: int, version: int, **fields: object) -> Message:
        """Send a request with these fields and return the response."""
        message_class = self.dialect.message_class(self.dialect.apis[api_key].request.name)
        response = await self.send(api_key, version, message_class(**fields))
        assert response.message is not None
        return response.message

    async def send(self, api_key: int, version: int, body: Message) -> Response:
        try:
            return await self.transport.call(api_key, version, body, self.config.request_timeout)
        except ConnectionLostError as error:
            if self.config.sasl is None and error.hint is None:
                error.hint = "check whether the listener requires SASL"
            raise

    async def close(self) -> None:
        await self.transport.close()


async def open_connection(
    address: Address,
    config: ClientConfig,
    context: ssl.SSLContext | None = None,
    decode: Decoder = Codec.decode,
) -> BrokerConnection:
    opener = _Opener(address, config, context, decode)
    try:
        return await opener.open()
    except _NoApiVersionsError as error:
        return await opener.open_without_api_versions(error.outcome, error.cause)


class _NoApiVersionsError(Exception):
    def __init__(self, outcome: ApiVersionsOutcome, cause: ClientError) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.cause = cause


@dataclass(frozen=True)
class _Opener:
    address: Address
    config: ClientConfig
    context: ssl.SSLContext | None
    decode: Decoder

    async def open(self) -> BrokerConnection:
        transport = await self._open_transport()
        try:
            if self.config.sasl is not None:
                # Version 0 before authentication: the client name is sent after it (511.3).
                before = await self._first_negotiation(transport, highest=0)
                await authenticate(transport, before, self.config.sasl, self.config.request_timeout)
                versions = await negotiate(transport, self.config.request_timeout)
            else:
                versions = await self._first_negotiation(transport)
        except BaseException:
            await transport.close()
            raise
        transport.conversation.dialect = dialect(versions.dialect or RELEASED)
        return BrokerConnection(self.address, versions, self.config, transport)

    async def _first_negotiation(
        self, transport: ClientTransport, highest: int | None = None
    ) -> BrokerVersions:
        try:
            return await negotiate(transport, self.config.api_versions_timeout, highest=highest)
        except (ConnectionLostError, RequestTimeoutError) as error:
            if transport.received_data:  # a broker that starts to respond has ApiVersions
                raise
            closed = isinstance(error, ConnectionLostError)
            outcome = ApiVersionsOutcome.CLOSED if closed else ApiVersionsOutcome.TIMED_OUT
            raise _NoApiVersionsError(outcome, error) from None

    async def open_without_api_versions(
        self, outcome: ApiVersionsOutcome, cause: ClientError
    ) -> BrokerConnection:
        transport = await self._open_transport()
        try:
            body = transport.conversation.dialect.message_class("MetadataRequest")()
            await transport.call(METADATA, 0, body, self.config.api_versions_timeout)
        except (ConnectionLostError, RequestTimeoutError) as error:
            await transport.close()
            closed = isinstance(error, ConnectionLostError)
            error_class = UnreachableError if closed else RequestTimeoutError
            raise error_class(
                f"{self.address} responds neither to ApiVersions nor to Metadata 0: "
                f"{cause.message}",
                hint="check whether the listener requires TLS or SASL"
                if self.context is None
                else "check whether the listener requires a client certificate or SASL",
            ) from None
        except BaseException:
            await transport.close()
            raise
        return BrokerConnection(
            self.address, self._assumed_versions(outcome), self.config, transport
        )

    def _assumed_versions(self, outcome: ApiVersionsOutcome) -> BrokerVersions:
        if self.config.release is None:
            return BrokerVersions({METADATA: Range(0, 0)}, Provenance.INFERRED, outcome)
        return BrokerVersions(listed_ranges(self.config.release), Provenance.CONFIGURED, outcome)

    async def _open_transport(self) -> ClientTransport:
        frames = FrameReader(self.config.max_frame_bytes)
        conversation = ClientConversation(
            dialect(RELEASED), self.config.client_id, frames, self.decode
        )
        return await open_transport(
            self.address, conversation, self.context, self.config.connect_timeout
        )
