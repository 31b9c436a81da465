"""What a release lists, accepts and marks as deprecated. The three differ.

Listed: the ranges in its ApiVersions response. Accepted: the versions it processes; 4.x lists
Produce 0 to 2 and refuses them. Deprecated: a mark in its schemas; 3.7.0 marks versions that
every 4.x release accepts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from rollcall.catalog.apis import Api, Mode, keys_by_name, known_apis
from rollcall.catalog.loader import Row, check_fields, invalid_row, parse_range, read_table
from rollcall.catalog.ranges import Range, Ranges
from rollcall.catalog.releases.release import Release, ReleaseLine, UnknownReleaseError
from rollcall.catalog.releases.release_lines import known_release_lines
from rollcall.catalog.releases.vendor_builds import apache_line

DEPRECATED = "deprecated.json"
BROKER_MODES = (Mode.ZOOKEEPER, Mode.KRAFT)


class Acceptance(StrEnum):
    """What a release does with one version of an API."""

    ACCEPTED = "accepted"
    TOO_OLD = "too-old"
    """Below the minimum version; the broker closes the connection."""
    TOO_NEW = "too-new"
    """Above the maximum version; a client that sends ApiVersions first uses a lower one."""
    REMOVED = "removed"
    """An earlier release has the API, this one does not."""
    NOT_YET = "not-yet"
    """A later release adds the API, or brokers never have it."""

    @property
    def refused(self) -> bool:
        return self in (Acceptance.TOO_OLD, Acceptance.REMOVED)


def listed_ranges(release: str | Release, mode: Mode | None = None) -> Ranges:
    """The API ranges in the ApiVersions response of a release, with default settings.

    A line means its newest patch release. Without a mode, the line's default mode is used."""
    line = release_line(release)
    ranges = line.listing_at(Release.of(release)).ranges
    mode = mode or line.default_mode
    if mode not in ranges:
        raise UnknownReleaseError(
            f"Kafka {line.name} has no {mode} mode", hint=f"use one of {', '.join(ranges)}"
        )
    return ranges[mode]


@cache
def accepted_ranges(release: str | Release, mode: Mode | None = None) -> Ranges:
    """The API ranges that a release accepts, including telemetry; they differ from the listed ones.

    Without a mode, the ranges of the line's broker modes are merged: KRaft got some APIs later
    than ZooKeeper, and an upgrade does not change the mode."""
    line = release_line(release)
    modes = (mode,) if mode else [known for known in BROKER_MODES if known in line.modes]
    ranges: dict[int, Range] = {}
    for listing_mode in modes:
        ranges |= listed_ranges(release, listing_mode)
    if mode is not Mode.CONTROLLER:
        ranges |= line.telemetry
    for key, refused in line.refused.items():
        if key in ranges:
            ranges[key] = Range(refused.high + 1, ranges[key].high)
    for key, unlisted in line.unlisted.items():
        if key in ranges:
            ranges[key] = Range(unlisted.low, ranges[key].high)
    return MappingProxyType(ranges)


def lists(release: str | Release, key: int, version: int, mode: Mode | None = None) -> bool:
    """Whether a release lists this version of an API."""
    range_ = listed_ranges(release, mode).get(key)
    return range_ is not None and range_.has(version)


def accepts(release: str | Release, key: int, version: int, mode: Mode | None = None) -> bool:
    """Whether a release accepts this version of an API."""
    return acceptance(release, key, version, mode) is Acceptance.ACCEPTED


def acceptance(
    release: str | Release, key: int, version: int, mode: Mode | None = None
) -> Acceptance:
    """What a release does with this version of an API, and why it refuses it."""
    range_ = accepted_ranges(release, mode).get(key)
    if range_ is None:
        first = first_line_listing(key)
        was_listed = first is not None and first.release < release_line(release).release
        return Acceptance.REMOVED if was_listed else Acceptance.NOT_YET
    if version < range_.low:
        return Acceptance.TOO_OLD
    return Acceptance.TOO_NEW if version > range_.high else Acceptance.ACCEPTED


def is_deprecated(release: str | Release, key: int, version: int) -> bool:
    """Whether a patch release marks this version as deprecated. A mark is not a removal."""
    patch = release_line(release).patch(Release.of(release))
    marks: Ranges = {}
    for since, versions in deprecated_versions():
        if since <= patch:
            marks = versions
    return key in marks and marks[key].has(version)


def release_line(release: str | Release) -> ReleaseLine:
    """The line of a release, also of a patch release that the catalog does not know yet."""
    wanted = Release.of(release)
    for line in reversed(known_release_lines()):
        if wanted.within(line.release):
            return line
    raise UnknownReleaseError(f"there is no release {wanted} in the catalog", hint=_hint(wanted))


def newest_release_line() -> ReleaseLine:
    return known_release_lines()[-1]


def is_known_release(release: str | Release) -> bool:
    """Whether the catalog has this patch release or line, not only the line of it."""
    number = Release(Release.of(release).parts)
    return any(number == line.release or number in line.patches for line in known_release_lines())


def first_line_listing(key: int) -> ReleaseLine | None:
    """The first line whose brokers list an API; None for an API that only controllers list."""
    for line in known_release_lines():
        if key in line.telemetry or any(key in line.ranges.get(m, ()) for m in BROKER_MODES):
            return line
    return None


@cache
def deprecated_versions() -> tuple[tuple[Release, Ranges], ...]:
    """The deprecated versions from each patch release on, oldest first."""
    rows = read_table(DEPRECATED)["deprecated"]
    return build_deprecated(rows, known_release_lines(), known_apis())


def build_deprecated(
    rows: Sequence[Row], lines: Sequence[ReleaseLine], apis: Mapping[int, Api]
) -> tuple[tuple[Release, Ranges], ...]:
    keys = keys_by_name(apis)
    line_of_patch = {patch: line for line in lines for patch in line.patches}
    built: list[tuple[Release, Ranges]] = []
    for row in rows:
        where = f"row {row.get('since')}"
        check_fields(DEPRECATED, where, row, required={"since", "versions"})
        since = Release.parse(row["since"])
        if since not in line_of_patch or (built and since <= built[-1][0]):
            invalid_row(
                DEPRECATED, where, "is unknown or out of order", "sort by known patch release"
            )
        line = line_of_patch[since]
        listed = line.listing_at(since).ranges[line.default_mode]
        versions = {}
        for api, pair in row["versions"].items():
            range_ = parse_range(DEPRECATED, where, api, pair)
            key = keys.get(api, -1)
            if key not in listed or not listed[key].covers(range_):
                invalid_row(DEPRECATED, where, f"{api} {pair} is not listed", "correct the range")
            if api == "ApiVersions":
                invalid_row(DEPRECATED, where, "marks ApiVersions", "remove it (KIP-35)")
            versions[key] = range_
        built.append((since, versions))
    return tuple(built)


def _hint(unknown: Release) -> str:
    names = [line.name for line in known_release_lines()]
    newest = newest_release_line().release
    same_major = [name for name in names if name.split(".")[0] == str(unknown.parts[0])]
    if line := apache_line(unknown):
        return f"this vendor build contains Apache Kafka {line}: use a release of that line"
    if newest < unknown < Release((newest.parts[0] + 1, 1)):
        return f"the newest known line is {names[-1]}: update rollcall"
    if same_major:
        return f"did you mean one of {', '.join(same_major)}?"
    return f"use one of {', '.join(names)}"
