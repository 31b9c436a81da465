"""Tables as lines: columns side by side as far as they fit, and below where they do not.

A row that is wider than the terminal is cut into bands of whole columns, one below the other. So a
column stays a column and no word is broken, at 80 characters as at 200. Only a cell that is wider
than the terminal all by itself goes over several lines, broken at blanks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

GAP = "   "
INDENT = " " * 6
"""Before the second band of a row, and those that follow."""

Row = Sequence[str]


@dataclass(frozen=True)
class Column:
    index: int
    width: int
    is_right: bool
    """Whether its cells end flush: figures."""

    def lines(self, row: Row) -> list[str]:
        text = row[self.index]
        if cell_width(text) <= self.width:
            return [self.padded(text)]
        wrapped = Text(text).wrap(Console(width=self.width), self.width, overflow="fold")
        return [self.padded(line.plain.rstrip()) for line in wrapped]

    def padded(self, text: str) -> str:
        blanks = " " * (self.width - cell_width(text))
        return blanks + text if self.is_right else text + blanks


@dataclass(frozen=True)
class Layout:
    bands: Sequence[Sequence[Column]]

    @classmethod
    def of(cls, rows: Sequence[Row], right: Sequence[int], width: int | None) -> "Layout":
        """For these rows, the heading among them; without a width, a row is one line."""
        bands: list[list[Column]] = [[]]
        for index, cells in enumerate(zip(*rows, strict=True)):
            widest = max(map(cell_width, cells))
            if width is not None:
                widest = min(widest, width - len(INDENT))
            column = Column(index, widest, index in right)
            if width is not None and bands[-1]:
                before = len(INDENT) if len(bands) > 1 else 0
                if before + _width_of([*bands[-1], column]) > width:
                    bands.append([])
            bands[-1].append(column)
        return cls(bands)

    @property
    def width(self) -> int:
        return max(
            _width_of(band) + (len(INDENT) if number else 0)
            for number, band in enumerate(self.bands)
        )

    def lines(self, row: Row) -> Iterator[str]:
        for number, band in enumerate(self.bands):
            cells = [column.lines(row) for column in band]
            for parts in zip_longest(*cells):
                filled = (
                    " " * column.width if part is None else part
                    for part, column in zip(parts, band, strict=True)
                )
                line = ((INDENT if number else "") + GAP.join(filled)).rstrip()
                if line or not number:  # a band with nothing in it needs no line
                    yield line


def _width_of(band: Sequence[Column]) -> int:
    return sum(column.width for column in band) + len(GAP) * (len(band) - 1)


def cell_width(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)
