"""asyncio protocol of one connection: sends requests, matches responses by correlation id.

Any number of requests can be in flight. The response to a cancelled request is dropped. A request
that times out ends the connection: Kafka responds in order, so later responses would be late too.
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
from rollcall.protocol import ClientConversation, Message, RemoteProtocolError, Response, frame

CLOSE_SECONDS = 1.0
TLS_ALERT = b"\x15\x03"
TLS_LISTENER_HINT = "the bytes are a TLS alert: enable TLS, or use a plaintext listener"


def tls_failure(address: Address, error: OSError) -> UnreachableError:
    reason = error.strerror or str(error) or "the broker closed the connection"
    return UnreachableError(
        f"the TLS handshake with {address} failed: {reason}",
        hint="check that this is a TLS listener, and whether it requires a client certificate",
    )


class ClientTransport(asyncio.Protocol):
    def __init__(self, address: Address, conversation: ClientConversation) -> None:
        self.address = address
        self.conversation = conversation
        self.received_data = False
        """Whether the broker has sent any byte."""
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._pending_token: asyncio.Future[bytes] | None = None
        self._error: ClientError | None = None
        self._closed = self._loop.create_future()

    @property
    def is_open(self) -> bool:
        return self._transport is not None and self._error is None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.received_data = True
        try:
            if self._pending_token is not None:
                self._receive_token(data)
                return
            for response in self.conversation.receive(data):
                future = self._pending.pop(response.request.correlation_id, None)
                if future is not None and not future.done():
                    future.set_result(response)
        except RemoteProtocolError as error:
            message = f"{self.address} sent an invalid response: {error.message}"
            hint = TLS_LISTENER_HINT if data.startswith(TLS_ALERT) else error.hint
            self._fail(InvalidResponseError(message, hint=hint))

    def connection_lost(self, error: Exception | None) -> None:
        if isinstance(error, ssl.SSLError) and "ALERT" in (error.reason or ""):
            # In TLS 1.3 a missing client certificate is reported after the handshake.
            self._fail(tls_failure(self.address, error))
        received = self.conversation.frames.pending
        detail = f" after {received} bytes of a response" if received else ""
        if isinstance(error, OSError) and error.strerror:
            detail += f" ({error.strerror})"
        self._fail(ConnectionLostError(f"{self.address} closed the connection{detail}"))
        if not self._closed.done():
            self._closed.set_result(None)

    async def call(self, api_key: int, version: int, body: Message, seconds: float) -> Response:
        """Send a request and wait for its response."""
        call, data = self.conversation.send(api_key, version, body)
        name = f"{call.api.name} version {version}"
        future = self._loop.create_future()
        self._pending[call.correlation_id] = future
        try:
            response: Response = await self._send(data, future, seconds, name)
        finally:
            self._pending.pop(call.correlation_id, None)
        if response.message is None:
            raise UnsupportedError(
                f"request not supported by the broker: {name} ({self.address})",
                hint="the broker does not accept a version that it lists: check its release",
            )
        return response

    async def exchange_token(self, token: bytes, seconds: float) -> bytes:
        """Exchange SASL tokens as frames without headers, as before Kafka 1.0."""
        self._pending_token = future = self._loop.create_future()
        try:
            response = await self._send(frame([token]), future, seconds, "a SASL token")
            return cast("bytes", response)
        finally:
            self._pending_token = None

    async def close(self) -> None:
        """Close the connection; returns when the socket is closed."""
        self._fail(ConnectionLostError(f"the connection to {self.address} was closed here"))
        if self._transport is None:
            return
        self._transport.close()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await asyncio.shield(self._closed)
        except TimeoutError:  # the peer does not send its TLS close_notify
            self._transport.abort()

    async def _send(
        self, data: bytes, future: asyncio.Future[Any], seconds: float, name: str
    ) -> Any:
        if self._error is not None:
            raise self._error
        assert self._transport is not None
        self._transport.write(data)
        try:
            async with asyncio.timeout(seconds):
                return await future
        except TimeoutError:
            error = RequestTimeoutError(
                f"{self.address} did not respond to {name} within {seconds:g} s",
                hint="check that the broker runs, is not overloaded, and that this is a Kafka port",
            )
            self._fail(error)
            raise error from None

    def _receive_token(self, data: bytes) -> None:
        for token in self.conversation.frames.feed(data):
            if self._pending_token is not None and not self._pending_token.done():
                self._pending_token.set_result(token)

    def _fail(self, error: ClientError) -> None:
        """End the connection and fail all pending requests; only the first error counts."""
        if self._error is not None:
            return
        self._error = error
        token = [self._pending_token] if self._pending_token else []
        for future in [*self._pending.values(), *token]:
            if not future.done():
                future.set_exception(error)
        if self._transport is not None and not isinstance(error, ConnectionLostError):
            self._transport.abort()
