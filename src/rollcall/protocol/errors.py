"""Whose fault it is when bytes and messages do not fit together.

The two kinds differ in what the catcher does: a local error is a bug to mend here, a remote one is
a peer to name in the log and to hang up on.
"""

from rollcall.errors import RollcallError


class ProtocolError(RollcallError):
    """Bytes or values that break the rules of the Kafka protocol."""


class LocalProtocolError(ProtocolError):
    """We asked for what cannot be written: a value out of range, a field the version lacks."""


class RemoteProtocolError(ProtocolError):
    """The peer sent what cannot be read: bytes cut short, left over, or without a meaning."""


class SchemaError(ProtocolError):
    """A schema file that contradicts the message format, or itself."""
