"""A list that fits no release: a newer Kafka, one behind a proxy, or no Apache Kafka at all."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache

from rollcall.catalog.apis import Mode, known_apis
from rollcall.catalog.brokers.fingerprints import ASIDE, default_lists, telling
from rollcall.catalog.brokers.result import (
    BrokerKind,
    ClosestRelease,
    Evidence,
    EvidenceKind,
    ReleaseInference,
)
from rollcall.catalog.provenance import Provenance
from rollcall.catalog.ranges import Range, Ranges, differences
from rollcall.catalog.releases.api_ranges import newest
from rollcall.catalog.releases.release import ReleaseLine
from rollcall.catalog.releases.release_lines import known_release_lines

METADATA_VERSION = "metadata.version"
NEW_KEYS = 32
"""So many keys beyond the newest we know may be a newer Kafka's; vendors start far above."""


def judge_strange(ranges: Ranges, told: Range | None = None) -> ReleaseInference:
    """`told` is the supported metadata.version, which a proxy hands on as it is."""
    if beyond := _beyond(ranges):
        return newer_than_known(*beyond)
    behind = _behind(ranges, told)
    return ReleaseInference(
        BrokerKind.UNKNOWN if behind else BrokerKind.OTHER,
        Provenance.INFERRED,
        containing_lines=behind,
        evidence=unknown_keys(ranges)
        or (
            Evidence(
                EvidenceKind.SUBSET_OF_RELEASE if behind else EvidenceKind.UNKNOWN_COMBINATION
            ),
        ),
        closest=closest(ranges),
    )


def newer_than_known(*evidence: Evidence) -> ReleaseInference:
    return ReleaseInference(
        BrokerKind.NEWER, Provenance.INFERRED, newer_than=newest().name, evidence=evidence
    )


def unknown_keys(ranges: Ranges) -> tuple[Evidence, ...]:
    """Keys that no release has."""
    return tuple(
        Evidence(EvidenceKind.UNKNOWN_API, key, range_)
        for key, range_ in ranges.items()
        if key not in known_apis()
    )


def supporting(lines: Mapping[str, ReleaseLine], told: Range) -> dict[str, ReleaseLine]:
    """Lines with just this metadata.version, else those it can be raised from by a setting."""
    ours = {name: line.features.get(METADATA_VERSION) for name, line in lines.items()}
    exact = {name: lines[name] for name, range_ in ours.items() if range_ == told}
    return exact or {
        name: lines[name]
        for name, range_ in ours.items()
        if range_ and range_.low == told.low and range_.high < told.high
    }


def closest(ranges: Ranges, but: Collection[str] = ()) -> ClosestRelease | None:
    """The closest default list, of lines other than these, and where it differs."""
    seen = telling(ranges)
    rivals = [
        (listed, fit)
        for listed, found in default_lists().items()
        for fit in reversed(found)
        if fit.line.name not in but
    ]
    if not rivals:
        return None
    listed, fit = min(reversed(rivals), key=lambda rival: len(rival[0] ^ seen))
    return ClosestRelease(fit.line.name, fit.mode, differences(dict(seen), dict(listed)))


def _beyond(ranges: Ranges) -> tuple[Evidence, ...]:
    """What only a later release can list, if all that the newest one has is there too."""
    mode = Mode.KRAFT if 0 in ranges else Mode.CONTROLLER
    known = {k: r for k, r in newest().listings[-1].listed[mode].items() if k not in ASIDE}
    own = [
        key for key in known if not known_apis()[key].forwarded
    ]  # the others a controller may lower
    if any(key not in ranges or ranges[key].high < known[key].high for key in own):
        return ()
    new = [key for key in ranges if key not in known_apis()]
    if any(key > max(known_apis()) + NEW_KEYS for key in new):
        return ()
    higher = [key for key, r in known.items() if key in ranges and ranges[key].high > r.high]
    return (
        *(
            Evidence(EvidenceKind.ABOVE_NEWEST_RELEASE, key, ranges[key], known[key])
            for key in higher
        ),
        *(Evidence(EvidenceKind.UNKNOWN_API, key, ranges[key]) for key in new),
    )


def _behind(ranges: Ranges, told: Range | None) -> tuple[str, ...]:
    """Lines that have all that is listed; none where a broker's bread and butter is missing."""
    if not ranges.keys() >= _always_listed():
        return ()
    found = {}
    for line in known_release_lines():
        for mode, listed in line.listings[-1].listed.items():
            known = {**listed, **line.telemetry, **line.unstable.get(mode, {})}
            if line.advertised and all(
                key in known and known[key].covers(range_) for key, range_ in ranges.items()
            ):
                found[line.name] = line
    if told is not None:
        found = supporting(found, told)
    return tuple(found)


@cache
def _always_listed() -> frozenset[int]:
    """What the brokers of every release list: Produce, Fetch, the groups."""
    return frozenset.intersection(
        *(
            frozenset(key for key, _ in listed)
            for listed, found in default_lists().items()
            if any(fit.mode is not Mode.CONTROLLER for fit in found)
        )
    )
