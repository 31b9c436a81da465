"""Rules for a list of API ranges that matches no release.

It is a newer Kafka, a known Kafka behind a proxy, or another product.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

from rollcall.catalog.apis import Mode, known_apis
from rollcall.catalog.brokers.fingerprints import (
    NOT_COMPARED,
    compared_ranges,
    default_fingerprints,
)
from rollcall.catalog.brokers.result import (
    BrokerKind,
    ClosestRelease,
    Evidence,
    EvidenceKind,
    ObservedBroker,
    ReleaseInference,
)
from rollcall.catalog.provenance import Provenance
from rollcall.catalog.ranges import Range, Ranges, differences
from rollcall.catalog.releases.api_ranges import newest_release_line
from rollcall.catalog.releases.release import ReleaseLine
from rollcall.catalog.releases.release_lines import known_release_lines

NEW_KEYS = 32
"""A newer Kafka may have up to this many new API keys; vendors use keys far above (AutoMQ 501)."""


def newer_release(broker: ObservedBroker) -> ReleaseInference | None:
    """A list that contains all of the newest known release, and more."""
    evidence = _above_newest_release(broker.ranges)
    return newer_than_known(*evidence) if evidence else None


def subset_of_release(broker: ObservedBroker) -> ReleaseInference | None:
    """A list that a known release contains, as a proxy in front of it would return."""
    lines = _containing_lines(broker)
    if not lines:
        return None
    return ReleaseInference(
        BrokerKind.UNKNOWN,
        Provenance.INFERRED,
        containing_lines=lines,
        evidence=(Evidence(EvidenceKind.SUBSET_OF_RELEASE),),
        closest=closest_release(broker.ranges),
    )


def unknown_combination(broker: ObservedBroker) -> ReleaseInference:
    """A list that no release of Apache Kafka contains."""
    return ReleaseInference(
        BrokerKind.OTHER,
        Provenance.INFERRED,
        evidence=unknown_apis(broker.ranges) or (Evidence(EvidenceKind.UNKNOWN_COMBINATION),),
        closest=closest_release(broker.ranges),
    )


def newer_than_known(*evidence: Evidence) -> ReleaseInference:
    newest = newest_release_line().name
    return ReleaseInference(
        BrokerKind.NEWER, Provenance.INFERRED, newer_than=newest, evidence=evidence
    )


def unknown_apis(ranges: Ranges) -> tuple[Evidence, ...]:
    """Evidence for each API key that no release has."""
    return tuple(
        Evidence(EvidenceKind.UNKNOWN_API, key, range_)
        for key, range_ in ranges.items()
        if key not in known_apis()
    )


def lines_supporting(metadata_version: Range, lines: Sequence[ReleaseLine]) -> list[ReleaseLine]:
    """Lines with this metadata.version, or else those that unstable features raise to it."""
    exact = [line for line in lines if line.metadata_version == metadata_version]
    return exact or [
        line
        for line in lines
        if (known := line.metadata_version) is not None
        and known.low == metadata_version.low
        and known.high < metadata_version.high
    ]


def closest_release(ranges: Ranges, excluded: Collection[str] = ()) -> ClosestRelease | None:
    """The default list with the fewest differences; of equally close lines, the newest."""
    compared = compared_ranges(ranges)
    others = [
        (default, fingerprint)
        for default, fingerprints in default_fingerprints().items()
        for fingerprint in reversed(fingerprints)
        if fingerprint.line.name not in excluded
    ]
    if not others:
        return None
    default, fingerprint = min(reversed(others), key=lambda other: len(other[0] ^ compared))
    found = differences(dict(compared), dict(default))
    return ClosestRelease(fingerprint.line.name, fingerprint.mode, found)


def _above_newest_release(ranges: Ranges) -> tuple[Evidence, ...]:
    """Versions and keys that only a later release can list; empty if anything is missing."""
    mode = Mode.KRAFT if 0 in ranges else Mode.CONTROLLER
    newest = {
        key: range_
        for key, range_ in newest_release_line().ranges[mode].items()
        if key not in NOT_COMPARED
    }
    # an older active controller lowers forwarded APIs
    not_forwarded = [key for key in newest if not known_apis()[key].forwarded]
    if any(key not in ranges or ranges[key].high < newest[key].high for key in not_forwarded):
        return ()
    new = unknown_apis(ranges)
    if any(key > max(known_apis()) + NEW_KEYS for key in ranges):
        return ()
    higher = [
        Evidence(EvidenceKind.ABOVE_NEWEST_RELEASE, key, ranges[key], range_)
        for key, range_ in newest.items()
        if key in ranges and ranges[key].high > range_.high
    ]
    return (*higher, *new)


def _containing_lines(broker: ObservedBroker) -> tuple[str, ...]:
    """Lines that contain the whole list; none if the list lacks an API that every broker has."""
    if not broker.ranges.keys() >= _always_listed():
        return ()
    lines = [line for line in known_release_lines() if _contains(line, broker.ranges)]
    if broker.metadata_version is not None:
        lines = lines_supporting(broker.metadata_version, lines)
    return tuple(line.name for line in lines)


def _contains(line: ReleaseLine, ranges: Ranges) -> bool:
    if not line.answers_api_versions:
        return False
    for mode, listed in line.ranges.items():
        known = {**listed, **line.telemetry, **line.unstable.get(mode, {})}
        if all(key in known and known[key].covers(range_) for key, range_ in ranges.items()):
            return True
    return False


@cache
def _always_listed() -> frozenset[int]:
    """The API keys that brokers of every release list, such as Produce, Fetch and JoinGroup."""
    return frozenset.intersection(
        *(
            frozenset(key for key, _ in default)
            for default, fingerprints in default_fingerprints().items()
            if any(fingerprint.mode is not Mode.CONTROLLER for fingerprint in fingerprints)
        )
    )
