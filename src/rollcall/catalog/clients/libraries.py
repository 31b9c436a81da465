"""Client libraries: the software names they report, their version formats and what they send."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from rollcall.catalog.apis import Api, keys_by_name, known_apis
from rollcall.catalog.loader import (
    Row,
    check_fields,
    invalid_row,
    parse_api,
    parse_ranges,
    read_table,
)
from rollcall.catalog.ranges import Ranges
from rollcall.catalog.releases.release import Release, UnknownReleaseError

FILE = "libraries.json"
NOT_REPORTED = frozenset({"", "unknown"})


@dataclass(frozen=True, slots=True)
class SoftwareName:
    """A software name that a library reports, and the format of its version (KIP-511)."""

    name: str
    version_pattern: re.Pattern[str]
    """Groups: `version` of the library, `engine` version, or `application` (neither)."""
    since: Release | None
    """The first version of the library that reports the name."""
    placeholders: frozenset[str]
    """Versions without a meaning, such as `dev`."""

    def parse(self, version: str) -> Mapping[str, str]:
        """The non-empty groups of a reported version."""
        if version in self.placeholders | NOT_REPORTED:
            return {}
        found = self.version_pattern.fullmatch(version)
        return {name: part for name, part in found.groupdict().items() if part} if found else {}


@dataclass(frozen=True, slots=True)
class Signature:
    """The API versions that one version of a library sends."""

    version: Release | None
    apis: Mapping[int, frozenset[int]]
    starts_with: Mapping[int, int]
    """The version it sends first, for an API that it sends in several versions."""


@dataclass(frozen=True, slots=True)
class Minimum:
    """The oldest version of a library that works with Kafka 4.0 brokers."""

    version: Release
    basis: str
    """How it is known: `documented`, `source` code, `reported` or `observed`."""
    reference: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """API versions that library versions below `below` use, or require to be listed."""

    below: Release | None
    """None means all versions."""
    operation: str
    uses: Ranges
    requires_listed: Ranges
    basis: str
    reference: str
    only_with_sasl: bool = False
    """Applies to clients of SASL listeners only."""

    def applies_to(self, version: Release | None, older_than: Release | None = None) -> bool:
        """Whether it applies to a version, or to an unknown version below `older_than`."""
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
    """Default client ids; the group `version` holds the library version where it is included."""
    engine: str | None = None
    """The library it is built on, which decides the API versions."""
    negotiates: bool = True
    """It uses the highest version that it and the broker have in common."""
    uses_release_versions: bool = False
    """It has the API versions of the Kafka release with its version number."""
    caps: Mapping[int, int] = field(default_factory=dict)
    """Maximum versions below those of the release."""
    pin: str | None = None
    """The setting that limits its API versions; upgrading the library does not lift it."""
    negotiates_when_pinned: bool = True
    """It sends ApiVersions although `pin` is set."""
    signatures: tuple[Signature, ...] = ()
    minimum: Minimum | None = None
    requirements: tuple[Requirement, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def reports_name_since(self) -> Release | None:
        """The first version that reports its software name; None if no version does."""
        return min((name.since for name in self.names if name.since), default=None)


def parse_version(text: str | None) -> Release | None:
    """The version number in a library's version string; None if it has no leading number."""
    try:
        return Release.parse(text or "")
    except UnknownReleaseError:
        return None


@cache
def known_libraries() -> Mapping[str, Library]:
    return build_libraries(read_table(FILE)["libraries"], known_apis())


def engine_of(library: Library) -> Library:
    """The library that decides the API versions: the engine if it has one, or itself."""
    return known_libraries()[library.engine] if library.engine else library


@cache
def software_names() -> Mapping[str, tuple[Library, SoftwareName]]:
    """Every software name that a known library reports."""
    return {
        software.name: (library, software)
        for library in known_libraries().values()
        for software in library.names
    }


