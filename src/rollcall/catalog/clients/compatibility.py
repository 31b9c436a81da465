"""Compatibility of a library version with a target release: its minimum version and its risks.

The API versions that a client was observed to send are judged with `releases.acceptance`, which
takes precedence. This module adds what a library version is known to need beyond those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
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
from rollcall.catalog.ranges import Range, Ranges
from rollcall.catalog.releases.api_ranges import (
    acceptance,
    accepted_ranges,
    listed_ranges,
    release_line,
)
from rollcall.catalog.releases.release import Release, UnknownReleaseError
from rollcall.catalog.releases.release_lines import known_release_lines

MINIMUM_SINCE = Release((4, 0))
"""Documented minimum versions apply to brokers from this release on (KIP-896)."""


class RiskReason(StrEnum):
    REFUSED = "refused"
    """The target refuses these versions."""
    NOT_LISTED = "not-listed"
    """The library requires these versions to be listed, and the target does not list them."""
    NO_COMMON = "no-common-version"
    """Library and target have no version in common."""


@dataclass(frozen=True, slots=True)
class Risk:
    """An operation that a library version cannot do on the target, and the version that can."""

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
    """None if the version or the minimum is unknown."""
    risks: tuple[Risk, ...] = ()
    pin: str | None = None
    """A setting that may limit its API versions, which an upgrade of the library does not lift."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _LibraryOnTarget:
    """The library that decides the API versions, its version if known, and the target."""

    library: Library
    version: Release | None
    older_than: Release | None
    target: Release

    def requirements(self) -> Iterator[Requirement]:
        for requirement in self.library.requirements:
            if requirement.applies_to(self.version, self.older_than):
                yield requirement


def library_compatibility(
    library: str,
    version: Release | None,
    target: str | Release,
    *,
    engine_version: Release | None = None,
    older_than: Release | None = None,
) -> LibraryCompatibility:
    """The compatibility of a library version with a target; a binding is judged by its engine.

    `older_than` is an upper bound for a version that is not known."""
    row = _library(library)
    engine = engine_of(row)
    release = Release.of(target)
    release_line(release)  # an unknown target is an error, not compatible
    subject = _LibraryOnTarget(
        engine, engine_version if row.engine else version, older_than, release
    )
    minimum = engine.minimum if release >= MINIMUM_SINCE else None
    return LibraryCompatibility(
        library,
        version,
        release,
        minimum=minimum,
        below_minimum=_is_below(minimum, subject) if minimum else None,
        risks=tuple(risk for rule in RISK_RULES for risk in rule(subject)),
        pin=engine.pin,
        notes=(*row.notes, *(engine.notes if engine is not row else ())),
    )


def known_api_versions(
    library: str, version: Release | None, *, engine_version: Release | None = None
) -> Mapping[int, frozenset[int]]:
    """The API versions that a library version is known to have; it may have more.

    A Java client has those of its release. Other libraries have those they were observed to send
    in this version or an earlier one, as libraries do not remove versions.
    """
    row = _library(library)
    engine = engine_of(row)
    judged = engine_version if row.engine else version
    if judged is None:
        return {}
    if engine.uses_release_versions:
        return {
            key: frozenset(range(range_.low, range_.high + 1))
            for key, range_ in _java_ranges(judged).items()
        }
    known: dict[int, frozenset[int]] = {}
    for signature in engine.signatures:
        if signature.version and signature.version <= judged:
            for key, versions in signature.apis.items():
                known[key] = known.get(key, frozenset()) | versions
    return known


def _library(name: str) -> Library:
    if name not in known_libraries():
        raise CatalogError(
            f"there is no library {name!r} in the catalog",
            hint=f"use one of {', '.join(known_libraries())}",
        )
    return known_libraries()[name]


def _is_below(minimum: Minimum, subject: _LibraryOnTarget) -> bool | None:
    if subject.version is not None:
        return subject.version < minimum.version
    if subject.older_than is not None and subject.older_than <= minimum.version:
        return True
    return None


def _refused(subject: _LibraryOnTarget) -> Iterator[Risk]:
    """Versions that the library uses and the target refuses."""
    for requirement in subject.requirements():
        for key, range_ in requirement.uses.items():
            if acceptance(subject.target, key, range_.low).refused:
                yield _risk(requirement, key, range_, RiskReason.REFUSED)


def _not_listed(subject: _LibraryOnTarget) -> Iterator[Risk]:
    """Versions that the library requires to be listed and the target does not list."""
    for requirement in subject.requirements():
        for key, range_ in requirement.requires_listed.items():
            listed = listed_ranges(subject.target).get(key)
            if listed is None or not listed.covers(range_):
                yield _risk(requirement, key, range_, RiskReason.NOT_LISTED)


def _no_common_version(subject: _LibraryOnTarget) -> Iterator[Risk]:
    """APIs in which a Java client and the target have no version in common."""
    if not subject.library.uses_release_versions or subject.version is None:
        return
    accepted = accepted_ranges(subject.target)
    for key, range_ in _java_ranges(subject.version).items():
        if key in accepted and range_.high < accepted[key].low:
            fixed_in = _first_release_with(key, accepted[key].low)
            yield Risk(key, range_, RiskReason.NO_COMMON, fixed_in=fixed_in)


RISK_RULES: tuple[Callable[[_LibraryOnTarget], Iterator[Risk]], ...] = (
    _refused,
    _not_listed,
    _no_common_version,
)


def _risk(requirement: Requirement, key: int, range_: Range, reason: RiskReason) -> Risk:
    return Risk(
        key,
        range_,
        reason,
        operation=requirement.operation,
        fixed_in=requirement.below,
        basis=requirement.basis,
        reference=requirement.reference,
        only_with_sasl=requirement.only_with_sasl,
    )


def _first_release_with(key: int, version: int) -> Release | None:
    for line in known_release_lines():
        range_ = line.ranges[line.default_mode].get(key)
        if range_ is not None and range_.high >= version:
            return line.release
    return None


def _java_ranges(version: Release) -> Ranges:
    """The API ranges of the Java client of a release; empty if the release is unknown."""
    try:
        ranges = accepted_ranges(Release(version.parts))
    except UnknownReleaseError:
        return {}
    return {key: range_ for key, range_ in ranges.items() if not known_apis()[key].inter_broker}
