"""Errors of the protocol package: our own mistakes, the peer's, and those of a schema."""

from rollcall.errors import RollcallError


class ProtocolError(RollcallError):
    """Bytes or values that violate the Kafka protocol."""


class LocalProtocolError(ProtocolError):
    """A message, version or value of ours that cannot be written: a bug on this side."""


class RemoteProtocolError(ProtocolError):
    """Bytes of the peer that cannot be read: log the peer and close the connection."""


class SchemaError(ProtocolError):
    """A schema file that is invalid or contradicts itself."""
