"""Base classes of errors that are shown to users: a message and a hint.

Each package derives its own errors; only `rollcall.cli` and `rollcall.web` print them.
"""


class RollcallError(Exception):
    """What failed and why, with an optional hint what to do."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigError(RollcallError):
    """An invalid option or setting."""
