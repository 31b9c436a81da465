"""What all exchanges share: the step, the two sides, and the one way to fail.

An exchange is a chain of turns, each a method that takes the peer's token and names the turn that
follows it. While a turn runs the exchange counts as over; only a turn that succeeds opens the next.
So a failure is final, whatever its cause, and nothing can be tried twice on one exchange.

Peer bytes never enter an error, also not as the `__context__` of one: a `UnicodeDecodeError`
carries the whole token. Hence errors are raised after `except` blocks here, not inside.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from rollcall.errors import RollcallError
from rollcall.protocol.errors import LocalProtocolError


class AuthenticationFailed(RollcallError):  # noqa: N818 - it is an outcome, and this is its name
    """The exchange ends here: wrong credentials, or a token that breaks the rules."""


@dataclass(frozen=True, slots=True)
class SaslReply:
    """The server's answer to a token. The last one names the principal: `alice` of `User:alice`."""

    token: bytes = field(repr=False)
    principal_name: str | None = None

    @property
    def done(self) -> bool:
        return self.principal_name is not None


def _over(_: bytes) -> NoReturn:
    raise AuthenticationFailed(
        "the SASL exchange is over", hint="another try needs a new exchange on a new connection"
    )


class SaslClient(ABC):
    """The client's side: `step(None)` gives the first token, then the server's go in."""

    def __init__(self, mechanism: str, username: str, password: str) -> None:
        check_text("username", username)
        check_text("password", password)
        self.mechanism = mechanism
        self.username = username
        self.done = False
        self._password = password
        self._turn: Callable[[bytes], bytes | None] = self._begin

    def step(self, challenge: bytes | None) -> bytes | None:
        """The next token; `None` when there is nothing left to say and the server is trusted."""
        turn, self._turn = self._turn, _over
        answer = turn(challenge or b"")
        self.done = answer is None
        return answer

    def _begin(self, challenge: bytes) -> bytes:
        if challenge:
            raise AuthenticationFailed("the server sent a token before the client's first")
        return self._first()

    @abstractmethod
    def _first(self) -> bytes: ...

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.mechanism}, {self.username!r}, done={self.done})"


class SaslServer(ABC):
    """The broker's side: the client's tokens go in, until a step is done or `step` raises."""

    def __init__(self, mechanism: str) -> None:
        self.mechanism = mechanism
        self._turn: Callable[[bytes], SaslReply] = self._first

    def step(self, token: bytes) -> SaslReply:
        turn, self._turn = self._turn, _over
        return turn(token)

    @abstractmethod
    def _first(self, token: bytes) -> SaslReply: ...

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.mechanism})"


def wrong_credentials() -> AuthenticationFailed:
    """The same words for an unknown user and a wrong password: the peer learns neither."""
    return AuthenticationFailed(
        "the username or the password is wrong",
        hint="check both, and that the user exists for this SASL mechanism",
    )


def foreign_authorization_id() -> AuthenticationFailed:
    return AuthenticationFailed(
        "the client wants to act as somebody else than it logs in as",
        hint="leave the SASL authorization id empty, or set it to the username",
    )


def decode_text(token: bytes) -> str:
    try:
        return token.decode()
    except UnicodeDecodeError:
        pass
    raise AuthenticationFailed("the token is not UTF-8")


def check_text(what: str, value: str) -> None:
    """Refuse what no mechanism can carry: PLAIN separates by NUL, and PBKDF2 does not see it."""
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
        f"the SASL {what} cannot be written as UTF-8", hint="it holds half a surrogate pair"
    )
