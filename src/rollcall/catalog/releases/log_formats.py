"""Formats of Kafka's request log, by the release that introduced them.

The format of a log line gives a minimum release for a broker whose release is not known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rollcall.catalog.loader import CatalogError, Row, check_fields, invalid_row, read_table
from rollcall.catalog.releases.api_ranges import release_line
from rollcall.catalog.releases.release import Release
from rollcall.catalog.releases.release_lines import known_release_lines

FILE = "log_formats.json"


@dataclass(frozen=True, slots=True)
class LogFormat:
    letter: str
    since: Release
    """The oldest release that writes it."""
    kind: str
    """`text` or `json`."""
    level: str
    """The least verbose log level that writes any request."""
    has_client_software: bool
    """Lines include the client's software name and version (KIP-511)."""


def log_format(letter: str) -> LogFormat:
    if letter not in known_log_formats():
        raise CatalogError(
            f"there is no request log format {letter!r}",
            hint=f"use one of {', '.join(known_log_formats())}",
        )
    return known_log_formats()[letter]


def log_format_of(release: str | Release) -> LogFormat:
    """The format that brokers of a release write; a line means its newest patch release."""
    patch = release_line(release).patch(Release.of(release))
    return [form for form in known_log_formats().values() if form.since <= patch][-1]


@cache
def known_log_formats() -> Mapping[str, LogFormat]:
    """Every request log format by its letter, oldest first."""
    patches = [patch for line in known_release_lines() for patch in line.patches]
    return build_log_formats(read_table(FILE)["formats"], patches)


def build_log_formats(rows: Sequence[Row], patches: Sequence[Release]) -> Mapping[str, LogFormat]:
    formats: dict[str, LogFormat] = {}
    for row in rows:
        where = f"row {row.get('letter')}"
        fields = {"letter", "since", "kind", "level", "has_client_software"}
        check_fields(FILE, where, row, required=fields)
        new = LogFormat(**{**row, "since": Release.parse(row["since"])})
        if new.since not in patches:
            invalid_row(FILE, where, f"{new.since} is not a patch release", "name the first one")
        if new.letter in formats or any(new.since <= old.since for old in formats.values()):
            invalid_row(FILE, where, "is a duplicate or out of order", "sort the rows by release")
        formats[new.letter] = new
    if not formats or next(iter(formats.values())).since != min(patches):
        invalid_row(FILE, "row 1", f"does not cover {min(patches)}", "start at the oldest release")
    return formats
