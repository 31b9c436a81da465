"""SASL authentication on one connection, from the handshake to the principal.

    SaslHandshake 1, then SaslAuthenticate requests        (KIP-152)
    SaslHandshake 0, then raw tokens in frames             (KIP-43)

A failure ends the exchange: the connection responds after a delay and closes.
"""

from __future__ import annotations

from dataclasses import dataclass

from rollcall.protocol import Dialect, Errors, Message
from rollcall.protocol.sasl import AuthenticationFailed, SaslReply, SaslServer, new_server
from rollcall.server.config import SaslConfig
from rollcall.server.handlers import SASL_AUTHENTICATE_KEY, SASL_HANDSHAKE_KEY

UNSUPPORTED_MECHANISM = "unsupported"


@dataclass(frozen=True, slots=True)
class AuthenticationStep:
    """What to send next, and the outcome if this was the last step."""

    response: Message | None = None
    token: bytes = b""
    """Sent instead of a response while raw tokens are exchanged."""
    principal: str | None = None
    """Set when the client is authenticated."""
    failure: str | None = None
    """Set when authentication failed: the reason, for the log."""


class SaslAuthentication:
    """The broker's side of the SASL authentication of one connection."""

    __slots__ = ("_config", "_dialect", "_exchange", "raw_tokens")

    def __init__(self, config: SaslConfig, dialect: Dialect) -> None:
        self._config = config
        self._dialect = dialect
        self._exchange: SaslServer | None = None
        self.raw_tokens = False
        """After SaslHandshake 0 a frame is a token, without a request header."""

    @property
    def mechanism(self) -> str:
        return self._exchange.mechanism if self._exchange else UNSUPPORTED_MECHANISM

    def receive(self, api_key: int, version: int, body: Message) -> AuthenticationStep:
        if api_key == SASL_HANDSHAKE_KEY:
            return self._handshake(version, body.mechanism)
        return self._authenticate(body.auth_bytes)

    def _handshake(self, version: int, mechanism: str) -> AuthenticationStep:
        response = self._dialect.message_class("SaslHandshakeResponse")
        enabled = self._config.mechanisms
        if self._exchange is not None:
            return AuthenticationStep(
                response(error_code=Errors.ILLEGAL_SASL_STATE),
                failure="second SaslHandshake during authentication",
            )
        if mechanism not in enabled:
            return AuthenticationStep(
                response(error_code=Errors.UNSUPPORTED_SASL_MECHANISM, mechanisms=enabled),
                failure=f"mechanism is not enabled (enabled: {', '.join(enabled)})",
            )
        self._exchange = new_server(mechanism, self._config.users)
        self.raw_tokens = version == 0
        return AuthenticationStep(response(mechanisms=enabled))

    def _authenticate(self, token: bytes) -> AuthenticationStep:
        response = self._dialect.message_class("SaslAuthenticateResponse")
        if self._exchange is None:
            reason = "SaslAuthenticate before SaslHandshake"
            return AuthenticationStep(
                response(error_code=Errors.ILLEGAL_SASL_STATE, error_message=reason), failure=reason
            )
        try:
            reply = self._exchange.step(token)
        except AuthenticationFailed as error:
            return AuthenticationStep(
                response(
                    error_code=Errors.SASL_AUTHENTICATION_FAILED,
                    error_message=f"Authentication failed: {error.message}",
                ),
                failure=error.message,
            )
        return AuthenticationStep(response(auth_bytes=reply.token), principal=_principal(reply))

    def receive_token(self, token: bytes) -> AuthenticationStep:
        """Process a raw token. The protocol has no response for a failure."""
        assert self._exchange is not None
        try:
            reply = self._exchange.step(token)
        except AuthenticationFailed as error:
            return AuthenticationStep(failure=error.message)
        return AuthenticationStep(token=reply.token, principal=_principal(reply))


def _principal(reply: SaslReply) -> str | None:
    return None if reply.principal_name is None else f"User:{reply.principal_name}"


def already_authenticated(dialect: Dialect, api_key: int) -> Message:
    """Response to a SASL request of a client that is already authenticated."""
    response = dialect.message_class(dialect.apis[api_key].response.name)
    if api_key == SASL_AUTHENTICATE_KEY:
        return response(error_code=Errors.ILLEGAL_SASL_STATE, error_message="already authenticated")
    return response(error_code=Errors.ILLEGAL_SASL_STATE)
