"""Text made safe for a terminal, tables, JSON.

Names that a peer or a log line tells are text that anyone may choose: an escape sequence in a
client id must not move the cursor of the operator who reads it, nor a `[red]` in it colour his
table. Rich gives colours on a terminal only, and none where NO_COLOR is set; it takes its time to
load, so that only who prints with it does.
"""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import TYPE_CHECKING, TextIO

from rollcall.cli.terminal.json_text import json_text
from rollcall.errors import RollcallError
from rollcall.text import safe_text

if TYPE_CHECKING:
    from rich.console import Console

LIKE_A_TERMINAL = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Where Rich is told to take what is no terminal for one."""


def grouped(cells: Iterable[object]) -> list[object]:
    """Counts as people read them: 1,234,567."""
    return [f"{cell:,}" if isinstance(cell, int) else cell for cell in cells]


def count(number: int, noun: str) -> str:
    """`1 file`, `1,234 files`."""
    return f"{number:,} {plural(number, noun)}"


def plural(number: int, noun: str) -> str:
    return noun if number == 1 else f"{noun}s"


def print_lines(lines: Iterable[str]) -> None:
    """Sentences: on a terminal broken between words, what follows a little further in."""
    console = _terminal()
    width = console.width if console else None
    for line in map(safe_text, lines):
        if width is not None and len(line) > width:
            lead = line[: len(line) - len(line.lstrip())] + "  "
            line = textwrap.fill(line, width, subsequent_indent=lead, break_on_hyphens=False)
        print(line)


def _terminal() -> Console | None:
    """None where there is no terminal; nobody waits for Rich then."""
    if not sys.stdout.isatty() and not any(map(os.environ.get, LIKE_A_TERMINAL)):
        return None
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else None


def can_redraw(stream: TextIO) -> bool:
    """Whether what was written can be taken back: a terminal, and one that obeys."""
    return stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str | None = None,
    right: Sequence[str] = (),
) -> None:
    """Cells as text, None as an empty cell; the columns named in `right` (figures) end flush.

    On a terminal rows are made to fit, and columns that are empty are left out. For a file or
    `grep` a row is one line, however long, with all columns.
    """
    from rollcall.cli.terminal.table import Layout

    console = _terminal()
    texts = [["" if cell is None else safe_text(cell) for cell in row] for row in (columns, *rows)]
    if console:
        texts = _without_empty_columns(texts)
    figures = [index for index, column in enumerate(texts[0]) if column in right]
    layout = Layout.of(texts, figures, console.width if console else None)
    if title is not None:
        print(safe_text(title))
    for line in layout.lines(texts[0]):
        _print_heading(line, console)
    print(("─" if _is_unicode() else "-") * layout.width)
    for row in texts[1:]:
        print("\n".join(layout.lines(row)))


def _print_heading(line: str, console: Console | None) -> None:
    if console is None:
        print(line)
        return
    from rich.text import Text

    console.print(Text(line, "bold"), soft_wrap=True)


def _without_empty_columns(texts: list[list[str]]) -> list[list[str]]:
    filled = [any(cells) for cells in zip(*texts[1:], strict=True)] or [True] * len(texts[0])
    return [list(compress(row, filled)) for row in texts]


def print_json(value: object) -> None:
    """The value as it is, for a program; what a terminal might obey is written as a JSON escape."""
    text = json_text(value, ascii_only=not _is_unicode())
    lines = text.split("\n")  # a line end stands between values, never in a string
    print(text if all(map(str.isprintable, lines)) else "\n".join(map(_json_line, lines)))


def _is_unicode() -> bool:
    return sys.stdout.encoding.lower().startswith("utf")


def _json_line(line: str) -> str:
    """What cannot be seen as JSON writes it: json.dumps(c) knows how."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def print_error(error: RollcallError) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    console.print(Text.assemble(("error: ", "red"), safe_text(error.message)), soft_wrap=True)
    if error.hint is not None:
        console.print(Text.assemble(("hint: ", "cyan"), safe_text(error.hint)), soft_wrap=True)
