"""One line that moves while a command works: on a terminal, on standard error, and nothing else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from rollcall.cli.terminal.output import can_redraw


class ProgressLine:
    """There while the block lasts; a file, a program and a dumb terminal are spared it."""

    def __init__(self, first: str = "", *, quiet: bool = False) -> None:
        self._at_rest = first
        self._moves = can_redraw(sys.stderr) and not quiet

    def __enter__(self) -> Self:
        self.tell(self._at_rest)
        return self

    def __exit__(self, *_: object) -> None:
        self.tell("")

    def tell(self, text: str) -> None:
        if self._moves:
            print(f"\r\x1b[K{text[: _columns() - 1]}", end="", file=sys.stderr, flush=True)

    def rest(self, text: str) -> None:
        """To be seen from now on while there is nothing else to tell."""
        self._at_rest = text
        self.tell(text)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is printed in the block stays, above the line."""
        self.tell("")
        yield
        self.tell(self._at_rest)

    def last_words(self, text: str) -> None:
        """They stay, and then there is nothing to wait for."""
        self._at_rest = ""
        if self._moves:
            with self.aside():
                print(text, file=sys.stderr)


def _columns() -> int:
    """Of the terminal: a line that goes over two cannot be taken back."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except OSError:
        return 80
