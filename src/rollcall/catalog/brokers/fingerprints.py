"""Fingerprints: every list of API ranges that a release can return, and what explains it.

A release has more than one list. A KRaft broker lists a forwarded API only as far as the active
controller supports it, so during a rolling upgrade its list mixes two releases. Unstable versions
can be enabled, and an old inter.broker.protocol.version hides transactions. All these lists are
computed once and looked up as a whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

from rollcall.catalog.apis import Mode, known_apis
from rollcall.catalog.ranges import Range, Ranges
from rollcall.catalog.releases.release import Listing, Release, ReleaseLine
from rollcall.catalog.releases.release_lines import known_release_lines

NOT_COMPARED = frozenset({4, 5, 6, 7, 27, 56, 57, 58, 67, 71, 72})
"""Keys that are left out of the lookup: proxies and other products hide inter-broker APIs, and the
telemetry keys 71 and 72 depend on the configuration. They decide between releases that are
otherwise equal."""

ZOOKEEPER_KEYS = frozenset({4, 5, 6})
"""Listed by every ZooKeeper broker and by no other node (controllers list key 7)."""

TRANSACTION_KEYS = frozenset({24, 25, 26, 28})
"""Hidden, like key 27, by an inter.broker.protocol.version below 0.11."""

RangeSet = frozenset[tuple[int, Range]]


class BrokerCondition(StrEnum):
    """Why a broker's list is not the default list of its release."""

    OTHER_CONTROLLER = "other-controller"
    """The active controller has another release, as during a rolling upgrade."""
    UNSTABLE_APIS = "unstable-apis"
    """unstable.api.versions.enable is on."""
    OLD_PROTOCOL = "old-protocol"
    """inter.broker.protocol.version is below 0.11."""
    TELEMETRY = "telemetry"
    """A client telemetry reporter is configured."""
    UNSTABLE_FEATURES = "unstable-features"
    """unstable.feature.versions.enable is on."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A release line and mode, with the conditions under which it returns a list of API ranges."""

    line: ReleaseLine
    listing: Listing
    mode: Mode
    conditions: tuple[BrokerCondition, ...] = ()
    controllers: tuple[str, ...] = ()
    """Lines of the active controller that lead to this list."""

    @property
    def ranges(self) -> Ranges:
        """The default list, without the effect of conditions."""
        return self.listing.ranges[self.mode]

    @property
    def patches(self) -> tuple[Release, ...]:
        return self.line.patches_of(self.listing)


def matching_fingerprints(ranges: Ranges) -> tuple[Fingerprint, ...]:
    """The fingerprints of a list: defaults first, other conditions only if no default matches."""
    compared = compared_ranges(ranges)
    return default_fingerprints().get(compared) or conditional_fingerprints().get(compared) or ()


def compared_ranges(ranges: Ranges) -> RangeSet:
    """The part of a list that the lookup compares."""
    return frozenset((key, range_) for key, range_ in ranges.items() if key not in NOT_COMPARED)


@cache
def default_fingerprints() -> Mapping[RangeSet, tuple[Fingerprint, ...]]:
    """The fingerprints of brokers with default settings, by their list."""
    found: dict[RangeSet, list[Fingerprint]] = defaultdict(list)
    for line in known_release_lines():
        for listing in line.listings if line.answers_api_versions else ():
            for mode, ranges in listing.ranges.items():
                found[compared_ranges(ranges)].append(Fingerprint(line, listing, mode))
    return {compared: tuple(fingerprints) for compared, fingerprints in found.items()}


@cache
def conditional_fingerprints() -> Mapping[RangeSet, tuple[Fingerprint, ...]]:
    """The fingerprints of brokers under conditions that change the list, by their list."""
    found: dict[RangeSet, list[Fingerprint]] = defaultdict(list)
    for defaults in default_fingerprints().values():
        for default in defaults:
            for compared, fingerprint in _conditional(default):
                found[compared].append(fingerprint)
    return {compared: tuple(fingerprints) for compared, fingerprints in found.items()}


def _conditional(default: Fingerprint) -> Iterator[tuple[RangeSet, Fingerprint]]:
    stable = default.ranges
    unstable = default.line.unstable.get(default.mode)
    if unstable:
        fingerprint = replace(default, conditions=(BrokerCondition.UNSTABLE_APIS,))
        yield compared_ranges({**stable, **unstable}), fingerprint
    if default.mode is Mode.ZOOKEEPER and stable.keys() >= TRANSACTION_KEYS:
        rest = {key: range_ for key, range_ in stable.items() if key not in TRANSACTION_KEYS}
        fingerprint = replace(default, conditions=(BrokerCondition.OLD_PROTOCOL,))
        yield compared_ranges(rest), fingerprint
    if default.mode is Mode.KRAFT:
        other = BrokerCondition.OTHER_CONTROLLER
        yield from _under_controllers(replace(default, conditions=(other,)), stable)
        if unstable:
            both = replace(default, conditions=(BrokerCondition.UNSTABLE_APIS, other))
            yield from _under_controllers(both, {**stable, **unstable})


def _under_controllers(
    fingerprint: Fingerprint, ranges: Ranges
) -> Iterator[tuple[RangeSet, Fingerprint]]:
    """The lists of a KRaft broker under active controllers of other lines."""
    controllers: dict[RangeSet, list[str]] = defaultdict(list)
    for line in known_release_lines():
        controller = line.ranges.get(Mode.CONTROLLER)
        if controller is not None and line is not fingerprint.line:
            controllers[compared_ranges(_with_controller(ranges, controller))].append(line.name)
    controllers.pop(compared_ranges(ranges), None)
    for compared, names in controllers.items():
        yield compared, replace(fingerprint, controllers=tuple(names))


def _with_controller(broker: Ranges, controller: Ranges) -> Ranges:
    """The broker's ranges, with forwarded APIs reduced to what the controller supports."""
    ranges: dict[int, Range] = {}
    for key, range_ in broker.items():
        if not known_apis()[key].forwarded:
            ranges[key] = range_
        elif key in controller and (shared := range_.overlap(controller[key])) is not None:
            ranges[key] = shared
    return ranges
