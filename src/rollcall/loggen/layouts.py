"""Layouts of message bodies, read from `bodies.txt`, which describes its format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from rollcall.catalog import Range, Release

TEXT_NAMES_CHANGED = Release((2, 4))
"""From this release on, text bodies use the field names of the schemas in most messages."""
NO_LIMIT = 32_767


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    in_text: str
    in_old_text: str
    versions: Range
    value: str
    fields: tuple[Field, ...] = ()

    def name_in(self, release: Release, *, json: bool) -> str:
        if json:
            return self.name
        return self.in_text if release >= TEXT_NAMES_CHANGED else self.in_old_text


@dataclass(frozen=True, slots=True)
class BodyLayout:
    """The fields of a message as some releases print them."""

    message: str
    first: Release
    last: Release
    flexible: int
    fields: tuple[Field, ...]

    def holds_for(self, release: Release) -> bool:
        return self.first <= release and (release <= self.last or release.within(self.last))


def layout_of(message: str, release: Release) -> BodyLayout:
    """The layout of this release if there is one, else the common layout, which comes first."""
    return [layout for layout in known_layouts()[message] if layout.holds_for(release)][-1]


@cache
def known_layouts() -> Mapping[str, tuple[BodyLayout, ...]]:
    text = files("rollcall.loggen").joinpath("bodies.txt").read_text(encoding="utf-8")
    found: dict[str, tuple[BodyLayout, ...]] = {}
    for layout in read_layouts(text):
        found[layout.message] = (*found.get(layout.message, ()), layout)
    return found


def read_layouts(text: str) -> Iterator[BodyLayout]:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    starts = [i for i, line in enumerate(lines) if not line.startswith(" ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        api, side, *rest = lines[start].split()
        first, last = (rest[1], rest[2]) if rest[:1] == ["in"] else ("0.8", f"{NO_LIMIT}.0")
        yield BodyLayout(
            message=f"{api} {side}",
            first=Release.parse(first),
            last=Release.parse(last),
            flexible=int(rest[1]) if rest[:1] == ["flexible"] else NO_LIMIT,
            fields=_fields(lines[start + 1 : end], literal_names=rest[:1] == ["in"]),
        )


def _fields(lines: list[str], *, literal_names: bool) -> tuple[Field, ...]:
    if not lines:
        return ()
    depth = _depth(lines[0])
    starts = [i for i, line in enumerate(lines) if _depth(line) == depth]
    return tuple(
        _field(lines[start].split(maxsplit=2), lines[start + 1 : end], literal_names)
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)
    )


def _field(words: list[str], below: list[str], literal_names: bool) -> Field:
    names, versions, value = words
    name, *others = names.split("~")
    in_text = others[0] if others else name if literal_names else snake_case(name)
    low, _, high = versions.removesuffix("+").partition("-")
    return Field(
        name=name,
        in_text=in_text,
        in_old_text=others[1] if len(others) > 1 else in_text,
        versions=Range(int(low), NO_LIMIT if versions.endswith("+") else int(high)),
        value=value.strip(),
        fields=_fields(below, literal_names=literal_names),
    )


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
