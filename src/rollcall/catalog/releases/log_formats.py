"""Which release writes which form of the request log: a floor for a broker that told no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from rollcall.catalog.loader import CatalogError, Row, check_fields, complain, read_table
from rollcall.catalog.releases.api_ranges import line_of
from rollcall.catalog.releases.release import Release
from rollcall.catalog.releases.release_lines import known_lines

FILE = "log_forms.json"


@dataclass(frozen=True, slots=True)
class LogForm:
    form: str
    since: Release
    """The oldest release that writes it."""
    kind: str
    level: str
    """The lowest level at which any request is written."""
    tells_client: bool


@cache
def known_log_forms() -> Mapping[str, LogForm]:
    patches = [patch for line in known_lines() for patch in line.patches]
    return build_forms(read_table(FILE)["forms"], patches)


def log_form(form: str) -> LogForm:
    if form not in known_log_forms():
        raise CatalogError(
            f"there is no form {form!r} of the request log",
            hint=f"the forms are {', '.join(known_log_forms())}",
        )
    return known_log_forms()[form]


def log_form_of(release: str | Release) -> LogForm:
    """The form that brokers of a release write; a bare line means its newest patch."""
    line = line_of(release)
    wanted = release if isinstance(release, Release) else Release.parse(release)
    patch = max(line.patches) if wanted.parts == line.release.parts else Release(wanted.parts)
    return [form for form in known_log_forms().values() if form.since <= patch][-1]


def build_forms(rows: Sequence[Row], patches: Sequence[Release]) -> Mapping[str, LogForm]:
    built: dict[str, LogForm] = {}
    for row in rows:
        where = f"row {row.get('form')}"
        fields = {"form", "since", "kind", "level", "tells_client"}
        check_fields(FILE, where, row, needs=fields, may=set())
        form = LogForm(**{**row, "since": Release.parse(row["since"])})
        if form.since not in patches:
            complain(FILE, where, f"{form.since} is no patch release", "name the first one")
        if form.form in built or any(form.since <= other.since for other in built.values()):
            complain(FILE, where, "comes too late or twice", "keep the forms in order")
        built[form.form] = form
    if not built or next(iter(built.values())).since != min(patches):
        complain(FILE, "row 1", f"nothing covers {min(patches)}", "begin with the oldest release")
    return built
