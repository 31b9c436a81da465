"""Client libraries: the names they tell, how they write their version, what they send."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from rollcall.catalog.apis import Api, known_apis
from rollcall.catalog.loader import Row, check_fields, complain, range_from, read_table
from rollcall.catalog.ranges import Range, Ranges
from rollcall.catalog.releases.release import Release, UnknownReleaseError

FILE = "libraries.json"
SAYS_NOTHING = frozenset({"", "unknown"})


@dataclass(frozen=True, slots=True)
class SoftwareName:
    """A software name, and the form of the version that comes with it (KIP-511)."""

    name: str
    form: re.Pattern[str]
    """Groups: version its own, engine that of the library below, application neither."""
    since: str | None
    placeholders: frozenset[str]

    def parts(self, version: str) -> Mapping[str, str]:
        found = (
            None if version in self.placeholders | SAYS_NOTHING else self.form.fullmatch(version)
        )
        return {k: v for k, v in found.groupdict().items() if v} if found else {}


@dataclass(frozen=True, slots=True)
class Signature:
    """The versions that a library was seen to send, per API."""

    version: str | None
    apis: Mapping[int, frozenset[int]]
    starts_with: Mapping[int, int]
    """Of APIs that it sends in several versions: the one that it always begins with."""


@dataclass(frozen=True, slots=True)
class Minimum:
    """The oldest version for brokers of 4.0, and how that is known."""

    version: Release
    basis: str
    reference: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """What versions below a number use, or want to see listed, for some work."""

    below: Release | None
    operation: str
    uses: Ranges
    requires_listed: Ranges
    basis: str
    reference: str
    only_with_sasl: bool = False
    """Who uses no listener with SASL does not do that work."""

    def applies_to(self, version: Release | None, older_than: Release | None = None) -> bool:
        """Of a version that is not known, it may be known what it is `before`."""
        if self.below is None:
            return True
        if version is None:
            return older_than is not None and older_than <= self.below
        return version < self.below


@dataclass(frozen=True, slots=True)
class Library:
    id: str
    title: str
    names: tuple[SoftwareName, ...] = ()
    client_ids: tuple[re.Pattern[str], ...] = ()
    """What it calls itself by default; a group `version` where that is part of it."""
    engine: str | None = None
    negotiates: bool = True
    uses_release_versions: bool = False
    caps: Mapping[int, int] | None = None
    pin: str | None = None
    """The setting that holds its API versions down; a newer library does not lift it."""
    negotiates_when_pinned: bool = True
    """Held down by it, it still asks a broker for its versions."""
    signatures: tuple[Signature, ...] = ()
    minimum: Minimum | None = None
    needs: tuple[Requirement, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def reports_name_since(self) -> Release | None:
        """The first version that tells its name; None for one that never does."""
        since = [Release.parse(name.since) for name in self.names if name.since]
        return min(since, default=None)


def parse_version(text: str | None) -> Release | None:
    """A version with its leading numbers, however a library writes it; None for other text."""
    try:
        return Release.parse(text or "")
    except UnknownReleaseError:
        return None


@cache
def known_libraries() -> Mapping[str, Library]:
    return build_libraries(read_table(FILE)["libraries"], known_apis())


def engine_of(library: Library) -> Library:
    """The library that decides what is sent: itself, or the one that it is built on."""
    return known_libraries()[library.engine] if library.engine else library


@cache
def software_names() -> Mapping[str, tuple[Library, SoftwareName]]:
    """Every software name that a library is known to tell."""
    return {
        told.name: (library, told)
        for library in known_libraries().values()
        for told in library.names
    }


def build_libraries(rows: Sequence[Row], apis: Mapping[int, Api]) -> Mapping[str, Library]:
    keys = {api.name: api.key for api in apis.values()}
    built: dict[str, Library] = {}
    names: dict[str, str] = {}
    for row in rows:
        library = _Builder(str(row.get("library")), keys).library(row)
        if library.id in built:
            complain(FILE, f"row {library.id}", "is there twice", "keep one row per library")
        for told in library.names:
            if names.setdefault(told.name, library.id) != library.id:
                complain(
                    FILE,
                    f"row {library.id}",
                    f"tells the name {told.name}, as {names[told.name]} does",
                    "a name belongs to one library",
                )
        built[library.id] = library
    for library in built.values():
        if library.engine is not None and library.engine not in built:
            complain(
                FILE, f"row {library.id}", f"its engine {library.engine} has no row", "add the row"
            )
    return built


@dataclass(frozen=True, slots=True)
class _Builder:
    id: str
    keys: Mapping[str, int]

    @property
    def where(self) -> str:
        return f"row {self.id}"

    def library(self, row: Row) -> Library:
        check_fields(
            FILE,
            self.where,
            row,
            needs={"library", "title", "names", "client_ids"},
            may={
                "engine",
                "negotiates",
                "uses_release_versions",
                "caps",
                "pin",
                "negotiates_when_pinned",
            }
            | {"signatures", "minimum", "needs", "notes"},
        )
        return Library(
            id=self.id,
            title=row["title"],
            names=tuple(self.name(name) for name in row["names"]),
            client_ids=tuple(self.pattern(it, "pattern") for it in row["client_ids"]),
            engine=row.get("engine"),
            negotiates=row.get("negotiates", True),
            uses_release_versions=row.get("uses_release_versions", False),
            caps={self.key(api): high for api, high in row.get("caps", {}).items()},
            pin=row.get("pin"),
            negotiates_when_pinned=row.get("negotiates_when_pinned", True),
            signatures=tuple(self.signature(it) for it in row.get("signatures", [])),
            minimum=self.minimum(row.get("minimum")),
            needs=tuple(self.need(need) for need in row.get("needs", [])),
            notes=tuple(row.get("notes", [])),
        )

    def name(self, row: Row) -> SoftwareName:
        form = self.pattern(row, "form")
        if unknown := form.groupindex.keys() - {"version", "engine", "application"}:
            complain(FILE, self.where, f"the form has the group {min(unknown)}", "see about")
        return SoftwareName(row["name"], form, row["since"], frozenset(row.get("placeholders", [])))

    def pattern(self, row: Row, field: str) -> re.Pattern[str]:
        try:
            pattern = re.compile(row[field])
        except re.error as error:
            complain(FILE, self.where, f"{row[field]!r}: {error}", "mend the expression")
        if not pattern.fullmatch(row["example"]):
            complain(
                FILE, self.where, f"{row[field]!r} does not fit {row['example']!r}", "correct one"
            )
        return pattern

    def signature(self, row: Row) -> Signature:
        if not row["apis"]:
            complain(FILE, self.where, "a signature is empty", "give the versions it sends")
        versions = {self.key(api): frozenset(sent) for api, sent in row["apis"].items()}
        first = {self.key(api): version for api, version in row.get("starts_with", {}).items()}
        for key, version in first.items():
            if version not in versions.get(key, ()):
                complain(FILE, self.where, f"starts with {version} of key {key}", "add it to apis")
        return Signature(row["version"], versions, first)

    def minimum(self, row: Row | None) -> Minimum | None:
        if row is None:
            return None
        return Minimum(Release.parse(row["version"]), row["basis"], row["reference"])

    def need(self, row: Row) -> Requirement:
        check_fields(
            FILE,
            self.where,
            row,
            needs={"below", "operation", "basis", "reference"},
            may={"uses", "requires_listed", "only_with_sasl"},
        )
        if not row.keys() & {"uses", "requires_listed"}:
            complain(
                FILE,
                self.where,
                f"{row['operation']}: needs nothing",
                "give uses or requires_listed",
            )
        return Requirement(
            below=Release.parse(row["below"]) if row["below"] else None,
            operation=row["operation"],
            uses=self.ranges(row.get("uses", {})),
            requires_listed=self.ranges(row.get("requires_listed", {})),
            basis=row["basis"],
            reference=row["reference"],
            only_with_sasl=row.get("only_with_sasl", False),
        )

    def ranges(self, row: Mapping[str, Any]) -> Mapping[int, Range]:
        return {self.key(api): range_from(FILE, self.where, api, pair) for api, pair in row.items()}

    def key(self, api: str) -> int:
        if api not in self.keys:
            complain(FILE, self.where, f"there is no API {api}", "use a name of apis.json")
        return self.keys[api]
