"""Tables as lines: columns side by side as far as they fit, and below where they do not.

Where rows are wider than the terminal, each is cut into bands of whole columns, one below the
other. So a column stays a column, at 80 characters as at 200. A column is then as wide as most of
its cells are: the few that are wider go over several lines, broken at blanks and commas. The last
column, often a sentence, takes what room is left beside the others if no word has to be broken.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from rich.cells import cell_len, chop_cells

GAP = "   "
INDENT = " " * 6
"""Before the second band of a row, and those that follow."""
NARROWEST = 30
"""No column is made narrower than that."""

PIECE = re.compile(r"[^ ,]*[ ,]+|[^ ,]+")
"""What text is broken behind: words, each with the blanks or commas that follow."""

Row = Sequence[str]


@dataclass(frozen=True)
class Column:
    index: int
    width: int
    is_right: bool
    """Whether its cells end flush: figures."""

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
    """How to format a row of plain text, where all of it fits into one line."""

    @classmethod
    def of(cls, rows: Sequence[Row], right: Sequence[int], width: int | None) -> "TableLayout":
        """For these rows, the heading among them; without a width, a row is one line."""
        widths = [_widths(cells) for cells in zip(*rows, strict=True)]
        whole = [Column(index, max(of), index in right) for index, of in enumerate(widths)]
        if width is None or _width_of(whole) <= width:
            return cls([whole], GAP.join(column.as_format for column in whole))
        bands: list[list[Column]] = [[]]
        for index, of in enumerate(widths):
            column = Column(index, min(_usual(of), width - len(INDENT)), index in right)
            before = len(INDENT) if len(bands) > 1 else 0
            room = width - before - _width_of([*bands[-1], replace(column, width=0)])
            is_last = index == len(widths) - 1
            if is_last and max(NARROWEST, _longest_word(row[index] for row in rows)) <= room:
                column = replace(column, width=min(column.width, room))
            elif bands[-1] and column.width > room:
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
                if line or not number:  # a band with nothing in it needs no line
                    yield line


def _grown(band: Sequence[Column], whole: Sequence[Column], width: int) -> list[Column]:
    """What room a band has left goes to the columns that could use it."""
    spare, grown = width - _width_of(band), []
    for column in band:
        more = min(spare, whole[column.index].width - column.width)
        grown.append(replace(column, width=column.width + more))
        spare -= more
    return grown


def _width_of(band: Sequence[Column]) -> int:
    return sum(column.width for column in band) + len(GAP) * (len(band) - 1)


def _usual(widths: Sequence[int]) -> int:
    """Of the heading, and of three cells in four at least."""
    most = sorted(widths)[(len(widths) - 1) * 3 // 4]
    return max(widths[0], most, min(max(widths), NARROWEST))


def _longest_word(cells: Iterable[str]) -> int:
    words = (cell_width(word.rstrip()) for cell in cells for word in PIECE.findall(cell))
    return max(words, default=0)


def wrap(text: str, width: int) -> list[str]:
    """Lines of at most that width: broken behind a blank or a comma, or where it must be."""
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
