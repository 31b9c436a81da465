"""Why there is no answer: each error knows the word that a roll call puts in its row.

The words matter to whoever reads them: a broker that refuses the connection is down, one that is
mute may be hung or behind a firewall, one that lacks an API is well and merely old.
"""

from enum import StrEnum
from typing import ClassVar

from rollcall.errors import RollcallError


class Trouble(StrEnum):
    """What stood between us and an answer."""

    REFUSED = "refused"
    """Nobody listens at the address."""
    UNREACHABLE = "unreachable"
    """The name has no address, there is no way to it, or no TLS with it."""
    MUTE = "mute"
    """The connection is open, or should be, and nothing comes back in time."""
    CLOSED = "closed"
    """The broker hung up."""
    DENIED = "denied"
    """The broker does not take our credentials, or we do not trust it."""
    UNSUPPORTED = "unsupported"
    """The broker lacks the API or the version that is needed."""
    ERROR = "error"
    """The broker answered with an error code."""
    GARBLED = "garbled"
    """What came back is not the Kafka protocol, or not an answer to what was asked."""


class ClientError(RollcallError):
    """A broker could not be asked, or did not give what was asked for."""

    trouble: ClassVar[Trouble] = Trouble.UNREACHABLE


class UnreachableError(ClientError):
    """There is no connection to be had."""


class ConnectionRefusedByBrokerError(UnreachableError):
    """The host is there, and nobody listens at that port."""

    trouble = Trouble.REFUSED


class NeverAnswersError(UnreachableError):
    """The connection is taken, and nothing ever comes through it."""

    trouble = Trouble.MUTE


class ConnectionLostError(ClientError):
    """The connection ended before the answer came."""

    trouble = Trouble.CLOSED


class NoAnswerError(ClientError):
    """The answer did not come in time."""

    trouble = Trouble.MUTE


class DeniedError(ClientError):
    """Authentication failed, on one side or the other."""

    trouble = Trouble.DENIED


class UnsupportedError(ClientError):
    """The broker lacks what we need: said at once, with both ranges (35.9)."""

    trouble = Trouble.UNSUPPORTED


class BrokerError(ClientError):
    """The broker answered with an error code."""

    trouble = Trouble.ERROR

    def __init__(self, message: str, *, code: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code


class GarbledError(ClientError):
    """What came back cannot be understood."""

    trouble = Trouble.GARBLED
