"""Builds of Apache Kafka that carry a number of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rollcall.catalog.loader import Row, check_fields, complain, read_table
from rollcall.catalog.releases.release import Release
from rollcall.catalog.releases.release_lines import known_release_lines

FILE = "vendor_builds.json"


@dataclass(frozen=True, slots=True)
class Platform:
    name: str
    suffixes: tuple[str, ...]
    lines: Mapping[str, str]
    """Its own line to the Apache line it carries."""


def build_platforms(
    rows: Sequence[Row], known_release_lines: Sequence[str]
) -> tuple[Platform, ...]:
    for row in rows:
        check_fields(
            FILE, f"row {row.get('name')}", row, needs={"name", "suffixes", "lines"}, may=set()
        )
        for own, carried in row["lines"].items():
            if carried not in known_release_lines:
                complain(
                    FILE,
                    f"row {row['name']}",
                    f"{own} carries {carried}, which no line is",
                    "name a line of releases.json",
                )
    return tuple(Platform(row["name"], tuple(row["suffixes"]), dict(row["lines"])) for row in rows)


@cache
def platforms() -> tuple[Platform, ...]:
    return build_platforms(
        read_table(FILE)["platforms"], [line.name for line in known_release_lines()]
    )


def apache_line(release: Release) -> str | None:
    """The Apache line inside a build such as 7.9.1-ccs; None for any other number."""
    own = ".".join(map(str, release.parts[:2]))
    build = release.suffix.rsplit("-")[-1]
    for platform in platforms():
        if own in platform.lines and (not build or build in platform.suffixes):
            return platform.lines[own]
    return None
