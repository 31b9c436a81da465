"""Which libraries could have sent these API versions.

A library that asks with ApiVersions uses the highest version that both sides have. So a version
that is the broker's own maximum says little, as everybody newer ends there; a version below
it is a mark. The versions of ApiVersions itself are the best mark: a client asks with its
highest first, and a broker logs that also when it does not know it.
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
NAMES_FROM = 3
"""The version of ApiVersions that tells a name (KIP-511)."""
ASKS_SINCE = Release((0, 10, 2))
"""The first Java client that asks a broker for its versions; older ones just send their own."""

Seen = Mapping[int, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Sender:
    """A library at one version, and what it sends."""

    library: Library
    version: str | None
    apis: Mapping[int, frozenset[int]]
    negotiates: bool
    tells: bool
    """It names itself to a broker that can hear it."""
    starts_with: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Match:
    sender: Sender
    agreeing: frozenset[int]
    """APIs in which it would have sent just that."""
    telling: frozenset[int]
    """Those of them in which not everybody would."""
    against: frozenset[int]


@cache
def senders() -> tuple[Sender, ...]:
    return tuple(sender for library in known_libraries().values() for sender in _senders(library))


def compare(sender: Sender, seen: Seen, broker: Ranges | None) -> Match:
    """What speaks for a sender and what against it, in the APIs that both know."""
    agreeing, telling, against = set(), set(), set()
    for key in seen.keys() & sender.apis.keys():
        if not seen[key] <= _expected(sender, key, seen[key], broker):
            against.add(key)
            continue
        agreeing.add(key)
        if key == API_VERSIONS or broker is None or _below(seen[key], key, broker):
            telling.add(key)
    if API_VERSIONS in seen:  # its start was seen
        against.update(_missing(sender, seen, broker))
        if API_VERSIONS not in sender.apis and sender.apis:
            against.add(API_VERSIONS)
    return Match(
        sender, frozenset(agreeing - against), frozenset(telling - against), frozenset(against)
    )


def _missing(sender: Sender, seen: Seen, broker: Ranges | None) -> Iterator[int]:
    """APIs in which the version that it begins with was not seen."""
    for key, version in sender.starts_with.items():
        high = broker[key].high if broker and key in broker else version
        if key in seen and min(version, high) not in seen[key]:
            yield key


def _below(versions: frozenset[int], key: int, broker: Ranges) -> bool:
    return key not in broker or max(versions) < broker[key].high


def _expected(
    sender: Sender, key: int, versions: frozenset[int], broker: Ranges | None
) -> frozenset[int]:
    own = sender.apis[key]
    if key == API_VERSIONS:  # it asks with one of its own first, whatever comes after
        return versions if max(versions) in own else frozenset()
    if not sender.negotiates:
        return own
    if broker is None:
        return frozenset(range(max(own))) | own
    if key not in broker:
        return frozenset()
    # `broker` is what all brokers have: one that is upgraded already may have agreed on more
    return frozenset(v for high in own for v in range(min(high, broker[key].high), high + 1))


def _senders(library: Library) -> Iterator[Sender]:
    if library.uses_release_versions:
        yield from _releases(library)
    for signature in library.signatures:
        yield Sender(
            library,
            signature.version,
            signature.apis,
            negotiates=library.negotiates,
            tells=_tells(library, signature),
            starts_with=signature.starts_with,
        )


def _tells(library: Library, signature: Signature) -> bool:
    since = library.reports_name_since
    if since is None or signature.version is None:
        return False
    asks = max(signature.apis.get(API_VERSIONS, frozenset({0})))
    return asks >= NAMES_FROM and Release.parse(signature.version) >= since


def _releases(library: Library) -> Iterator[Sender]:
    """The Java clients share their versions with the brokers of the same release."""
    since, caps = library.reports_name_since, library.caps or {}
    for line in known_release_lines():
        asks = line.release >= ASKS_SINCE
        highest = {
            key: min(range_.high, caps.get(key, range_.high))
            for key, range_ in line.listings[-1].listed[line.main].items()
            if not known_apis()[key].inter_broker and (asks or key != API_VERSIONS)
        }
        yield Sender(
            library,
            line.name,
            {key: frozenset({high}) for key, high in highest.items()},
            negotiates=asks,
            tells=since is not None and line.release >= Release(since.parts[:2]),
        )
