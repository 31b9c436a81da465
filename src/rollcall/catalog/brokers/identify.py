"""Which release is this broker, told by its ApiVersions answer.

The answer is a set of candidates with what speaks for them, never an invented fact (885.4):

1. An error answer tells little: how it is made, and the range of ApiVersions itself.
2. Signs of brokers that are not Apache Kafka come before everything else (`others`).
3. The list is looked up among those that releases show (`fits`). Features, and the keys
   that are left out of the lookup, decide between releases with the same list.
4. A list that fits none is judged as a stranger (`strange`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rollcall.catalog.apis import Mode
from rollcall.catalog.brokers.fingerprints import ASIDE, ZOOKEEPER_KEYS, BrokerCondition, Fit, fits
from rollcall.catalog.brokers.other_products import recognise
from rollcall.catalog.brokers.result import (
    BrokerKind,
    ClosestRelease,
    Evidence,
    EvidenceKind,
    LineCandidate,
    ReleaseInference,
)
from rollcall.catalog.brokers.unmatched import (
    METADATA_VERSION,
    closest,
    judge_strange,
    newer_than_known,
    supporting,
    unknown_keys,
)
from rollcall.catalog.provenance import Provenance
from rollcall.catalog.ranges import Difference, Range, Ranges, as_ranges, differences
from rollcall.catalog.releases.api_ranges import newest
from rollcall.catalog.releases.release import Asked, Release, ReleaseLine
from rollcall.catalog.releases.release_lines import known_release_lines

UNSUPPORTED_VERSION = 35
INVALID_REQUEST = 42
API_VERSIONS = 18

NOTHING_KNOWN = ReleaseInference(BrokerKind.UNKNOWN, Provenance.MISSING)


def identify_release(
    ranges: Mapping[int, tuple[int, int]],
    *,
    supported_features: Mapping[str, tuple[int, int]] | None = None,
    finalized_features: Mapping[str, int] | None = None,
    error_code: int = 0,
) -> ReleaseInference:
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


def identify_without_api_versions(*, closed: bool) -> ReleaseInference:
    """A broker that answers Metadata 0 and not ApiVersions: some close, some are silent (35.10)."""
    how = Asked.CLOSES if closed else Asked.IGNORES
    chosen = [line for line in known_release_lines() if line.api_versions is how]
    return _span(chosen, Evidence(EvidenceKind.NO_RESPONSE))


@lru_cache(maxsize=4096)
def _identify(
    items: tuple[tuple[int, Range], ...],
    features: tuple[tuple[str, Range], ...],
    level: int,
    error_code: int,
) -> ReleaseInference:
    ranges, supported = dict(items), dict(features)
    if error_code and ranges.keys() <= {API_VERSIONS}:
        return _from_error(error_code, ranges.get(API_VERSIONS))
    if not ranges:
        return NOTHING_KNOWN
    if others := recognise(ranges, supported):
        return ReleaseInference(
            BrokerKind.OTHER,
            Provenance.INFERRED,
            other_products=others,
            evidence=(Evidence(EvidenceKind.PRODUCT_FINGERPRINT), *unknown_keys(ranges)),
            closest=closest(ranges),
        )
    told = supported.get(METADATA_VERSION)
    fitting = [fit for fit in fits(ranges) if _mode_fits(fit, ranges)]
    if fitting and (able := _supporting(fitting, told)):
        return _from_fits(fitting, able, ranges, told, level)
    return judge_strange(ranges, told)


def _from_error(error_code: int, range_: Range | None) -> ReleaseInference:
    """2.4 and later name their range of ApiVersions with error 35; older ones name nothing."""
    evidence = Evidence(EvidenceKind.ERROR_RESPONSE, API_VERSIONS, range_)
    if range_ is not None and range_.high > _api_versions(newest()):
        return newer_than_known(evidence)
    known = {line: _api_versions(line) for line in known_release_lines() if line.advertised}
    if error_code == UNSUPPORTED_VERSION and range_ is not None:
        chosen = [line for line, high in known.items() if high == range_.high]
    elif error_code == UNSUPPORTED_VERSION:
        chosen = [line for line, high in known.items() if high < 3]
    elif error_code == INVALID_REQUEST:
        chosen = [line for line, high in known.items() if high >= 3]
    else:
        chosen = []
    return _span(chosen, evidence)


def _api_versions(line: ReleaseLine) -> int:
    return line.listings[0].listed[line.main][API_VERSIONS].high


def _span(chosen: Sequence[ReleaseLine], evidence: Evidence) -> ReleaseInference:
    """Releases that would do so; as others may too, it is no proof of Apache Kafka."""
    candidates = tuple(LineCandidate(line.name, None, tuple(line.patches)) for line in chosen)
    if not candidates:
        return NOTHING_KNOWN
    return ReleaseInference(
        BrokerKind.UNKNOWN, Provenance.INFERRED, candidates, evidence=(evidence,)
    )


def _mode_fits(fit: Fit, ranges: Ranges) -> bool:
    return (fit.mode is Mode.ZOOKEEPER) == bool(ZOOKEEPER_KEYS & ranges.keys())


@dataclass
class _Narrowing:
    """Releases with the same list, ruled out by one sign after the other."""

    left: list[Fit]
    evidence: list[Evidence]
    rival: ClosestRelease | None = None

    def keep(self, fits: list[Fit], sign: Evidence) -> None:
        out = [fit for fit in self.left if fit not in fits]
        if out and fits:
            self.left = fits
            self.rival = ClosestRelease(out[-1].line.name, out[-1].mode, (), sign)
            self.evidence += [sign] if sign not in self.evidence else []


def _from_fits(
    fitting: list[Fit], able: list[Fit], ranges: Ranges, told: Range | None, level: int
) -> ReleaseInference:
    by_feature = Evidence(EvidenceKind.METADATA_VERSION, observed=told)
    found = _Narrowing(
        fitting, [Evidence(EvidenceKind.API_RANGES), *([by_feature] if told else [])]
    )
    found.keep(able, by_feature)
    found.keep(
        _able(found.left, level),
        Evidence(EvidenceKind.FINALIZED_LEVEL, observed=Range(level, level)),
    )
    found.keep(_nearest_aside(found.left, ranges), Evidence(EvidenceKind.INTER_BROKER_APIS))
    return ReleaseInference(
        BrokerKind.APACHE,
        Provenance.INFERRED,
        candidates=_candidates(found.left, ranges, told),
        evidence=tuple(found.evidence),
        closest=found.rival or closest(ranges, but={fit.line.name for fit in found.left}),
    )


def _supporting(fitting: list[Fit], told: Range | None) -> list[Fit]:
    """Those whose metadata.version is the one told; ZooKeeper brokers tell none."""
    if told is None:
        return fitting
    kraft = [fit for fit in fitting if fit.mode is not Mode.ZOOKEEPER]
    names = supporting({fit.line.name: fit.line for fit in kraft}, told)
    return [fit for fit in kraft if fit.line.name in names]


def _able(fitting: list[Fit], level: int) -> list[Fit]:
    """A finalized level is a floor: a broker that does not support it could not be there."""
    return [
        fit for fit in fitting if fit.line.features.get(METADATA_VERSION, Range(0, 0)).high >= level
    ]


def _nearest_aside(fitting: list[Fit], ranges: Ranges) -> list[Fit]:
    """Those whose lists differ least in the keys that were left out."""
    far = {fit: len(_differences_aside(fit, ranges)) for fit in fitting}
    if not ranges.keys() & ASIDE:
        return fitting
    return [fit for fit in fitting if far[fit] == min(far.values())]


def _differences_aside(fit: Fit, ranges: Ranges) -> tuple[Difference, ...]:
    keys = ASIDE - fit.line.telemetry.keys()
    return differences(
        {key: range_ for key, range_ in ranges.items() if key in keys},
        {key: range_ for key, range_ in fit.ranges.items() if key in keys},
    )


def _candidates(
    fitting: list[Fit], ranges: Ranges, told: Range | None
) -> tuple[LineCandidate, ...]:
    """One for each line; patch releases with the same list are one candidate."""
    merged: dict[LineCandidate, list[Release]] = {}
    for fit in fitting:
        candidate = LineCandidate(
            fit.line.name,
            fit.mode,
            patches=(),
            conditions=_circumstances(fit, ranges, told),
            controllers=fit.controllers,
            inter_broker_differences=_differences_aside(fit, ranges),
        )
        merged.setdefault(candidate, []).extend(fit.patches)
    return tuple(replace(it, patches=tuple(patches)) for it, patches in merged.items())


def _circumstances(fit: Fit, ranges: Ranges, told: Range | None) -> tuple[BrokerCondition, ...]:
    found = list(fit.conditions)
    if fit.line.telemetry.keys() & ranges.keys():
        found.append(BrokerCondition.TELEMETRY)
    range_ = fit.line.features.get(METADATA_VERSION)
    if told and range_ and told.high > range_.high:
        found.append(BrokerCondition.UNSTABLE_FEATURES)
    return tuple(found)
