"""Vendor builds of Apache Kafka with their own version numbers, such as Confluent Platform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rollcall.catalog.loader import Row, check_fields, invalid_row, read_table
from rollcall.catalog.releases.release import Release
from rollcall.catalog.releases.release_lines import known_release_lines

FILE = "vendor_builds.json"


@dataclass(frozen=True, slots=True)
class VendorBuild:
    name: str
    suffixes: tuple[str, ...]
    lines: Mapping[str, str]
    """The vendor's line (7.9) to the Apache line that it contains (3.9)."""


def apache_line(release: Release) -> str | None:
    """The Apache line in a vendor build such as 7.9.1-ccs; None for any other number."""
    vendor_line = ".".join(map(str, release.parts[:2]))
    suffix = release.suffix.rsplit("-")[-1]
    for build in known_vendor_builds():
        if vendor_line in build.lines and (not suffix or suffix in build.suffixes):
            return build.lines[vendor_line]
    return None


@cache
def known_vendor_builds() -> tuple[VendorBuild, ...]:
    names = [line.name for line in known_release_lines()]
    return build_vendor_builds(read_table(FILE)["builds"], names)


def build_vendor_builds(rows: Sequence[Row], line_names: Sequence[str]) -> tuple[VendorBuild, ...]:
    for row in rows:
        where = f"row {row.get('name')}"
        check_fields(FILE, where, row, required={"name", "suffixes", "lines"})
        for vendor_line, line in row["lines"].items():
            if line not in line_names:
                invalid_row(
                    FILE,
                    where,
                    f"{vendor_line} contains the unknown line {line}",
                    "name a line of releases.json",
                )
    return tuple(
        VendorBuild(row["name"], tuple(row["suffixes"]), dict(row["lines"])) for row in rows
    )
