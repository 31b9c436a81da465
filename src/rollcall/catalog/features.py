"""Features that a client can use on a cluster, and the brokers that prevent the others (35.7).

KIP-35 leaves it to clients to know which API versions a feature needs; data/features.json is that
table. A feature is usable if the versions that all brokers have in common meet its needs.
Otherwise the result names the brokers, the API and the versions on both sides.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Generic, TypeVar

from rollcall.catalog.apis import Api, Mode, keys_by_name, known_apis
from rollcall.catalog.loader import Row, check_fields, invalid_row, parse_api, read_table
from rollcall.catalog.ranges import Range, Ranges, as_ranges, intersect
from rollcall.catalog.releases.release import ReleaseLine
from rollcall.catalog.releases.release_lines import known_release_lines

FILE = "features.json"
NO_MAXIMUM = 32767
"""The highest version number in the protocol (int16)."""

B = TypeVar("B", bound=Hashable)
"""The type of a broker's name or id."""


@dataclass(frozen=True, slots=True)
class Feature:
    id: str
    needs: Ranges
    """The usable versions of each API that it needs."""
    title: str = ""
    kip: int | None = None
    since: str | None = None
    """The first release line that has it."""
    levels: Mapping[str, int] = field(default_factory=dict)
    """The minimum finalized level of each cluster feature that it needs."""
    extension: str | None = None
    """A capability that API ranges do not show; the broker must have demonstrated it."""
    note: str | None = None


@dataclass(frozen=True, slots=True)
class BrokerSupport:
    """The API ranges, finalized features and extensions of one broker."""

    ranges: Mapping[int, tuple[int, int]]
    finalized: Mapping[str, int] | None = None
    """The maximum finalized levels; None if the broker did not report them."""
    extensions: frozenset[str] = frozenset()


class Usable(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"
    """The API ranges meet the needs, but no broker reported the finalized levels."""


@dataclass(frozen=True, slots=True)
class MissingRequirement(Generic[B]):
    """A broker that lacks the versions of an API, a finalized level or an extension."""

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
    brokers: Mapping[B, BrokerSupport], features: Sequence[Feature] | None = None
) -> tuple[FeatureResult[B], ...]:
    """Whether each feature (default: every known one) is usable on a cluster of these brokers."""
    if not brokers:
        return ()
    common = intersect(support.ranges for support in brokers.values())
    return tuple(
        _judge(feature, brokers, common)
        for feature in (known_features() if features is None else features)
    )


def _judge(
    feature: Feature, brokers: Mapping[B, BrokerSupport], common: Ranges
) -> FeatureResult[B]:
    missing = (
        *_missing_versions(feature, brokers, common),
        *_missing_levels(feature, brokers),
        *_missing_extensions(feature, brokers),
    )
    if missing:
        return FeatureResult(feature, Usable.NO, missing)
    if feature.levels and all(support.finalized is None for support in brokers.values()):
        return FeatureResult(feature, Usable.UNKNOWN)
    return FeatureResult(feature, Usable.YES)


def _missing_versions(
    feature: Feature, brokers: Mapping[B, BrokerSupport], common: Ranges
) -> Iterator[MissingRequirement[B]]:
    for key, needed in feature.needs.items():
        if key in common and common[key].overlap(needed):
            continue
        offered = {
            broker: as_ranges(support.ranges).get(key) for broker, support in brokers.items()
        }
        lacking = [
            broker for broker, range_ in offered.items() if not (range_ and range_.overlap(needed))
        ]
        # if each broker alone meets the need but they share no version, all of them are named
        for broker in lacking or brokers:
            yield MissingRequirement(broker, api_key=key, needed=needed, offered=offered[broker])


def _missing_levels(
    feature: Feature, brokers: Mapping[B, BrokerSupport]
) -> Iterator[MissingRequirement[B]]:
    """Finalized levels belong to the cluster, but a lagging broker may report an older level."""
    for name, level in feature.levels.items():
        for broker, support in brokers.items():
            if support.finalized is not None and support.finalized.get(name, 0) < level:
                reported = support.finalized.get(name, 0)
                yield MissingRequirement(
                    broker,
                    level=name,
                    needed=Range(level, NO_MAXIMUM),
                    offered=Range(reported, reported) if reported else None,
                )


def _missing_extensions(
    feature: Feature, brokers: Mapping[B, BrokerSupport]
) -> Iterator[MissingRequirement[B]]:
    if feature.extension:
        for broker, support in brokers.items():
            if feature.extension not in support.extensions:
                yield MissingRequirement(broker, extension=feature.extension)


@cache
def known_features() -> tuple[Feature, ...]:
    """Every feature in the catalog, in the order of the releases that added them."""
    return build_features(read_table(FILE)["features"], known_release_lines(), known_apis())


def build_features(
    rows: Sequence[Row], lines: Sequence[ReleaseLine], apis: Mapping[int, Api]
) -> tuple[Feature, ...]:
    keys = keys_by_name(apis)
    features: list[Feature] = []
    for row in rows:
        where = f"row {row.get('id')}"
        check_fields(
            FILE,
            where,
            row,
            required={"id", "title", "kip", "since", "needs"},
            optional={"levels", "extension", "note"},
        )
        if row["id"] in {feature.id for feature in features}:
            invalid_row(FILE, where, "duplicate id", "give every feature its own id")
        needs = {
            parse_api(FILE, where, api, keys): Range(low, NO_MAXIMUM)
            for api, low in row["needs"].items()
        }
        feature = Feature(**{**row, "needs": needs, "levels": row.get("levels", {})})
        first = None if feature.extension else _first_line(feature, lines)
        if first != feature.since:
            invalid_row(
                FILE,
                where,
                f"has since {feature.since}, but the first line that has it is {first}",
                "correct since, needs, or the line in releases.json",
            )
        features.append(feature)
    return tuple(features)


def _first_line(feature: Feature, lines: Sequence[ReleaseLine]) -> str | None:
    return next((line.name for line in lines if _has_feature(line, feature)), None)


def _has_feature(line: ReleaseLine, feature: Feature) -> bool:
    for name, level in feature.levels.items():
        if line.features.get(name, Range(0, 0)).high < level:
            return False
    for mode in line.modes:
        ranges = {**line.ranges[mode], **line.telemetry}
        if mode is not Mode.CONTROLLER and all(
            key in ranges and ranges[key].overlap(needed) for key, needed in feature.needs.items()
        ):
            return True
    return False
