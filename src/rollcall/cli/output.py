"""Text made safe for a terminal, tables, JSON.

Names that a peer or a log line tells are text that anyone may choose: an escape sequence in a
client id must not move the cursor of the operator who reads it, nor a `[red]` in it colour his
table. Rich gives colours on a terminal only, and none where NO_COLOR is set.
"""

import json
import sys
from collections.abc import Iterable, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from rollcall.errors import RollcallError


def safe_text(value: object) -> str:
    """One line of visible characters; the others (controls, bidi marks) as `\\x1b` or `\\u202e`."""
    text = str(value)
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str | None = None,
    right: Sequence[str] = (),
) -> None:
    """Cells as text, None as an empty cell; the columns named in `right` (figures) end flush."""
    console = Console(highlight=False)
    if not console.is_terminal:
        _print_plain(columns, rows, title, right)
        return
    table = Table(
        title=_cell(title),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    for column in columns:
        table.add_column(
            _cell(column), justify="right" if column in right else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*map(_cell, row))
    console.print(table)


def _print_plain(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    title: str | None,
    right: Sequence[str],
) -> None:
    """For a file or `grep`: a row is one line, however long, and ends with its last character."""
    texts = [["" if cell is None else safe_text(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(map(_width, column)) for column in zip(*texts, strict=True)]
    lines = [
        "   ".join(
            " " * (width - _width(text)) + text
            if column in right
            else text + " " * (width - _width(text))
            for text, width, column in zip(row, widths, columns, strict=True)
        ).rstrip()
        for row in texts
    ]
    rule = "─" * (sum(widths) + 3 * (len(widths) - 1))
    titles = [] if title is None else [safe_text(title)]
    print(*titles, lines[0], rule, *lines[1:], sep="\n")


def _width(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)


def print_json(value: object) -> None:
    """The value as it is, for a program; what a terminal might obey is written as a JSON escape."""
    unicode = sys.stdout.encoding.lower().startswith("utf")
    text = json.dumps(value, indent=2, ensure_ascii=not unicode, allow_nan=False)
    # a line end stands between values, never in a string
    print("\n".join(map(_json_line, text.split("\n"))))


def _json_line(line: str) -> str:
    """What cannot be seen as JSON writes it: json.dumps(c) knows how."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def print_error(error: RollcallError) -> None:
    console = Console(stderr=True, highlight=False)
    console.print(Text.assemble(("error: ", "red"), safe_text(error.message)), soft_wrap=True)
    if error.hint is not None:
        console.print(Text.assemble(("hint: ", "cyan"), safe_text(error.hint)), soft_wrap=True)


def _cell(value: object) -> Text:
    return Text("" if value is None else safe_text(value))
