"""Which release is this broker, told by its ApiVersions answer.

The answer is a set of candidates with what speaks for them, never an invented fact (885.4):

1. An error answer tells little: how it is made, and the range of ApiVersions itself.
2. Signs of brokers that are not Apache Kafka come before everything else (`others`).
3. The list is looked up among those that releases show (`fits`). Features, and the keys
   that are left out of the lookup, decide between releases with the same list.
4. A list that fits none is judged as a stranger (`strange`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from rollcall.catalog.apis import Mode
from rollcall.catalog.fits import ASIDE, ZOOKEEPER_KEYS, Circumstance, Fit, fits
from rollcall.catalog.guess import Candidate, Evidence, NextBest, ReleaseGuess, Sign, Verdict
from rollcall.catalog.lines import known_lines
from rollcall.catalog.listings import newest
from rollcall.catalog.others import recognise
from rollcall.catalog.ranges import Range, Ranges, as_ranges, differences
from rollcall.catalog.releases import Line, Release
from rollcall.catalog.source import Source
from rollcall.catalog.strange import closest, judge_strange, newer_than_known, unknown_keys

UNSUPPORTED_VERSION = 35
INVALID_REQUEST = 42
API_VERSIONS = 18
METADATA_VERSION = "metadata.version"

NOTHING_KNOWN = ReleaseGuess(Verdict.CANNOT_TELL, Source.MISSING)


def identify_release(
    ranges: Mapping[int, tuple[int, int]],
    *,
    supported_features: Mapping[str, tuple[int, int]] | None = None,
    finalized_features: Mapping[str, int] | None = None,
    error_code: int = 0,
) -> ReleaseGuess:
    """The releases that fit an ApiVersions answer.

    Features are those told by an answer of version 3 or later; `finalized_features` holds the
    highest level of each.
    """
    return _identify(
        tuple(as_ranges(ranges).items()),
        tuple(sorted((name, Range(*pair)) for name, pair in (supported_features or {}).items())),
        (finalized_features or {}).get(METADATA_VERSION, 0),
        error_code,
    )


def identify_unanswered(*, closed: bool) -> ReleaseGuess:
    """A broker that answers Metadata 0 and not ApiVersions: 0.8 closes, 0.9 is silent (35.10)."""
    old = [line for line in known_lines() if not line.advertised]
    return _from_lines(
        [line for line in old if (line.name == "0.9") is not closed], Evidence(Sign.NO_ANSWER)
    )


@lru_cache(maxsize=4096)
def _identify(
    items: tuple[tuple[int, Range], ...],
    features: tuple[tuple[str, Range], ...],
    level: int,
    error_code: int,
) -> ReleaseGuess:
    ranges, supported = dict(items), dict(features)
    if error_code and ranges.keys() <= {API_VERSIONS}:
        return _from_error(error_code, ranges.get(API_VERSIONS))
    if not ranges:
        return NOTHING_KNOWN
    if others := recognise(ranges, supported):
        return ReleaseGuess(
            Verdict.OTHER,
            Source.INFERRED,
            others=others,
            evidence=(Evidence(Sign.MARKS), *unknown_keys(ranges)),
            next_best=closest(ranges),
        )
    if fitting := [fit for fit in fits(ranges) if _mode_fits(fit, ranges)]:
        return _from_fits(fitting, ranges, supported.get(METADATA_VERSION), level)
    return judge_strange(ranges)


def _from_error(error_code: int, range_: Range | None) -> ReleaseGuess:
    """2.4 and later name their range of ApiVersions with error 35; older ones name nothing."""
    evidence = Evidence(Sign.ERROR_ANSWER, API_VERSIONS, range_)
    if range_ is not None and range_.high > _api_versions(newest()):
        return newer_than_known(evidence)
    known = {line: _api_versions(line) for line in known_lines() if line.advertised}
    if error_code == UNSUPPORTED_VERSION and range_ is not None:
        chosen = [line for line, high in known.items() if high == range_.high]
    elif error_code == UNSUPPORTED_VERSION:
        chosen = [line for line, high in known.items() if high < 3]
    elif error_code == INVALID_REQUEST:
        chosen = [line for line, high in known.items() if high >= 3]
    else:
        chosen = []
    return _from_lines(chosen, evidence)


def _api_versions(line: Line) -> int:
    return line.listings[0].listed[line.main][API_VERSIONS].high


def _from_lines(chosen: Iterable[Line], evidence: Evidence) -> ReleaseGuess:
    candidates = tuple(Candidate(line.name, None, tuple(line.patches)) for line in chosen)
    if not candidates:
        return NOTHING_KNOWN
    return ReleaseGuess(
        Verdict.APACHE, Source.INFERRED, candidates=candidates, evidence=(evidence,)
    )


def _mode_fits(fit: Fit, ranges: Ranges) -> bool:
    return (fit.mode is Mode.ZOOKEEPER) == bool(ZOOKEEPER_KEYS & ranges.keys())


def _from_fits(
    fitting: list[Fit], ranges: Ranges, supported: Range | None, level: int
) -> ReleaseGuess:
    evidence, rival = [Evidence(Sign.LIST)], None
    by_feature = Evidence(Sign.METADATA_VERSION, seen=supported)
    if supported is not None:
        evidence.append(by_feature)
    by_level = Evidence(Sign.FINALIZED_LEVEL, seen=Range(level, level))
    by_keys = Evidence(Sign.BROKER_KEYS)
    for sign, left in (
        (by_feature, _supporting(fitting, supported)),
        (by_level, _able(fitting, level)),
        (by_keys, _nearest_aside(fitting, ranges)),
    ):
        kept = [fit for fit in fitting if fit in left] or fitting
        if out := [fit for fit in fitting if fit not in kept]:
            rival = NextBest(out[-1].line.name, out[-1].mode, (), sign)
            evidence += [sign] if sign not in evidence else []
        fitting = kept
    return ReleaseGuess(
        Verdict.APACHE,
        Source.INFERRED,
        candidates=_candidates(fitting, ranges, supported),
        evidence=tuple(evidence),
        next_best=rival or closest(ranges, but={fit.line.name for fit in fitting}),
    )


def _supporting(fitting: list[Fit], supported: Range | None) -> list[Fit]:
    """Those that support exactly this metadata.version, else those it is raised from."""
    if supported is None:
        return fitting
    ours = [(fit, fit.line.features.get(METADATA_VERSION)) for fit in fitting]
    exact = [fit for fit, range_ in ours if range_ == supported]
    return exact or [fit for fit, range_ in ours if range_ and range_.high < supported.high]


def _able(fitting: list[Fit], level: int) -> list[Fit]:
    """A finalized level is a floor: a broker that does not support it could not be there."""
    return [
        fit for fit in fitting if fit.line.features.get(METADATA_VERSION, Range(0, 0)).high >= level
    ]


def _nearest_aside(fitting: list[Fit], ranges: Ranges) -> list[Fit]:
    """Those whose lists differ least in the keys that were left out."""
    seen = {key: range_ for key, range_ in ranges.items() if key in ASIDE}
    if not seen:
        return fitting
    far = {
        fit: len(differences(seen, {k: r for k, r in fit.ranges.items() if k in ASIDE}))
        for fit in fitting
    }
    return [fit for fit in fitting if far[fit] == min(far.values())]


def _candidates(
    fitting: list[Fit], ranges: Ranges, supported: Range | None
) -> tuple[Candidate, ...]:
    """One for each line; patch releases with the same list are one candidate."""
    merged: dict[Candidate, list[Release]] = {}
    for fit in fitting:
        circumstances = _circumstances(fit, ranges, supported)
        candidate = Candidate(fit.line.name, fit.mode, (), circumstances, fit.controllers)
        merged.setdefault(candidate, []).extend(fit.patches)
    return tuple(replace(it, patches=tuple(patches)) for it, patches in merged.items())


def _circumstances(fit: Fit, ranges: Ranges, supported: Range | None) -> tuple[Circumstance, ...]:
    found = list(fit.circumstances)
    if fit.line.telemetry.keys() & ranges.keys():
        found.append(Circumstance.TELEMETRY)
    range_ = fit.line.features.get(METADATA_VERSION)
    if supported and range_ and supported.high > range_.high:
        found.append(Circumstance.UNSTABLE_FEATURES)
    return tuple(found)
