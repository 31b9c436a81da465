"""The errors that are meant for people: what happened, and what to do about it.

Each room derives its own; only `rollcall.cli` turns one into text on a screen.
"""


class RollcallError(Exception):
    """What happened, and a hint what to do about it."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(RollcallError):
    """A setting that cannot be used: whoever called has to change the call."""
