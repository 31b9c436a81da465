"""Layout of a table for the width of a terminal.

Rows that are wider than the terminal are split into bands of whole columns, one below the other. A
column is then as wide as three quarters of its cells; wider cells are wrapped after blanks and
commas. The last column, often a sentence, takes the remaining width if no word has to be cut.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from rich.cells import cell_len, chop_cells

GAP = "   "
INDENT = " " * 6
"""Indent of all bands but the first."""
MIN_WIDTH = 30
"""Minimum width of a wrapped column."""

PIECE = re.compile(r"[^ ,]*[ ,]+|[^ ,]+")
"""A word with the blanks or commas after it, where text is wrapped."""

Row = Sequence[str]


@dataclass(frozen=True)
class Column:
    index: int
    width: int
    is_right: bool
    """Whether cells are aligned to the right."""

    def lines(self, row: Row) -> list[str]:
        text = row[self.index]
        fits = cell_width(text) <= self.width
        return [self.padded(line) for line in ([text] if fits else wrap(text, self.width))]

    @property
    def as_format(self) -> str:
        return f"{{:{'>' if self.is_right else '<'}{self.width}}}"

    def padded(self, text: str) -> str:
        blanks = " " * (self.width - cell_width(text))
        return blanks + text if self.is_right else text + blanks


@dataclass(frozen=True)
class TableLayout:
    bands: Sequence[Sequence[Column]]
    in_one_line: str | None = None
    """Format string of an ASCII row, if a row is one line."""

    @classmethod
    def of(cls, rows: Sequence[Row], right: Sequence[int], width: int | None) -> "TableLayout":
        """Layout of these rows, the first of which is the heading; None is unlimited width."""
        widths = [_widths(cells) for cells in zip(*rows, strict=True)]
        whole = [Column(index, max(cells), index in right) for index, cells in enumerate(widths)]
        if width is None or _width_of(whole) <= width:
            return cls([whole], GAP.join(column.as_format for column in whole))
        bands: list[list[Column]] = [[]]
        for index, cells in enumerate(widths):
            column = Column(index, min(_usual(cells), width - len(INDENT)), index in right)
            before = len(INDENT) if len(bands) > 1 else 0
            spare = width - before - _width_of([*bands[-1], replace(column, width=0)])
            is_last = index == len(widths) - 1
            if is_last and max(MIN_WIDTH, _longest_word(row[index] for row in rows)) <= spare:
                column = replace(column, width=min(column.width, spare))
            elif bands[-1] and column.width > spare:
                bands.append([])
            bands[-1].append(column)
        indents = [0, *[len(INDENT)] * (len(bands) - 1)]
        return cls([_grown(band, whole, width - i) for band, i in zip(bands, indents, strict=True)])

    @property
    def width(self) -> int:
        return max(
            _width_of(band) + (len(INDENT) if number else 0)
            for number, band in enumerate(self.bands)
        )

    def lines(self, row: Row) -> Iterator[str]:
        if self.in_one_line is not None and all(map(str.isascii, row)):
            yield self.in_one_line.format(*row).rstrip()
            return
        for number, band in enumerate(self.bands):
            cells = [column.lines(row) for column in band]
            for parts in zip_longest(*cells):
                filled = (
                    " " * column.width if part is None else part
                    for part, column in zip(parts, band, strict=True)
                )
                line = ((INDENT if number else "") + GAP.join(filled)).rstrip()
                if line or not number:  # omit an empty band
                    yield line


def _grown(band: Sequence[Column], whole: Sequence[Column], width: int) -> list[Column]:
    """Give the spare width of a band to the columns that can use it."""
    spare, grown = width - _width_of(band), []
    for column in band:
        more = min(spare, whole[column.index].width - column.width)
        grown.append(replace(column, width=column.width + more))
        spare -= more
    return grown


def _width_of(band: Sequence[Column]) -> int:
    return sum(column.width for column in band) + len(GAP) * (len(band) - 1)


def _usual(widths: Sequence[int]) -> int:
    """Width of the heading and of three quarters of the cells."""
    most = sorted(widths)[(len(widths) - 1) * 3 // 4]
    return max(widths[0], most, min(max(widths), MIN_WIDTH))


def _longest_word(cells: Iterable[str]) -> int:
    words = (cell_width(word.rstrip()) for cell in cells for word in PIECE.findall(cell))
    return max(words, default=0)


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most this width, wrapped after blanks and commas; longer words are cut."""
    lines = [""]
    for piece in PIECE.findall(text):
        if cell_width(lines[-1] + piece.rstrip()) <= width:
            lines[-1] += piece
        else:
            lines += chop_cells(piece, width)
    return [line.strip() for line in lines if line.strip()] or [""]


def _widths(cells: Row) -> list[int]:
    plain = "".join(cells).isascii()
    return [*map(len if plain else cell_width, cells)]


def cell_width(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)
