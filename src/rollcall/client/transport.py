"""The edge that awaits: bytes of one connection, and each answer to whoever waits for it.

Any number of requests may be on their way; the conversation matches answers by correlation id. A
caller that is cancelled leaves, and its answer is dropped when it comes. An answer that is late
ends the connection, as Kafka answers in order: whatever stands behind it would be late as well.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, cast

from rollcall.client.addresses import Address
from rollcall.client.errors import (
    ClientError,
    ConnectionLostError,
    InvalidResponseError,
    RequestTimeoutError,
    UnreachableError,
    UnsupportedError,
)
from rollcall.protocol.conversation import ClientConversation, Response
from rollcall.protocol.errors import RemoteProtocolError
from rollcall.protocol.framing import frame
from rollcall.protocol.messages import Message

CLOSE_SECONDS = 1.0
TLS_ALERT = b"\x15\x03"
SPEAKS_TLS = "these bytes are a TLS alert: the listener speaks TLS, and the settings do not"


def no_tls_with(address: Address, error: OSError) -> UnreachableError:
    why = error.strerror or str(error) or "it closed the connection"
    return UnreachableError(
        f"{address} and rollcall found no way to speak TLS: {why}",
        hint="check that this is a TLS listener, and whether it wants a client certificate",
    )


class ClientTransport(asyncio.Protocol):
    def __init__(self, address: Address, conversation: ClientConversation) -> None:
        self.address = address
        self.conversation = conversation
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._raw: asyncio.Future[bytes] | None = None
        self._end: ClientError | None = None
        self.heard = False
        """Whether the broker ever said a word, be it half a one."""
        self._gone = self._loop.create_future()

    @property
    def is_open(self) -> bool:
        return self._transport is not None and self._end is None

    # What asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.heard = True
        try:
            if self._raw is not None:
                self._receive_raw(data)
                return
            for answer in self.conversation.receive(data):
                future = self._waiting.pop(answer.request.correlation_id, None)
                if future is not None and not future.done():
                    future.set_result(answer)
        except RemoteProtocolError as error:
            text = f"{self.address} sent something that cannot be understood: {error.message}"
            hint = SPEAKS_TLS if data.startswith(TLS_ALERT) else error.hint
            self._fail(InvalidResponseError(text, hint=hint))

    def connection_lost(self, error: Exception | None) -> None:
        if isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or ""):
            # since TLS 1.3 a listener that misses a certificate lets us in first, and objects then
            self._fail(no_tls_with(self.address, error))
        pending = self.conversation.frames.pending
        how = f" in the middle of an answer, {pending} bytes of it came" if pending else ""
        if isinstance(error, OSError) and error.strerror:
            how += f" ({error.strerror})"
        self._fail(ConnectionLostError(f"{self.address} closed the connection{how}"))
        if not self._gone.done():
            self._gone.set_result(None)

    # What we call

    async def call(self, api_key: int, version: int, body: Message, seconds: float) -> Response:
        """Ask, and wait for the answer at most so long."""
        call, data = self.conversation.send(api_key, version, body)
        what = f"{call.api.name} version {version}"
        future = self._loop.create_future()
        self._waiting[call.correlation_id] = future
        try:
            answer: Response = await self._sent(data, future, seconds, what)
        finally:
            self._waiting.pop(call.correlation_id, None)
        if answer.message is None:
            raise UnsupportedError(
                f"request not supported by the broker: {what}, {self.address} says",
                hint="the broker is older or newer than its list of versions tells",
            )
        return answer

    async def exchange(self, token: bytes, seconds: float) -> bytes:
        """A frame without any header, answered by one: SASL as it was before Kafka 1.0."""
        self._raw = future = self._loop.create_future()
        try:
            return cast("bytes", await self._sent(frame([token]), future, seconds, "a SASL token"))
        finally:
            self._raw = None

    async def close(self) -> None:
        """Hang up; returns when the socket is closed."""
        self._fail(ConnectionLostError(f"the connection to {self.address} was closed here"))
        if self._transport is None:
            return
        self._transport.close()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await asyncio.shield(self._gone)
        except TimeoutError:  # the peer does not take leave of TLS
            self._transport.abort()

    async def _sent(
        self, data: bytes, future: asyncio.Future[Any], seconds: float, what: str
    ) -> Any:
        if self._end is not None:
            raise self._end
        assert self._transport is not None
        self._transport.write(data)
        try:
            async with asyncio.timeout(seconds):
                return await future
        except TimeoutError:
            late = RequestTimeoutError(
                f"{self.address} did not answer {what} within {seconds:g} s",
                hint="the broker may be overloaded, stopped, or not speak the Kafka protocol",
            )
            self._fail(late)
            raise late from None

    def _receive_raw(self, data: bytes) -> None:
        for token in self.conversation.frames.feed(data):
            if self._raw is not None and not self._raw.done():
                self._raw.set_result(token)

    def _fail(self, error: ClientError) -> None:
        """The first reason stays: what comes after it follows from it."""
        if self._end is not None:
            return
        self._end = error
        waiting = [*self._waiting.values(), *([self._raw] if self._raw else [])]
        for future in waiting:
            if not future.done():
                future.set_exception(error)
        if self._transport is not None and not isinstance(error, ConnectionLostError):
            self._transport.abort()
