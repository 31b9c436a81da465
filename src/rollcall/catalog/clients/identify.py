"""Which library is this client: reported by its name, else inferred, else cannot be told.

What a client says of itself comes first, and is kept as it was said. A client that says
nothing is inferred from its client id, which anyone may choose, and from the API versions
that it used; both give candidates. Libraries that name themselves are no candidates for a
nameless client on a broker that hears names. Who is not seen to ask for the broker's versions
and sends those of an old release may be any library that a setting holds down to that release.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from rollcall.catalog.clients.libraries import (
    SAYS_NOTHING,
    Library,
    known_libraries,
    parse_version,
    software_names,
)
from rollcall.catalog.clients.signatures import (
    API_VERSIONS,
    NAMES_FROM,
    Match,
    Seen,
    compare,
    senders,
)
from rollcall.catalog.provenance import Provenance
from rollcall.catalog.ranges import Ranges, as_ranges
from rollcall.catalog.releases.release import Release
from rollcall.catalog.releases.vendor_builds import apache_line

ENOUGH_AGREEING = 2
ENOUGH_AGAINST = 2
"""A client id is in doubt when so many APIs speak against the library it names."""


class LibraryEvidence(StrEnum):
    """What a candidate rests on."""

    NAME = "name"
    CLIENT_ID = "client-id"
    API_VERSIONS = "api-versions"


@dataclass(frozen=True, slots=True)
class LibraryCandidate:
    library: str
    version: Release | None = None
    engine: str | None = None
    """The library that decides what is sent: itself, or the one it is built on."""
    engine_version: Release | None = None
    older_than: Release | None = None
    """Its engine is older than this: it asked, and told no name to a broker that hears names."""
    build_of: str | None = None
    """The Apache line inside a build with a number of its own."""
    matching_versions: tuple[str, ...] = ()
    """Versions with this signature; others may have it too."""
    evidence: tuple[LibraryEvidence, ...] = ()
    agreeing: tuple[int, ...] = ()
    """API keys whose versions fit."""


@dataclass(frozen=True, slots=True)
class LibraryInference:
    provenance: Provenance
    candidates: tuple[LibraryCandidate, ...] = ()
    software_name: str | None = None
    software_version: str | None = None

    @property
    def library(self) -> str | None:
        """The library, where only one is possible."""
        first = self.candidates[0].library if self.candidates else None
        return first if all(it.library == first for it in self.candidates) else None


UNKNOWN = LibraryInference(Provenance.MISSING)


def identify_library(
    software_name: str | None = None,
    software_version: str | None = None,
    client_id: str | None = None,
    api_versions: Mapping[int, Iterable[int]] | None = None,
    broker_ranges: Mapping[int, tuple[int, int]] | None = None,
) -> LibraryInference:
    """The library of a client, from what is known of it; `broker_ranges` are what it was told."""
    name = None if (software_name or "") in SAYS_NOTHING else software_name
    if name is not None:
        return _reported(name, software_version)
    seen = {key: frozenset(versions) for key, versions in (api_versions or {}).items()}
    seen = {key: versions for key, versions in seen.items() if versions}
    broker = None if broker_ranges is None else as_ranges(broker_ranges)
    matches = _possible(seen, broker)
    candidates = _by_client_id(client_id, matches, asked=API_VERSIONS in seen)
    if _hears_names(broker) and max(seen.get(API_VERSIONS, {NAMES_FROM})) < NAMES_FROM:
        candidates = tuple(_before_it_told(it) for it in candidates)
    return LibraryInference(Provenance.INFERRED, candidates) if candidates else UNKNOWN


def _reported(name: str, version: str | None) -> LibraryInference:
    told = None if (version or "") in SAYS_NOTHING else version
    if name not in software_names():
        return LibraryInference(Provenance.REPORTED, (), name, told)
    library, form = software_names()[name]
    parts = form.parts(told or "")
    own, engine = parse_version(parts.get("version")), parse_version(parts.get("engine"))
    build_of = apache_line(own) if own and own.suffix and library.uses_release_versions else None
    if build_of:
        own = Release.parse(build_of)
    candidate = LibraryCandidate(
        library.id,
        version=own,
        engine=library.engine or library.id,
        engine_version=engine if library.engine else own,
        build_of=build_of,
        evidence=(LibraryEvidence.NAME,),
    )
    return LibraryInference(Provenance.REPORTED, (candidate,), name, told)


def _hears_names(broker: Ranges | None) -> bool:
    asked = broker.get(API_VERSIONS) if broker else None
    return asked is not None and asked.high >= NAMES_FROM


def _possible(seen: Seen, broker: Ranges | None) -> list[Match]:
    hears_names = _hears_names(broker)
    return [
        compare(sender, seen, broker) for sender in senders() if not (sender.tells and hears_names)
    ]


def _before_it_told(candidate: LibraryCandidate) -> LibraryCandidate:
    """No later version of it would have asked without its name."""
    since = known_libraries()[candidate.library].reports_name_since
    return replace(candidate, older_than=since) if candidate.version is None else candidate


def _by_client_id(
    client_id: str | None, matches: list[Match], *, asked: bool
) -> tuple[LibraryCandidate, ...]:
    """The library that the id names; one in doubt stays beside those that the versions name, as
    not all versions of it are known. Of the Java clients they are: there the doubt decides."""
    named, in_doubt = [], False
    for library, version in _named_by(client_id):
        ours = [match for match in matches if match.sender.library is library]
        doubtful = version is None and _all_against(ours)
        if doubtful and library.uses_release_versions:
            continue
        in_doubt = in_doubt or doubtful
        named.append(_candidate(library, ours, LibraryEvidence.CLIENT_ID, version))
    if named and not in_doubt:
        return tuple(named)
    names = {candidate.library for candidate in named}
    others = (it for it in _by_versions(matches, asked=asked) if it.library not in names)
    return (*named, *others)


def _named_by(client_id: str | None) -> Iterator[tuple[Library, Release | None]]:
    for library in known_libraries().values():
        for pattern in library.client_ids:
            fits = pattern.fullmatch(client_id or "")
            if fits is not None:
                yield library, parse_version(fits.groupdict().get("version"))


def _all_against(matches: list[Match]) -> bool:
    return bool(matches) and all(len(match.against) >= ENOUGH_AGAINST for match in matches)


def _by_versions(matches: list[Match], *, asked: bool) -> tuple[LibraryCandidate, ...]:
    """Libraries that nothing speaks against, and whose marks were seen."""
    by_library: dict[str, list[Match]] = {}
    for match in matches:
        if not match.against and match.telling and len(match.agreeing) >= ENOUGH_AGREEING:
            by_library.setdefault(match.sender.library.id, []).append(match)
    ranked = sorted(by_library.values(), key=lambda ms: -max(len(m.telling) for m in ms))
    found = [_candidate(ms[0].sender.library, ms, LibraryEvidence.API_VERSIONS) for ms in ranked]
    if not asked and any(ms[0].sender.library.uses_release_versions for ms in ranked):
        held = (it for it in known_libraries().values() if not it.negotiates_when_pinned)
        found += [
            _candidate(it, [], LibraryEvidence.API_VERSIONS)
            for it in held
            if it.id not in by_library
        ]
    return tuple(found)


def _candidate(
    library: Library, matches: list[Match], clue: LibraryEvidence, version: Release | None = None
) -> LibraryCandidate:
    fitting = [match for match in matches if match.agreeing and not match.against]
    evidence = (
        (clue,)
        if clue is LibraryEvidence.API_VERSIONS or not fitting
        else (clue, LibraryEvidence.API_VERSIONS)
    )
    return LibraryCandidate(
        library.id,
        version=version,
        engine=library.engine or library.id,
        engine_version=None if library.engine else version,
        matching_versions=tuple(m.sender.version for m in fitting if m.sender.version),
        evidence=evidence,
        agreeing=tuple(sorted({key for match in fitting for key in match.agreeing})),
    )
