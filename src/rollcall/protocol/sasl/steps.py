"""Base classes of SASL exchanges, their reply and their error.

An exchange is a sequence of methods. Each takes the peer's token and sets `_next` to the method for
the token after it. Before a method runs, `_next` is set to one that raises, so that a failed
exchange cannot be continued.

Errors never contain bytes of the peer, not even as their `__context__`: a `UnicodeDecodeError`
holds the whole token. Errors are therefore raised after `except` blocks, not inside.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from rollcall.errors import RollcallError
from rollcall.protocol.errors import LocalProtocolError


class AuthenticationFailed(RollcallError):  # noqa: N818 - named as in Kafka's error codes
    """The exchange failed: wrong credentials, or an invalid token."""


@dataclass(frozen=True, slots=True)
class SaslReply:
    """The server's reply to a token. The last one has the principal name, such as `alice`."""

    token: bytes = field(repr=False)
    principal_name: str | None = None

    @property
    def done(self) -> bool:
        return self.principal_name is not None


def _ended(_: bytes) -> NoReturn:
    raise AuthenticationFailed(
        "the SASL exchange has ended", hint="start a new exchange on a new connection"
    )


class SaslClient(ABC):
    """The client's side: `step(None)` returns the first token, later calls take the server's."""

    def __init__(self, mechanism: str, username: str, password: str) -> None:
        check_text("username", username)
        check_text("password", password)
        self.mechanism = mechanism
        self.username = username
        self.done = False
        self._password = password
        self._next: Callable[[bytes], bytes | None] = self._begin

    def step(self, challenge: bytes | None) -> bytes | None:
        """The next token; `None` when the exchange is complete and the server is verified."""
        current, self._next = self._next, _ended
        token = current(challenge or b"")
        self.done = token is None
        return token

    def _begin(self, challenge: bytes) -> bytes:
        if challenge:
            raise AuthenticationFailed("the server sent a token before the client did")
        return self._first()

    @abstractmethod
    def _first(self) -> bytes: ...

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.mechanism}, {self.username!r}, done={self.done})"


class SaslServer(ABC):
    """The broker's side: `step` takes the client's tokens until a reply is done or it raises."""

    def __init__(self, mechanism: str) -> None:
        self.mechanism = mechanism
        self._next: Callable[[bytes], SaslReply] = self._first

    def step(self, token: bytes) -> SaslReply:
        current, self._next = self._next, _ended
        return current(token)

    @abstractmethod
    def _first(self, token: bytes) -> SaslReply: ...

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.mechanism})"


def wrong_credentials() -> AuthenticationFailed:
    """The same error for an unknown user and a wrong password, to reveal neither."""
    return AuthenticationFailed(
        "wrong username or password",
        hint="check both, and that the user exists for this SASL mechanism",
    )


def wrong_authorization_id() -> AuthenticationFailed:
    return AuthenticationFailed(
        "the SASL authorization id differs from the username",
        hint="leave the authorization id empty, or set it to the username",
    )


def decode_text(token: bytes) -> str:
    try:
        return token.decode()
    except UnicodeDecodeError:
        pass
    raise AuthenticationFailed("the token is not UTF-8")


def check_text(what: str, value: str) -> None:
    """Reject empty text, NUL (the separator of PLAIN) and text that is not valid UTF-8."""
    if not value:
        raise LocalProtocolError(f"the SASL {what} is empty", hint=f"set a {what}")
    if "\0" in value:
        raise LocalProtocolError(f"the SASL {what} contains a NUL", hint=f"choose another {what}")
    try:
        value.encode()
    except UnicodeEncodeError:
        pass
    else:
        return
    raise LocalProtocolError(
        f"the SASL {what} cannot be encoded as UTF-8", hint="remove lone surrogates"
    )
