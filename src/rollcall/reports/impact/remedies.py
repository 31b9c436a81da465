"""What to do about a verdict: values; the words for them are the command line's."""

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
from rollcall.reports.impact.findings import Finding, Judgement, Verdict, Why
from rollcall.reports.values import Client


class Step(StrEnum):
    LOOK_BEHIND_PROXY = "look-behind-proxy"
    """The host stands for many clients: find the one behind it first."""
    UPGRADE = "upgrade"
    """A newer version of the library."""
    UNPIN = "unpin"
    """A setting that holds its versions down is to be lifted; a newer library is not enough."""
    REPLACE = "replace"
    """No version of this library is known to work."""
    OTHER_TARGET = "other-target"
    """A later patch of the target accepts it."""
    FIND_OUT = "find-out"
    """Nobody knows which library it is: ask its owner."""
    TEST = "test"
    """Try it against the target."""
    WATCH = "watch"
    """Watch it for longer, or at more brokers."""


@dataclass(frozen=True, slots=True)
class Remedy:
    step: Step
    library: str | None = None
    version: Release | None = None
    """To upgrade to at least; None when it is not known."""
    engine: str | None = None
    """The library inside that the version is of, if it is not its own."""
    setting: str | None = None
    host: str | None = None
    suspected: bool = False
    """The proxy was not given, but looks like one."""


def remedies(
    judgement: Judgement, target: Release, given: Collection[str], suspected: Collection[str]
) -> tuple[Remedy, ...]:
    """In the order in which to try them; none for what is safe."""
    if judgement.verdict is Verdict.SAFE:
        return ()
    steps = (*_proxies(judgement, given, suspected), *_steps(judgement, target))
    return tuple(dict.fromkeys(steps))  # several versions of a library may need the same


def _proxies(
    judgement: Judgement, given: Collection[str], suspected: Collection[str]
) -> Iterator[Remedy]:
    deciding = judgement.deciding
    hosts = (deciding.hosts if deciding else ()) or judgement.client.hosts
    for host in hosts:
        if host in given or host in suspected:
            yield Remedy(Step.LOOK_BEHIND_PROXY, host=host, suspected=host not in given)


def _steps(judgement: Judgement, target: Release) -> Iterator[Remedy]:
    deciding = judgement.deciding
    assert deciding is not None
    refused = [it for it in judgement.findings if it.verdict is judgement.verdict]
    if deciding.why in (Why.REFUSED, Why.REFUSED_AT_MAXIMUM, Why.NEEDED):
        yield from _library_steps(judgement, refused)
        if patch := _accepting_patch(tuple(_lowest(refused)), target):
            yield Remedy(Step.OTHER_TARGET, version=patch)
    elif judgement.client.is_identified:
        yield Remedy(Step.TEST)
    else:
        yield Remedy(Step.FIND_OUT)
    if deciding.why is Why.NOTHING_SEEN:
        yield Remedy(Step.WATCH)


def _library_steps(judgement: Judgement, findings: list[Finding]) -> Iterator[Remedy]:
    keys = {it.api_key for it in findings}
    versions = dict.fromkeys(version for it in findings for version in it.software_versions)
    compatibilities = [
        judgement.compatibilities[it] for it in versions if it in judgement.compatibilities
    ]
    if not compatibilities:
        yield Remedy(Step.FIND_OUT)
    for compatibility in dict.fromkeys(compatibilities):
        risks = [risk for risk in compatibility.risks if risk.api_key in keys]
        if any(risk.fixed_in is None for risk in risks):
            yield Remedy(Step.REPLACE, compatibility.library)
            continue
        wanted = [risk.fixed_in for risk in risks if risk.fixed_in is not None]
        if compatibility.minimum is not None and _may_be_below(compatibility, judgement.client):
            wanted.append(compatibility.minimum.version)
        newer = max(wanted, default=None)
        pinned = judgement.verdict is not Verdict.AT_RISK and compatibility.pin is not None
        if newer is not None or not pinned:
            engine = known_libraries()[compatibility.library].engine if newer else None
            yield Remedy(Step.UPGRADE, compatibility.library, newer, engine)
        if pinned:
            yield Remedy(Step.UNPIN, compatibility.library, setting=compatibility.pin)


def _may_be_below(compatibility: LibraryCompatibility, client: Client) -> bool:
    """Whether a version that is not known may be too old: who tells a name may be as old as the
    first that does."""
    if compatibility.below_minimum is not None or compatibility.minimum is None:
        return bool(compatibility.below_minimum)
    engine = engine_of(known_libraries()[compatibility.library])
    since = engine.reports_name_since if client.software is not None else None
    return since is None or since < compatibility.minimum.version


def _lowest(findings: list[Finding]) -> Iterator[tuple[int, int]]:
    for it in findings:
        if it.api_key is not None and it.versions is not None:
            yield it.api_key, it.versions.low


@cache
def _accepting_patch(pairs: tuple[tuple[int, int], ...], target: Release) -> Release | None:
    """The first later patch of the same line that accepts all of these APIs and versions; many
    clients are told the same."""
    line = release_line(target)
    for patch in sorted(line.patches):
        if patch > target and all(accepts(patch, key, version) for key, version in pairs):
            return patch if len(target.parts) > len(line.release.parts) else None
    return None
