"""Why there is no answer: each error knows the word that a roll call puts in its row.

The words matter to whoever reads them: a broker that refuses the connection is down, one that is
mute may be hung or behind a firewall, one that lacks an API is well and merely old.
"""

from enum import StrEnum
from typing import ClassVar

from rollcall.errors import RollcallError


class FailureKind(StrEnum):
    """What stood between us and an answer."""

    REFUSED = "refused"
    """Nobody listens at the address."""
    UNREACHABLE = "unreachable"
    """The name has no address, there is no way to it, or no TLS with it."""
    NO_RESPONSE = "no-response"
    """The connection is open, or should be, and nothing comes back in time."""
    CLOSED = "closed"
    """The broker hung up."""
    AUTHENTICATION_FAILED = "authentication-failed"
    """The broker does not take our credentials, or we do not trust it."""
    UNSUPPORTED = "unsupported"
    """The broker lacks the API or the version that is needed."""
    ERROR = "error"
    """The broker answered with an error code."""
    INVALID_RESPONSE = "invalid-response"
    """What came back is not the Kafka protocol, or not an answer to what was asked."""


class ClientError(RollcallError):
    """A broker could not be asked, or did not give what was asked for."""

    failure: ClassVar[FailureKind] = FailureKind.UNREACHABLE


class UnreachableError(ClientError):
    """There is no connection to be had."""


class ConnectionRefusedByBrokerError(UnreachableError):
    """The host is there, and nobody listens at that port."""

    failure = FailureKind.REFUSED


class ConnectionLostError(ClientError):
    """The connection ended before the answer came."""

    failure = FailureKind.CLOSED


class RequestTimeoutError(ClientError):
    """The answer did not come in time."""

    failure = FailureKind.NO_RESPONSE


class AuthenticationError(ClientError):
    """Authentication failed, on one side or the other."""

    failure = FailureKind.AUTHENTICATION_FAILED


class UnsupportedError(ClientError):
    """The broker lacks what we need: said at once, with both ranges (35.9)."""

    failure = FailureKind.UNSUPPORTED


class BrokerError(ClientError):
    """The broker answered with an error code."""

    failure = FailureKind.ERROR

    def __init__(self, message: str, *, code: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code


class InvalidResponseError(ClientError):
    """What came back cannot be understood."""

    failure = FailureKind.INVALID_RESPONSE
