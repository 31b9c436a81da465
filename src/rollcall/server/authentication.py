"""SASL on one connection, from the handshake to the principal.

    SaslHandshake 1 -> SaslAuthenticate ... -> logged in        (KIP-152)
    SaslHandshake 0 -> bare tokens, each with a length          (KIP-43)

After a failure the exchange is over: after a pause it is answered, and the connection closed.
"""

from __future__ import annotations

from dataclasses import dataclass

from rollcall.protocol.dialects import Dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.messages import Message
from rollcall.protocol.sasl import AuthenticationFailed, SaslReply, SaslServer, new_server
from rollcall.server.config import SaslConfig
from rollcall.server.handlers import SASL_AUTHENTICATE_KEY, SASL_HANDSHAKE_KEY

UNSUPPORTED_MECHANISM = "unsupported"


@dataclass(frozen=True, slots=True)
class LoginStep:
    """What to send, and where the login stands after it."""

    answer: Message | None = None
    token: bytes = b""
    """What to send instead of an answer, while bare tokens are exchanged."""
    principal: str | None = None
    """Set by the last step of a login that went well."""
    failure: str | None = None
    """Set by the last step of one that did not: what to tell the operator."""


class SaslLogin:
    """The broker's side of one login."""

    __slots__ = ("_config", "_dialect", "_exchange", "bare")

    def __init__(self, config: SaslConfig, dialect: Dialect) -> None:
        self._config = config
        self._dialect = dialect
        self._exchange: SaslServer | None = None
        self.bare = False
        """After SaslHandshake 0 frames are bare tokens."""

    @property
    def mechanism(self) -> str:
        return self._exchange.mechanism if self._exchange else UNSUPPORTED_MECHANISM

    def receive(self, api_key: int, version: int, body: Message) -> LoginStep:
        if api_key == SASL_HANDSHAKE_KEY:
            return self._handshake(version, body.mechanism)
        return self._authenticate(body.auth_bytes)

    def _handshake(self, version: int, mechanism: str) -> LoginStep:
        response = self._dialect.message_class("SaslHandshakeResponse")
        enabled = self._config.mechanisms
        if self._exchange is not None:
            return LoginStep(
                response(error_code=Errors.ILLEGAL_SASL_STATE),
                failure="a second SaslHandshake came during a login",
            )
        if mechanism not in enabled:
            return LoginStep(
                response(error_code=Errors.UNSUPPORTED_SASL_MECHANISM, mechanisms=enabled),
                failure=f"the mechanism is not enabled, {', '.join(enabled)} are",
            )
        self._exchange = new_server(mechanism, self._config.users)
        self.bare = version == 0
        return LoginStep(response(mechanisms=enabled))

    def _authenticate(self, token: bytes) -> LoginStep:
        response = self._dialect.message_class("SaslAuthenticateResponse")
        if self._exchange is None:
            return LoginStep(
                response(
                    error_code=Errors.ILLEGAL_SASL_STATE,
                    error_message="SaslAuthenticate came before SaslHandshake",
                ),
                failure="SaslAuthenticate came before SaslHandshake",
            )
        try:
            reply = self._exchange.step(token)
        except AuthenticationFailed as error:
            return LoginStep(
                response(
                    error_code=Errors.SASL_AUTHENTICATION_FAILED,
                    error_message=f"Authentication failed: {error.message}",
                ),
                failure=error.message,
            )
        return LoginStep(response(auth_bytes=reply.token), principal=_principal(reply))

    def receive_token(self, token: bytes) -> LoginStep:
        """A bare token: there is no way to tell the client why it failed."""
        assert self._exchange is not None
        try:
            reply = self._exchange.step(token)
        except AuthenticationFailed as error:
            return LoginStep(failure=error.message)
        return LoginStep(token=reply.token, principal=_principal(reply))


def _principal(reply: SaslReply) -> str | None:
    return None if reply.principal_name is None else f"User:{reply.principal_name}"


def logged_in_already(dialect: Dialect, api_key: int) -> Message:
    """The answer to SASL requests of a client that is logged in."""
    name = dialect.apis[api_key].response.name
    fields = {"error_code": Errors.ILLEGAL_SASL_STATE}
    if api_key == SASL_AUTHENTICATE_KEY:
        return dialect.message_class(name)(
            **fields, error_message="the client is logged in already"
        )
    return dialect.message_class(name)(**fields)
