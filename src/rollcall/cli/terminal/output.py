"""Everything that commands print: text, tables, JSON, warnings and errors.

Client ids, broker names and log lines are untrusted: `safe_text` escapes control characters and
bidirectional marks, so that they cannot move the cursor or change colours. Rich is imported only
where a terminal or an error needs it (40 ms). It honours NO_COLOR.
"""

from __future__ import annotations

import errno
import io
import json
import os
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from rollcall.errors import RollcallError
from rollcall.text import safe_text

if TYPE_CHECKING:
    from rich.console import Console

FORCE_TERMINAL = ("FORCE_COLOR", "TTY_COMPATIBLE")
"""Variables that make Rich treat any output as a terminal."""
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


def print_lines(lines: Iterable[str]) -> None:
    """Print sentences; on a terminal wrapped between words, with a hanging indent."""
    console = _terminal()
    width = console.width if console else None
    for line in map(safe_text, lines):
        if width is not None and len(line) > width:
            indent = line[: len(line) - len(line.lstrip())] + "  "
            line = textwrap.fill(line, width, subsequent_indent=indent, break_on_hyphens=False)
        print(line)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str | None = None,
    right: Sequence[str] = (),
) -> None:
    """Print a table; None is an empty cell, and the columns in `right` are aligned to the right.

    On a terminal the table fits its width, and columns without any text are omitted. Otherwise
    each row is one line with all columns, for `grep` and files.
    """
    from rollcall.cli.terminal.table import TableLayout

    console = _terminal()
    texts = [["" if cell is None else safe_text(cell) for cell in row] for row in (columns, *rows)]
    if console:
        texts = _without_empty_columns(texts)
    aligned = [index for index, column in enumerate(texts[0]) if column in right]
    layout = TableLayout.of(texts, aligned, console.width if console else None)
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


def _terminal() -> Console | None:
    """The console if standard output is a terminal, otherwise None."""
    if not sys.stdout.isatty() and not any(map(os.environ.get, FORCE_TERMINAL)):
        return None
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else None


def can_redraw(stream: TextIO) -> bool:
    """Whether the stream is a terminal that obeys cursor movements."""
    return stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def clear_screen() -> None:
    """Clear the terminal; no effect on other outputs."""
    if (console := _terminal()) is not None:
        console.clear()


def print_json(
    value: object, rows: Mapping[str, Iterable[Mapping[str, Any]]] | None = None
) -> None:
    """Print an indented JSON document; non-printable characters as JSON escapes.

    `rows` are further keys of the document, whose lists have one element per line: a report of
    5,000 clients is then 5,000 lines, and encoded in C.
    """
    ascii_only = not _is_unicode()
    text = json.dumps(value, indent=2, ensure_ascii=ascii_only, allow_nan=False)
    for key, elements in (rows or {}).items():
        lines = [json.dumps(each, ensure_ascii=ascii_only, allow_nan=False) for each in elements]
        body = ("[\n    " + ",\n    ".join(lines) + "\n  ]") if lines else "[]"
        start = text.removesuffix("}").rstrip()
        text = f"{start}{',' * (start != '{')}\n  {json.dumps(key)}: {body}\n}}"
    lines = text.split("\n")  # JSON strings never contain a newline
    print(text if all(map(str.isprintable, lines)) else "\n".join(map(_escaped, lines)))


def _escaped(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def _is_unicode() -> bool:
    return sys.stdout.encoding.lower().startswith("utf")


def print_warning(text: str) -> None:
    """Print one line on standard error."""
    sys.stdout.flush()
    print(safe_text(f"warning: {text}"), file=sys.stderr, flush=True)


def print_error(error: RollcallError) -> None:
    """Print the message and the hint on standard error, a line each."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    console.print(Text.assemble(("error: ", "red"), safe_text(error.message)), soft_wrap=True)
    if error.hint is not None:
        console.print(Text.assemble(("hint: ", "cyan"), safe_text(error.hint)), soft_wrap=True)


def prepare_streams() -> None:
    """Replace closed outputs (`>&-`) by /dev/null; escape characters that the encoding lacks."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def discard_output() -> None:
    """Send what is still buffered to /dev/null, because Python flushes again when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def disk_full_error(error: OSError) -> RollcallError:
    return RollcallError(str(error.strerror), hint="free some disk space")
