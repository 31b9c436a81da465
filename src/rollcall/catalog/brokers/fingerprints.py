"""Every list of APIs that a release may show, and what explains it.

A list is not one per release. A KRaft broker lists a forwarded API as far as its active
controller has it too, so in a rolling upgrade it shows a mix of two releases; unstable versions
can be switched on; an old inter.broker.protocol.version hides transactions. Each such list
is worked out once, with its explanation, and looked up whole: a list fits or it does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from rollcall.catalog.apis import Mode, known_apis
from rollcall.catalog.ranges import Range, Ranges
from rollcall.catalog.releases.release import Listing, Release, ReleaseLine
from rollcall.catalog.releases.release_lines import known_release_lines

ASIDE = frozenset({4, 5, 6, 7, 27, 56, 57, 58, 67, 71, 72})
"""Left out when lists are compared: proxies and other brokers hide what only brokers send, and 71
and 72 depend on the configuration. They still decide between releases that fit otherwise."""

ZOOKEEPER_KEYS = frozenset({4, 5, 6})
"""Only a ZooKeeper broker lists them, and every one of them does (key 7 is a controller's too)."""

TRANSACTION_KEYS = frozenset({24, 25, 26, 28})
"""Hidden by an inter.broker.protocol.version below 0.11, as is 27."""

ListKey = frozenset[tuple[int, Range]]


class BrokerCondition(StrEnum):
    """Why a list is not the one that the release shows by default."""

    OTHER_CONTROLLER = "other-controller"
    """The active controller is of another release: a rolling upgrade."""
    UNSTABLE_APIS = "unstable-apis"
    """unstable.api.versions.enable is on."""
    OLD_PROTOCOL = "old-protocol"
    """inter.broker.protocol.version is below 0.11."""
    TELEMETRY = "telemetry"
    """A client telemetry reporter is configured."""
    UNSTABLE_FEATURES = "unstable-features"
    """unstable.feature.versions.enable is on."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A list that a release may show."""

    line: ReleaseLine
    listing: Listing
    mode: Mode
    conditions: tuple[BrokerCondition, ...] = ()
    controllers: tuple[str, ...] = ()
    """Lines of the active controller with which the list comes out so."""

    @property
    def ranges(self) -> Ranges:
        return self.listing.listed[self.mode]

    @property
    def patches(self) -> tuple[Release, ...]:
        return self.line.patches_of(self.listing)


def telling(ranges: Ranges) -> ListKey:
    """The part of a list by which releases are compared."""
    return frozenset((key, range_) for key, range_ in ranges.items() if key not in ASIDE)


def fits(ranges: Ranges) -> tuple[Fit, ...]:
    """The default lists that fit; only when there are none, those of unusual circumstances."""
    key = telling(ranges)
    return default_lists().get(key) or unusual_lists().get(key) or ()


@cache
def default_lists() -> Mapping[ListKey, tuple[Fit, ...]]:
    found: dict[ListKey, list[Fit]] = defaultdict(list)
    for line in known_release_lines():
        for listing in line.listings if line.advertised else ():
            for mode, ranges in listing.listed.items():
                found[telling(ranges)].append(Fit(line, listing, mode))
    return {key: tuple(fits) for key, fits in found.items()}


@cache
def unusual_lists() -> Mapping[ListKey, tuple[Fit, ...]]:
    found: dict[ListKey, list[Fit]] = defaultdict(list)
    for fit in [fit for fits in default_lists().values() for fit in fits]:
        for key, unusual in _unusual(fit):
            found[key].append(unusual)
    return {key: tuple(fits) for key, fits in found.items()}


def _unusual(fit: Fit) -> Iterator[tuple[ListKey, Fit]]:
    plain = fit.ranges
    unstable = fit.line.unstable.get(fit.mode)
    more = {**plain, **unstable} if unstable else None
    if more:
        yield telling(more), _fit(fit, BrokerCondition.UNSTABLE_APIS)
    if fit.mode is Mode.ZOOKEEPER and plain.keys() >= TRANSACTION_KEYS:
        less = {key: range_ for key, range_ in plain.items() if key not in TRANSACTION_KEYS}
        yield telling(less), _fit(fit, BrokerCondition.OLD_PROTOCOL)
    if fit.mode is Mode.KRAFT:
        yield from _under_controllers(fit, plain, BrokerCondition.OTHER_CONTROLLER)
        if more:
            both = (BrokerCondition.UNSTABLE_APIS, BrokerCondition.OTHER_CONTROLLER)
            yield from _under_controllers(fit, more, *both)


def _under_controllers(
    fit: Fit, ranges: Ranges, *circumstances: BrokerCondition
) -> Iterator[tuple[ListKey, Fit]]:
    by_list: dict[ListKey, list[str]] = defaultdict(list)
    for line in known_release_lines():
        controller = line.listings[-1].listed.get(Mode.CONTROLLER)
        if controller is not None and line is not fit.line:
            by_list[telling(_forwarded(ranges, controller))].append(line.name)
    by_list.pop(telling(ranges), None)
    for key, controllers in by_list.items():
        yield key, _fit(fit, *circumstances, controllers=tuple(controllers))


def _forwarded(broker: Ranges, controller: Ranges) -> Ranges:
    """What a broker lists under that controller: of forwarded APIs, what both have."""
    return {
        key: shared
        for key, range_ in broker.items()
        if (shared := _shared(key, range_, controller)) is not None
    }


def _shared(key: int, range_: Range, controller: Ranges) -> Range | None:
    if not known_apis()[key].forwarded:
        return range_
    return range_.overlap(controller[key]) if key in controller else None


def _fit(fit: Fit, *circumstances: BrokerCondition, controllers: tuple[str, ...] = ()) -> Fit:
    return Fit(fit.line, fit.listing, fit.mode, circumstances, controllers)
