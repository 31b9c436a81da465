"""Compare the API versions of a client with the signatures of known libraries.

A library that negotiates uses the highest version that it and the broker have in common. A version
equal to the broker's maximum is therefore weak evidence: every newer library uses it. A lower
version is distinctive. The version of ApiVersions itself is the most distinctive: a client sends
its own maximum first, and the broker logs it even if it does not support it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from rollcall.catalog.apis import known_apis
from rollcall.catalog.clients.libraries import Library, Signature, known_libraries
from rollcall.catalog.ranges import Ranges
from rollcall.catalog.releases.release import Release
from rollcall.catalog.releases.release_lines import known_release_lines

API_VERSIONS = 18
FIRST_VERSION_WITH_NAME = 3
"""The first ApiVersions version with a software name (KIP-511)."""
JAVA_NEGOTIATES_SINCE = Release((0, 10, 2))
"""The first Java client that sends ApiVersions; older ones send their own versions unasked."""

UsedVersions = Mapping[int, frozenset[int]]
"""API key to the versions that a client used."""


@dataclass(frozen=True, slots=True)
class LibraryVersion:
    """One version of a library, and the API versions it sends."""

    library: Library
    version: Release | None
    apis: UsedVersions
    negotiates: bool
    reports_name: bool
    """It reports its software name to a broker that supports KIP-511."""
    starts_with: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Match:
    """How the versions of a client compare with one library version, by API key."""

    sender: LibraryVersion
    matching: frozenset[int]
    distinctive: frozenset[int]
    """The matching keys in which other libraries would send another version."""
    conflicting: frozenset[int]


@cache
def library_versions() -> tuple[LibraryVersion, ...]:
    """Every library version with a known signature."""
    return tuple(
        version for library in known_libraries().values() for version in _versions_of(library)
    )


def compare(sender: LibraryVersion, used: UsedVersions, broker: Ranges | None) -> Match:
    """Compare the APIs that both the client and the library version use."""
    matching, distinctive, conflicting = set(), set(), set()
    for key in used.keys() & sender.apis.keys():
        if not used[key] <= _expected(sender, key, used[key], broker):
            conflicting.add(key)
            continue
        matching.add(key)
        if key == API_VERSIONS or broker is None or _below_maximum(used[key], key, broker):
            distinctive.add(key)
    if API_VERSIONS in used:  # the log covers the start of the connection
        conflicting.update(_missing_first_versions(sender, used, broker))
        if API_VERSIONS not in sender.apis and sender.apis:
            conflicting.add(API_VERSIONS)
    return Match(
        sender,
        frozenset(matching - conflicting),
        frozenset(distinctive - conflicting),
        frozenset(conflicting),
    )


def _missing_first_versions(
    sender: LibraryVersion, used: UsedVersions, broker: Ranges | None
) -> Iterator[int]:
    """APIs in which the client did not use the version that the library sends first."""
    for key, version in sender.starts_with.items():
        maximum = broker[key].high if broker and key in broker else version
        if key in used and min(version, maximum) not in used[key]:
            yield key


def _below_maximum(versions: frozenset[int], key: int, broker: Ranges) -> bool:
    return key not in broker or max(versions) < broker[key].high


def _expected(
    sender: LibraryVersion, key: int, versions: frozenset[int], broker: Ranges | None
) -> frozenset[int]:
    """The versions of an API that the library version may send to these brokers."""
    own = sender.apis[key]
    if key == API_VERSIONS:  # it sends its own maximum first and may fall back to any other
        return versions if max(versions) in own else frozenset()
    if not sender.negotiates:
        return own
    if broker is None:
        return frozenset(range(max(own))) | own
    if key not in broker:
        return frozenset()
    # `broker` is common to all brokers; one that is already upgraded may support more
    return frozenset(
        version for maximum in own for version in range(min(maximum, broker[key].high), maximum + 1)
    )


def _versions_of(library: Library) -> Iterator[LibraryVersion]:
    if library.uses_release_versions:
        yield from _java_versions(library)
    for signature in library.signatures:
        yield LibraryVersion(
            library,
            signature.version,
            signature.apis,
            negotiates=library.negotiates,
            reports_name=_reports_name(library, signature),
            starts_with=signature.starts_with,
        )


def _reports_name(library: Library, signature: Signature) -> bool:
    since = library.reports_name_since
    if since is None or signature.version is None:
        return False
    maximum = max(signature.apis.get(API_VERSIONS, frozenset({0})))
    return maximum >= FIRST_VERSION_WITH_NAME and signature.version >= since


def _java_versions(library: Library) -> Iterator[LibraryVersion]:
    """The Java clients, which have the API versions of the brokers of their release."""
    since = library.reports_name_since
    for line in known_release_lines():
        negotiates = line.release >= JAVA_NEGOTIATES_SINCE
        maximums = {
            key: min(range_.high, library.caps.get(key, range_.high))
            for key, range_ in line.ranges[line.default_mode].items()
            if not known_apis()[key].inter_broker and (negotiates or key != API_VERSIONS)
        }
        yield LibraryVersion(
            library,
            line.release,
            {key: frozenset({maximum}) for key, maximum in maximums.items()},
            negotiates=negotiates,
            reports_name=since is not None and line.release >= Release(since.parts[:2]),
        )
