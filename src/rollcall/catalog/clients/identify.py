"""Identify the client library of a client: reported by its software name, or else inferred.

A reported name and version are kept as they are. Without them, the default client id and the API
versions give candidates. `RULES` are tried in order; the first that returns a result decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from rollcall.catalog.clients.libraries import (
    NOT_REPORTED,
    Library,
    known_libraries,
    parse_version,
    software_names,
)
from rollcall.catalog.clients.signatures import (
    API_VERSIONS,
    FIRST_VERSION_WITH_NAME,
    Match,
    UsedVersions,
    compare,
    library_versions,
)
from rollcall.catalog.provenance import Provenance
from rollcall.catalog.ranges import Ranges, as_ranges
from rollcall.catalog.releases.release import Release
from rollcall.catalog.releases.vendor_builds import apache_line

MIN_MATCHING_APIS = 2
"""A signature needs this many matching APIs to make a candidate."""
MIN_CONFLICTING_APIS = 2
"""With this many conflicting APIs, the client id of a library is doubtful."""


class LibraryEvidence(StrEnum):
    """What a candidate is based on."""

    NAME = "name"
    CLIENT_ID = "client-id"
    API_VERSIONS = "api-versions"


@dataclass(frozen=True, slots=True)
class LibraryCandidate:
    library: str
    version: Release | None = None
    engine: str | None = None
    """The library that decides the API versions: itself, or the one it is built on."""
    engine_version: Release | None = None
    older_than: Release | None = None
    """The engine is older than this: later versions report their name to this broker."""
    apache_line: str | None = None
    """The Apache line in a vendor build with its own version number."""
    evidence: tuple[LibraryEvidence, ...] = ()


@dataclass(frozen=True, slots=True)
class LibraryInference:
    provenance: Provenance
    candidates: tuple[LibraryCandidate, ...] = ()
    software_name: str | None = None
    software_version: str | None = None

    @property
    def library(self) -> str | None:
        """The library, if all candidates name the same."""
        libraries = {candidate.library for candidate in self.candidates}
        return libraries.pop() if len(libraries) == 1 else None


UNKNOWN_LIBRARY = LibraryInference(Provenance.MISSING)


@dataclass(frozen=True)
class ObservedClient:
    """What is known about a client; None where the broker does not log it."""

    software_name: str | None = None
    software_version: str | None = None
    client_id: str | None = None
    api_versions: UsedVersions = field(default_factory=dict)
    broker_ranges: Ranges | None = None
    """The ranges that all brokers it used have in common."""

    @cached_property
    def matches(self) -> tuple[Match, ...]:
        """The comparison with every library version that could be this client.

        A client without a name cannot be a version that reports one to this broker."""
        has_names = self.broker_supports_names
        return tuple(
            compare(version, self.api_versions, self.broker_ranges)
            for version in library_versions()
            if not (version.reports_name and has_names)
        )

    @cached_property
    def named_by_client_id(self) -> tuple[tuple[LibraryCandidate, bool], ...]:
        """Candidates by default client id, and whether the API versions make each doubtful."""
        return tuple(_named_by_client_id(self))

    @property
    def broker_supports_names(self) -> bool:
        range_ = (self.broker_ranges or {}).get(API_VERSIONS)
        return range_ is not None and range_.high >= FIRST_VERSION_WITH_NAME

    @property
    def sent_api_versions(self) -> bool:
        return API_VERSIONS in self.api_versions


def identify_library(
    software_name: str | None = None,
    software_version: str | None = None,
    client_id: str | None = None,
    api_versions: Mapping[int, Iterable[int]] | None = None,
    broker_ranges: Mapping[int, tuple[int, int]] | None = None,
) -> LibraryInference:
    """The library of a client, with candidates where it is inferred.

    `broker_ranges` are the API ranges that the brokers it used have in common."""
    used = {key: frozenset(versions) for key, versions in (api_versions or {}).items()}
    client = ObservedClient(
        None if (software_name or "") in NOT_REPORTED else software_name,
        None if (software_version or "") in NOT_REPORTED else software_version,
        client_id,
        {key: versions for key, versions in used.items() if versions},
        None if broker_ranges is None else as_ranges(broker_ranges),
    )
    results = (rule(client) for rule in RULES)
    return next((result for result in results if result is not None), UNKNOWN_LIBRARY)


def reported_name(client: ObservedClient) -> LibraryInference | None:
    """The software name and version that the client reports (KIP-511)."""
    name, version = client.software_name, client.software_version
    if name is None:
        return None
    if name not in software_names():
        return LibraryInference(Provenance.REPORTED, (), name, version)
    library, software = software_names()[name]
    parts = software.parse(version or "")
    own, engine = parse_version(parts.get("version")), parse_version(parts.get("engine"))
    vendor = apache_line(own) if own and own.suffix and library.uses_release_versions else None
    if vendor:
        own = Release.parse(vendor)
    candidate = LibraryCandidate(
        library.id,
        version=own,
        engine=library.engine or library.id,
        engine_version=engine if library.engine else own,
        apache_line=vendor,
        evidence=(LibraryEvidence.NAME,),
    )
    return LibraryInference(Provenance.REPORTED, (candidate,), name, version)


def default_client_id(client: ObservedClient) -> LibraryInference | None:
    """The libraries with this default client id, unless API versions conflict with one of them."""
    named = client.named_by_client_id
    if not named or any(doubtful for _, doubtful in named):
        return None
    return _inferred(client, [candidate for candidate, _ in named])


def api_versions(client: ObservedClient) -> LibraryInference | None:
    """The libraries with matching API versions, after those with a doubtful client id.

    A doubtful one stays a candidate: the catalog lacks signatures of some of its versions."""
    named = [candidate for candidate, _ in client.named_by_client_id]
    names = {candidate.library for candidate in named}
    others = [found for found in _with_matching_versions(client) if found.library not in names]
    candidates = [*named, *others]
    return _inferred(client, candidates) if candidates else None


RULES: tuple[Callable[[ObservedClient], LibraryInference | None], ...] = (
    reported_name,
    default_client_id,
    api_versions,
)


def _inferred(client: ObservedClient, candidates: list[LibraryCandidate]) -> LibraryInference:
    used = client.api_versions.get(API_VERSIONS, {FIRST_VERSION_WITH_NAME})
    if client.broker_supports_names and max(used) < FIRST_VERSION_WITH_NAME:
        candidates = [_older_than_names(candidate) for candidate in candidates]
    return LibraryInference(Provenance.INFERRED, tuple(candidates))


def _older_than_names(candidate: LibraryCandidate) -> LibraryCandidate:
    """Versions from `reports_name_since` on would have sent ApiVersions with their name."""
    since = known_libraries()[candidate.library].reports_name_since
    return replace(candidate, older_than=since) if candidate.version is None else candidate


def _named_by_client_id(client: ObservedClient) -> Iterator[tuple[LibraryCandidate, bool]]:
    # All signatures of the Java clients are known, so a doubtful Java client is left out.
    for library in known_libraries().values():
        for pattern in library.client_ids:
            found = pattern.fullmatch(client.client_id or "")
            if found is None:
                continue
            version = parse_version(found.groupdict().get("version"))
            matches = [match for match in client.matches if match.sender.library is library]
            doubtful = version is None and _all_conflict(matches)
            if not (doubtful and library.uses_release_versions):
                yield _candidate(library, matches, LibraryEvidence.CLIENT_ID, version), doubtful


def _all_conflict(matches: list[Match]) -> bool:
    return bool(matches) and all(
        len(match.conflicting) >= MIN_CONFLICTING_APIS for match in matches
    )


def _with_matching_versions(client: ObservedClient) -> list[LibraryCandidate]:
    """Libraries without a conflicting API and with a distinctive one, most distinctive first."""
    matches: dict[str, list[Match]] = {}
    for match in client.matches:
        enough = match.distinctive and len(match.matching) >= MIN_MATCHING_APIS
        if enough and not match.conflicting:
            matches.setdefault(match.sender.library.id, []).append(match)
    ranked = sorted(
        matches, key=lambda name: -max(len(match.distinctive) for match in matches[name])
    )
    libraries = known_libraries()
    candidates = [
        _candidate(libraries[name], matches[name], LibraryEvidence.API_VERSIONS) for name in ranked
    ]
    # Without ApiVersions, versions of an old release may also come from a library that is pinned
    # to that release.
    java = any(libraries[name].uses_release_versions for name in ranked)
    if java and not client.sent_api_versions:
        candidates += [
            _candidate(library, [], LibraryEvidence.API_VERSIONS)
            for library in libraries.values()
            if not library.negotiates_when_pinned and library.id not in matches
        ]
    return candidates


def _candidate(
    library: Library,
    matches: list[Match],
    evidence: LibraryEvidence,
    version: Release | None = None,
) -> LibraryCandidate:
    fits = any(match.matching and not match.conflicting for match in matches)
    used = (LibraryEvidence.API_VERSIONS,) if fits else ()
    return LibraryCandidate(
        library.id,
        version=version,
        engine=library.engine or library.id,
        engine_version=None if library.engine else version,
        evidence=tuple(dict.fromkeys((evidence, *used))),
    )
