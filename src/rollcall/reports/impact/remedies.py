"""Remedies for a client that is not safe, as values. `rollcall.cli` turns them into text."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from rollcall.catalog import (
    LibraryCompatibility,
    Release,
    accepts,
    engine_of,
    known_libraries,
    release_line,
)
from rollcall.reports.clients import Client
from rollcall.reports.impact.findings import Finding, Judgement, Reason, Verdict


class RemedyKind(StrEnum):
    LOOK_BEHIND_PROXY = "look-behind-proxy"
    """The host is a proxy: find the client behind it first."""
    UPGRADE = "upgrade"
    """Upgrade the library."""
    UNPIN = "unpin"
    """Remove a setting that pins API versions; a newer library is not enough."""
    REPLACE = "replace"
    """No version of this library is known to work."""
    OTHER_TARGET = "other-target"
    """A later patch release of the target accepts the version."""
    IDENTIFY = "identify"
    """The library is unknown: ask the owner."""
    TEST = "test"
    """Test the client with the target."""
    OBSERVE_LONGER = "observe-longer"
    """Collect logs for longer or of more brokers."""


@dataclass(frozen=True, slots=True)
class Remedy:
    kind: RemedyKind
    library: str | None = None
    version: Release | None = None
    """The lowest version to upgrade to; None if unknown."""
    engine: str | None = None
    """The embedded library that the version belongs to, if it is not the library itself."""
    setting: str | None = None
    host: str | None = None
    suspected: bool = False
    """The proxy was not given as an option, but its host has many clients."""


DECIDED_BY_VERSION = (
    Reason.REFUSED,
    Reason.REFUSED_AT_BROKER_MAXIMUM,
    Reason.NEEDED_BY_LIBRARY,
)


def remedies(
    judgement: Judgement, target: Release, given: Collection[str], suspected: Collection[str]
) -> tuple[Remedy, ...]:
    """In the order in which to try them; empty for a safe client."""
    deciding = judgement.deciding
    if judgement.verdict is Verdict.SAFE or deciding is None:
        return ()
    hosts = deciding.hosts or judgement.client.hosts
    found = [
        Remedy(RemedyKind.LOOK_BEHIND_PROXY, host=host, suspected=host not in given)
        for host in hosts
        if host in given or host in suspected
    ]
    if deciding.reason in DECIDED_BY_VERSION:
        found += _library_remedies(judgement, target)
    else:
        identified = judgement.client.is_identified
        found.append(Remedy(RemedyKind.TEST if identified else RemedyKind.IDENTIFY))
    if deciding.reason is Reason.NO_EVIDENCE:
        found.append(Remedy(RemedyKind.OBSERVE_LONGER))
    return tuple(dict.fromkeys(found))  # several versions of a library may need the same


def _library_remedies(judgement: Judgement, target: Release) -> Iterator[Remedy]:
    findings = [finding for finding in judgement.findings if finding.verdict is judgement.verdict]
    versions = dict.fromkeys(
        version for finding in findings for version in finding.software_versions
    )
    compatibilities = dict.fromkeys(
        judgement.compatibilities[version]
        for version in versions
        if version in judgement.compatibilities
    )
    if not compatibilities:
        yield Remedy(RemedyKind.IDENTIFY)
    for compatibility in compatibilities:
        yield from _upgrades(judgement, compatibility, {finding.api_key for finding in findings})
    if patch := _accepting_patch(tuple(_lowest_versions(findings)), target):
        yield Remedy(RemedyKind.OTHER_TARGET, version=patch)


def _upgrades(
    judgement: Judgement, compatibility: LibraryCompatibility, api_keys: Collection[int | None]
) -> Iterator[Remedy]:
    library, pin = compatibility.library, compatibility.pin
    risks = [risk for risk in compatibility.risks if risk.api_key in api_keys]
    if any(risk.fixed_in is None for risk in risks):
        yield Remedy(RemedyKind.REPLACE, library)
        return
    wanted = [risk.fixed_in for risk in risks if risk.fixed_in is not None]
    if compatibility.minimum is not None and _may_be_below(compatibility, judgement.client):
        wanted.append(compatibility.minimum.version)
    newer = max(wanted, default=None)
    is_pinned = judgement.verdict is not Verdict.AT_RISK and pin is not None
    if newer is not None or not is_pinned:
        engine = known_libraries()[library].engine if newer else None
        yield Remedy(RemedyKind.UPGRADE, library, newer, engine)
    if is_pinned:
        yield Remedy(RemedyKind.UNPIN, library, setting=pin)


def _may_be_below(compatibility: LibraryCompatibility, client: Client) -> bool:
    """Whether the library may be older than its minimum.

    A client of unknown version that reports its name is at least as new as the first version that
    does."""
    if compatibility.below_minimum is not None or compatibility.minimum is None:
        return bool(compatibility.below_minimum)
    engine = engine_of(known_libraries()[compatibility.library])
    since = engine.reports_name_since if client.software is not None else None
    return since is None or since < compatibility.minimum.version


def _lowest_versions(findings: list[Finding]) -> Iterator[tuple[int, int]]:
    for finding in findings:
        if finding.api_key is not None and finding.versions is not None:
            yield finding.api_key, finding.versions.low


@cache
def _accepting_patch(pairs: tuple[tuple[int, int], ...], target: Release) -> Release | None:
    """The first later patch of the same release line that accepts all these versions.

    Cached, because many clients have the same findings."""
    line = release_line(target)
    for patch in sorted(line.patches):
        if patch > target and all(accepts(patch, key, version) for key, version in pairs):
            return patch if len(target.parts) > len(line.release.parts) else None
    return None
