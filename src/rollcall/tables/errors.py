"""What can be wrong with a folder of tables."""

from rollcall.errors import RollcallError


class TablesError(RollcallError):
    """The tables cannot be read or written."""


class BusyError(TablesError):
    """Another writer is at work on the same tables."""


class OvertakenError(TablesError):
    """This writer was taken for dead, and another one has taken its place."""
