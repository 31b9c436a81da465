"""What a target release means to a library: its minimum, and the work that is at risk.

What a client was seen to send is judged with `listings.acceptance` and outranks this. Here is
what a version of a library is known to need beyond that, and which versions it is known to have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rollcall.catalog.apis import known_apis
from rollcall.catalog.clients.libraries import (
    Library,
    Minimum,
    Requirement,
    engine_of,
    known_libraries,
)
from rollcall.catalog.loader import CatalogError
from rollcall.catalog.ranges import Range
from rollcall.catalog.releases.api_ranges import (
    acceptance,
    accepted_ranges,
    listed_ranges,
    release_line,
)
from rollcall.catalog.releases.release import Release, UnknownReleaseError
from rollcall.catalog.releases.release_lines import known_release_lines

MINIMUM_FROM = Release((4, 0))
"""Documented minimums are for brokers from here on (KIP-896)."""


class RiskReason(StrEnum):
    """What the target does not give."""

    REFUSED = "refused"
    """It refuses these versions."""
    NOT_LISTED = "not-listed"
    """It does not list them, which the library looks for."""
    NO_COMMON = "no-common-version"
    """Library and target have no version in common."""


@dataclass(frozen=True, slots=True)
class Risk:
    """Work that this library version cannot do at the target, and the version that can."""

    api_key: int
    versions: Range
    reason: RiskReason
    operation: str | None = None
    fixed_in: Release | None = None
    basis: str = "derived"
    reference: str | None = None
    only_with_sasl: bool = False


@dataclass(frozen=True, slots=True)
class LibraryCompatibility:
    library: str
    version: Release | None
    target: Release
    minimum: Minimum | None = None
    below_minimum: bool | None = None
    """None where either is not known."""
    risks: tuple[Risk, ...] = ()
    pin: str | None = None
    """A setting that may hold its versions down: to be lifted beside any newer version."""
    notes: tuple[str, ...] = ()


def library_compatibility(
    library: str,
    version: Release | None,
    target: str | Release,
    *,
    engine_version: Release | None = None,
    older_than: Release | None = None,
) -> LibraryCompatibility:
    """What is known of a library version at a target; a binding is judged by its engine.

    Where the version is not known, it may be known to be `before` another."""
    row = _library(library)
    engine = engine_of(row)
    judged = engine_version if row.engine else version
    release = target if isinstance(target, Release) else Release.parse(target)
    release_line(release)  # an unknown target is an error, not a clean bill
    minimum = engine.minimum if release >= MINIMUM_FROM else None
    return LibraryCompatibility(
        library,
        version,
        release,
        minimum=minimum,
        below_minimum=_is_below(minimum, judged, older_than) if minimum else None,
        risks=(*_needs(engine, judged, release, older_than), *_gaps(engine, judged, release)),
        pin=engine.pin,
        notes=(*row.notes, *(engine.notes if engine is not row else ())),
    )


def _is_below(minimum: Minimum, version: Release | None, older_than: Release | None) -> bool | None:
    if version is not None:
        return version < minimum.version
    return True if older_than is not None and older_than <= minimum.version else None


def known_api_versions(
    library: str, version: Release | None, *, engine_version: Release | None = None
) -> Mapping[int, frozenset[int]]:
    """The API versions that this library version is known to have; it may have more.

    A Java client has those of its release. Of others it is what they were seen to send, in this
    version or an earlier one: libraries learn versions and do not forget them.
    """
    row = _library(library)
    engine = engine_of(row)
    judged = engine_version if row.engine else version
    if judged is None:
        return {}
    if engine.uses_release_versions:
        return {
            key: frozenset(range(range_.low, range_.high + 1))
            for key, range_ in _client_ranges(judged).items()
        }
    known: dict[int, frozenset[int]] = {}
    for signature in engine.signatures:
        if signature.version and Release.parse(signature.version) <= judged:
            for key, versions in signature.apis.items():
                known[key] = known.get(key, frozenset()) | versions
    return known


def _library(name: str) -> Library:
    if name not in known_libraries():
        raise CatalogError(
            f"there is no library {name!r} in the catalog",
            hint=f"known: {', '.join(known_libraries())}",
        )
    return known_libraries()[name]


def _needs(
    library: Library, version: Release | None, target: Release, older_than: Release | None
) -> Iterator[Risk]:
    for need in library.needs:
        if not need.applies_to(version, older_than):
            continue
        for key, range_ in need.uses.items():
            if acceptance(target, key, range_.low).refused:
                yield _risk(need, key, range_, RiskReason.REFUSED)
        for key, range_ in need.requires_listed.items():
            there = listed_ranges(target).get(key)
            if there is None or not there.covers(range_):
                yield _risk(need, key, range_, RiskReason.NOT_LISTED)


def _risk(need: Requirement, key: int, range_: Range, reason: RiskReason) -> Risk:
    return Risk(
        key,
        range_,
        reason,
        need.operation,
        need.below,
        need.basis,
        need.reference,
        need.only_with_sasl,
    )


def _gaps(library: Library, version: Release | None, target: Release) -> Iterator[Risk]:
    """Of a Java client: APIs in which its release and the target share no version."""
    if not library.uses_release_versions or version is None:
        return
    accepted = accepted_ranges(target)
    for key, range_ in _client_ranges(version).items():
        if key in accepted and range_.high < accepted[key].low:
            yield Risk(
                key, range_, RiskReason.NO_COMMON, fixed_in=_first_with(key, accepted[key].low)
            )


def _first_with(key: int, version: int) -> Release | None:
    for line in known_release_lines():
        range_ = line.listings[-1].listed[line.main].get(key)
        if range_ is not None and range_.high >= version:
            return line.release
    return None


def _client_ranges(version: Release) -> Mapping[int, Range]:
    """What Java clients of that release can send; nothing for a release that is not known."""
    try:
        ranges = accepted_ranges(Release(version.parts))
    except UnknownReleaseError:
        return {}
    return {key: range_ for key, range_ in ranges.items() if not known_apis()[key].inter_broker}
