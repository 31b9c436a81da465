"""What a client can use on a cluster, and which broker stands in the way (35.7).

KIP-35 leaves it to clients to know which versions of which APIs a feature takes: this is that
map. What the brokers have in common decides; where it is too little, the answer names the
brokers, the API and the versions on both sides.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Generic, TypeVar

from rollcall.catalog.apis import Api, Mode, known_apis
from rollcall.catalog.loader import Row, check_fields, complain, read_table
from rollcall.catalog.ranges import Range, Ranges, as_ranges, intersect
from rollcall.catalog.releases.release import ReleaseLine
from rollcall.catalog.releases.release_lines import known_release_lines

FILE = "features.json"
ANY_HIGHER = 32767
"""The highest version that the protocol can hold: a need without an upper end."""

B = TypeVar("B", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Feature:
    id: str
    needs: Ranges
    """The versions of each API that will do."""
    title: str = ""
    kip: int | None = None
    since: str | None = None
    levels: Mapping[str, int] = field(default_factory=dict)
    """Finalized features of the cluster, with the lowest level that will do."""
    extension: str | None = None
    """What no range tells; the broker must have shown it."""
    note: str | None = None


@dataclass(frozen=True, slots=True)
class BrokerSupport:
    """What one broker offers."""

    ranges: Mapping[int, tuple[int, int]]
    finalized: Mapping[str, int] | None = None
    """Highest finalized levels; None where it was not asked, or could not tell."""
    extensions: frozenset[str] = frozenset()


class Usable(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"
    """The ranges will do; finalized levels are needed too and were not told."""


@dataclass(frozen=True, slots=True)
class MissingRequirement(Generic[B]):
    """One broker that lacks one thing: an API's versions, a finalized level or an extension."""

    broker: B
    api_key: int | None = None
    level: str | None = None
    extension: str | None = None
    needed: Range | None = None
    offered: Range | None = None


@dataclass(frozen=True, slots=True)
class FeatureResult(Generic[B]):
    feature: Feature
    usable: Usable
    missing: tuple[MissingRequirement[B], ...] = ()


def usable_features(
    offers: Mapping[B, BrokerSupport], wanted: Sequence[Feature] | None = None
) -> tuple[FeatureResult[B], ...]:
    """Every feature (or those wanted) on a cluster of these brokers."""
    if not offers:
        return ()
    common = intersect(offer.ranges for offer in offers.values())
    return tuple(
        _judge(feature, offers, common)
        for feature in (known_features() if wanted is None else wanted)
    )


def _judge(feature: Feature, offers: Mapping[B, BrokerSupport], common: Ranges) -> FeatureResult[B]:
    obstacles = (
        *_missing_versions(feature, offers, common),
        *_missing_levels(feature, offers),
        *_missing_extensions(feature, offers),
    )
    untold = feature.levels and all(offer.finalized is None for offer in offers.values())
    usable = Usable.NO if obstacles else Usable.UNKNOWN if untold else Usable.YES
    return FeatureResult(feature, usable, obstacles)


def _missing_versions(
    feature: Feature, offers: Mapping[B, BrokerSupport], common: Ranges
) -> Iterator[MissingRequirement[B]]:
    for key, needed in feature.needs.items():
        if key in common and common[key].overlap(needed):
            continue
        offered = {broker: as_ranges(offer.ranges).get(key) for broker, offer in offers.items()}
        without = [b for b, range_ in offered.items() if not (range_ and range_.overlap(needed))]
        # each broker alone will do, yet they share no version: then all of them are named
        for broker in without or offers:
            yield MissingRequirement(broker, api_key=key, needed=needed, offered=offered[broker])


def _missing_levels(
    feature: Feature, offers: Mapping[B, BrokerSupport]
) -> Iterator[MissingRequirement[B]]:
    """Levels belong to the cluster, but a broker that lags behind may tell an older one."""
    for name, level in feature.levels.items():
        for broker, offer in offers.items():
            if offer.finalized is not None and offer.finalized.get(name, 0) < level:
                told = offer.finalized.get(name, 0)
                yield MissingRequirement(
                    broker,
                    level=name,
                    needed=Range(level, ANY_HIGHER),
                    offered=Range(told, told) if told else None,
                )


def _missing_extensions(
    feature: Feature, offers: Mapping[B, BrokerSupport]
) -> Iterator[MissingRequirement[B]]:
    if feature.extension:
        for broker, offer in offers.items():
            if feature.extension not in offer.extensions:
                yield MissingRequirement(broker, extension=feature.extension)


@cache
def known_features() -> tuple[Feature, ...]:
    """The features that the catalog knows, by the release that brought them."""
    return build_features(read_table(FILE)["features"], known_release_lines(), known_apis())


def build_features(
    rows: Sequence[Row], known: Sequence[ReleaseLine], apis: Mapping[int, Api]
) -> tuple[Feature, ...]:
    keys = {api.name: api.key for api in apis.values()}
    built: list[Feature] = []
    for row in rows:
        where = f"row {row.get('id')}"
        fields = {"id", "title", "kip", "since", "needs"}
        check_fields(FILE, where, row, needs=fields, may={"levels", "extension", "note"})
        if row["id"] in {feature.id for feature in built}:
            complain(FILE, where, "is there twice", "give every feature its own id")
        if strange := row["needs"].keys() - keys.keys():
            complain(FILE, where, f"there is no API {min(strange)}", "use a name of apis.json")
        needs = {keys[api]: Range(low, ANY_HIGHER) for api, low in row["needs"].items()}
        feature = Feature(**{**row, "needs": needs, "levels": row.get("levels", {})})
        first = None if feature.extension else _first_line(feature, known)
        if first != feature.since:
            complain(
                FILE,
                where,
                f"is said to be there since {feature.since}; the first line that has it is {first}",
                "correct since, the needs, or the line in releases.json",
            )
        built.append(feature)
    return tuple(built)


def _first_line(feature: Feature, known: Sequence[ReleaseLine]) -> str | None:
    for line in known:
        for mode, listed in line.listings[-1].listed.items():
            ranges = {**listed, **line.telemetry}
            if (
                mode is not Mode.CONTROLLER
                and all(
                    key in ranges and ranges[key].overlap(r) for key, r in feature.needs.items()
                )
                and all(
                    line.features.get(name, Range(0, 0)).high >= level
                    for name, level in feature.levels.items()
                )
            ):
                return line.name
    return None
