"""Which release writes which form of the request log: a floor for a broker that told no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rollcall.catalog.loader import CatalogError, Row, check_fields, complain, read_table
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
    level: str
    """The lowest level at which any request is written."""
    has_client_software: bool


@cache
def known_log_formats() -> Mapping[str, LogFormat]:
    patches = [patch for line in known_release_lines() for patch in line.patches]
    return build_log_formats(read_table(FILE)["formats"], patches)


def log_format(form: str) -> LogFormat:
    if form not in known_log_formats():
        raise CatalogError(
            f"there is no form {form!r} of the request log",
            hint=f"the forms are {', '.join(known_log_formats())}",
        )
    return known_log_formats()[form]


def log_format_of(release: str | Release) -> LogFormat:
    """The form that brokers of a release write; a bare line means its newest patch."""
    line = release_line(release)
    wanted = release if isinstance(release, Release) else Release.parse(release)
    patch = max(line.patches) if wanted.parts == line.release.parts else Release(wanted.parts)
    return [form for form in known_log_formats().values() if form.since <= patch][-1]


def build_log_formats(rows: Sequence[Row], patches: Sequence[Release]) -> Mapping[str, LogFormat]:
    built: dict[str, LogFormat] = {}
    for row in rows:
        where = f"row {row.get('letter')}"
        fields = {"letter", "since", "kind", "level", "has_client_software"}
        check_fields(FILE, where, row, needs=fields, may=set())
        form = LogFormat(**{**row, "since": Release.parse(row["since"])})
        if form.since not in patches:
            complain(FILE, where, f"{form.since} is no patch release", "name the first one")
        if form.letter in built or any(form.since <= other.since for other in built.values()):
            complain(FILE, where, "comes too late or twice", "keep the forms in order")
        built[form.letter] = form
    if not built or next(iter(built.values())).since != min(patches):
        complain(FILE, "row 1", f"nothing covers {min(patches)}", "begin with the oldest release")
    return built