def build_libraries(rows: Sequence[Row], apis: Mapping[int, Api]) -> Mapping[str, Library]:
    keys = keys_by_name(apis)
    libraries: dict[str, Library] = {}
    owners: dict[str, str] = {}
    for row in rows:
        library = _RowParser(str(row.get("library")), keys).library(row)
        where = f"row {library.id}"
        if library.id in libraries:
            invalid_row(FILE, where, "duplicate library", "keep one row per library")
        for software in library.names:
            owner = owners.setdefault(software.name, library.id)
            if owner != library.id:
                problem = f"reports the name {software.name} of {owner}"
                invalid_row(FILE, where, problem, "keep each name in one row")
        libraries[library.id] = library
    for library in libraries.values():
        if library.engine is not None and library.engine not in libraries:
            problem = f"its engine {library.engine} has no row"
            invalid_row(FILE, f"row {library.id}", problem, "add a row for the engine")
    return libraries


@dataclass(frozen=True, slots=True)
class _RowParser:
    id: str
    keys: Mapping[str, int]

    @property
    def where(self) -> str:
        return f"row {self.id}"

    def library(self, row: Row) -> Library:
        optional = set(Library.__dataclass_fields__) - {"id"}
        check_fields(
            FILE,
            self.where,
            row,
            required={"library", "title", "names", "client_ids"},
            optional=optional,
        )
        parsed: dict[str, Any] = {
            "names": tuple(self.name(name) for name in row["names"]),
            "client_ids": tuple(self.pattern(item, "pattern") for item in row["client_ids"]),
            "caps": {self.key(api): high for api, high in row.get("caps", {}).items()},
            "signatures": tuple(self.signature(item) for item in row.get("signatures", [])),
            "minimum": self.minimum(row["minimum"]) if "minimum" in row else None,
            "requirements": tuple(self.requirement(item) for item in row.get("requirements", [])),
            "notes": tuple(row.get("notes", [])),
        }
        plain = {name: row[name] for name in row.keys() - parsed.keys() - {"library"}}
        return Library(id=self.id, **plain, **parsed)

    def name(self, row: Row) -> SoftwareName:
        pattern = self.pattern(row, "version_pattern")
        if unknown := pattern.groupindex.keys() - {"version", "engine", "application"}:
            problem = f"version_pattern has the unknown group {min(unknown)}"
            invalid_row(FILE, self.where, problem, "use version, engine or application")
        since = Release.parse(row["since"]) if row["since"] else None
        return SoftwareName(row["name"], pattern, since, frozenset(row.get("placeholders", [])))

    def pattern(self, row: Row, field: str) -> re.Pattern[str]:
        try:
            pattern = re.compile(row[field])
        except re.error as error:
            invalid_row(FILE, self.where, f"{row[field]!r}: {error}", "correct the expression")
        if not pattern.fullmatch(row["example"]):
            problem = f"{row[field]!r} does not match {row['example']!r}"
            invalid_row(FILE, self.where, problem, "correct the pattern or the example")
        return pattern

    def signature(self, row: Row) -> Signature:
        if not row["apis"]:
            invalid_row(FILE, self.where, "a signature is empty", "add the versions it sends")
        apis = {self.key(api): frozenset(sent) for api, sent in row["apis"].items()}
        first = {self.key(api): version for api, version in row.get("starts_with", {}).items()}
        for key, version in first.items():
            if version not in apis.get(key, ()):
                problem = f"starts with version {version} of key {key}"
                invalid_row(FILE, self.where, problem, "add the version to apis")
        version = Release.parse(row["version"]) if row["version"] else None
        return Signature(version, apis, first)

    def minimum(self, row: Row) -> Minimum:
        return Minimum(Release.parse(row["version"]), row["basis"], row["reference"])

    def requirement(self, row: Row) -> Requirement:
        check_fields(
            FILE,
            self.where,
            row,
            required={"below", "operation", "basis", "reference"},
            optional={"uses", "requires_listed", "only_with_sasl"},
        )
        if not row.keys() & {"uses", "requires_listed"}:
            problem = f"{row['operation']}: requires nothing"
            invalid_row(FILE, self.where, problem, "add uses or requires_listed")
        return Requirement(
            below=Release.parse(row["below"]) if row["below"] else None,
            operation=row["operation"],
            uses=parse_ranges(FILE, self.where, row.get("uses", {}), self.keys),
            requires_listed=parse_ranges(
                FILE, self.where, row.get("requires_listed", {}), self.keys
            ),
            basis=row["basis"],
            reference=row["reference"],
            only_with_sasl=row.get("only_with_sasl", False),
        )

    def key(self, api: str) -> int:
        return parse_api(FILE, self.where, api, self.keys)
