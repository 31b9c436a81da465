"""Numbers, ranges and durations as text: `1,234 files`, `0-12`, `3d 4h`."""

from collections.abc import Iterable


def count(number: int, noun: str) -> str:
    """`1 file`, `1,234 files`."""
    return f"{number:,} {plural(number, noun)}"


def plural(number: int, noun: str) -> str:
    return noun if number == 1 else f"{noun}s"


def range_text(range_: tuple[int, int] | None) -> str:
    """A range of API versions: `3`, `0-12`, or `-` without one."""
    if range_ is None:
        return "-"
    low, high = range_
    return str(low) if low == high else f"{low}-{high}"


def grouped(cells: Iterable[object]) -> list[object]:
    """Integer cells with thousands separators; other cells unchanged."""
    return [f"{cell:,}" if isinstance(cell, int) else cell for cell in cells]


def duration(seconds: float) -> str:
    """The two largest units: `3d 4h`, `12m 5s`."""
    rest, parts = int(abs(seconds)), list[str]()
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        if rest >= size or (unit == "s" and not parts):
            parts.append(f"{rest // size}{unit}")
            rest %= size
    return " ".join(parts[:2])
