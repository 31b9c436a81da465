"""Errors of the client, each with the `FailureKind` that a roll call shows for the broker.

The kinds lead to different actions. A broker that refuses the connection is down, one that does
not respond may be hung or behind a firewall, one that lacks an API is healthy but old.
"""

from enum import StrEnum
from typing import ClassVar

from rollcall.errors import RollcallError


class FailureKind(StrEnum):
    """Why a broker could not be queried."""

    REFUSED = "refused"
    """No process listens at the address."""
    UNREACHABLE = "unreachable"
    """The host name does not resolve, there is no route, or the TLS handshake failed."""
    NO_RESPONSE = "no-response"
    """The connection attempt or the request timed out."""
    CLOSED = "closed"
    """The broker closed the connection."""
    AUTHENTICATION_FAILED = "authentication-failed"
    """The broker rejected the credentials, or its certificate is not trusted."""
    UNSUPPORTED = "unsupported"
    """The broker lacks the required API or version."""
    ERROR = "error"
    """The response has an error code."""
    INVALID_RESPONSE = "invalid-response"
    """The received bytes are not a Kafka response to the request."""


class ClientError(RollcallError):
    """A broker could not be queried; `failure` is the kind."""

    failure: ClassVar[FailureKind] = FailureKind.UNREACHABLE


class UnreachableError(ClientError):
    """No connection could be opened."""


class ConnectionRefusedByBrokerError(UnreachableError):
    failure = FailureKind.REFUSED


class ConnectionLostError(ClientError):
    """The connection ended before the response arrived."""

    failure = FailureKind.CLOSED


class RequestTimeoutError(ClientError):
    """The connection or the response did not arrive within its timeout."""

    failure = FailureKind.NO_RESPONSE


class AuthenticationError(ClientError):
    """The broker rejected the client, or the client rejected the broker's certificate."""

    failure = FailureKind.AUTHENTICATION_FAILED


class UnsupportedError(ClientError):
    """Client and broker have no version in common; the message names both ranges (35.9)."""

    failure = FailureKind.UNSUPPORTED


class BrokerError(ClientError):
    """The response has an error code."""

    failure = FailureKind.ERROR

    def __init__(self, message: str, *, code: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.code = code


class InvalidResponseError(ClientError):
    """The response cannot be decoded."""

    failure = FailureKind.INVALID_RESPONSE
