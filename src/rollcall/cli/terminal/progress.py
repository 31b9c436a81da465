"""Progress line on standard error, shown on terminals only."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from rollcall.cli.terminal.output import can_redraw


class ProgressLine:
    """One line that is rewritten in place while the `with` block runs."""

    def __init__(self, idle: str = "", *, quiet: bool = False) -> None:
        self._idle = idle
        self._enabled = can_redraw(sys.stderr) and not quiet

    def __enter__(self) -> Self:
        self.update(self._idle)
        return self

    def __exit__(self, *_: object) -> None:
        self.update("")

    def update(self, text: str) -> None:
        if self._enabled:
            print(f"\r\x1b[K{text[: _columns() - 1]}", end="", file=sys.stderr, flush=True)

    def set_idle(self, text: str) -> None:
        """Show this text now, and whenever `hidden` ends."""
        self._idle = text
        self.update(text)

    @contextmanager
    def hidden(self) -> Iterator[None]:
        """Clear the line, so that output printed in the block stays above it."""
        self.update("")
        yield
        self.update(self._idle)

    def finish(self, text: str) -> None:
        """Leave this text as the last line."""
        self._idle = ""
        if self._enabled:
            with self.hidden():
                print(text, file=sys.stderr)


def _columns() -> int:
    """Width of the terminal: a line that wraps cannot be rewritten."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return 80
