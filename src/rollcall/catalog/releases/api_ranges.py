"""What a release lists, accepts and marks deprecated: three different things.

Listed is what ApiVersions tells. Accepted is what gets an answer: 4.x lists Produce 0 to 2 and
refuses them. Deprecated is a mark in a schema: 3.7.0 marks versions that every 4.x accepts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from rollcall.catalog.apis import Api, Mode, known_apis
from rollcall.catalog.loader import Row, check_fields, complain, range_from, read_table
from rollcall.catalog.ranges import Range, Ranges
from rollcall.catalog.releases.release import Release, ReleaseLine, UnknownReleaseError
from rollcall.catalog.releases.release_lines import known_release_lines
from rollcall.catalog.releases.vendor_builds import apache_line

DEPRECATED = "deprecated.json"


class Acceptance(StrEnum):
    """What a release does with one version of an API."""

    ACCEPTED = "accepted"
    TOO_OLD = "too-old"
    """Below the lowest version: the connection is closed."""
    TOO_NEW = "too-new"
    """Above the highest: who asks with ApiVersions first uses a lower one."""
    REMOVED = "removed"
    """The API was there in an earlier release and is gone."""
    NOT_YET = "not-yet"
    """The API comes in a later release, or is no broker's."""

    @property
    def refused(self) -> bool:
        return self in (Acceptance.TOO_OLD, Acceptance.REMOVED)


def newest() -> ReleaseLine:
    return known_release_lines()[-1]


def release_line(release: str | Release) -> ReleaseLine:
    """The line of a release; a patch that came out after the tables is of its line too."""
    wanted = _release(release)
    for line in reversed(known_release_lines()):
        if wanted.within(line.release):
            return line
    raise _unknown(wanted)


def is_known_release(release: str | Release) -> bool:
    """Whether this very release is in the tables, rather than its line only."""
    plain = Release(_release(release).parts)
    return any(plain == line.release or plain in line.patches for line in known_release_lines())


def listed_ranges(release: str | Release, mode: Mode | None = None) -> Ranges:
    """What a node of that release lists by default; a bare line means its newest patch."""
    line = release_line(release)
    listed = line.listing_at(_release(release)).listed
    try:
        return listed[mode or line.main]
    except KeyError:
        raise UnknownReleaseError(
            f"Kafka {line.name} has no {mode} mode", hint=f"it has {', '.join(listed)}"
        ) from None


@cache
def accepted_ranges(release: str | Release, mode: Mode | None = None) -> Ranges:
    """What a node of that release answers, telemetry included; not the same as it lists.

    Without a mode, what brokers answer in any: KRaft came to some APIs later than ZooKeeper, and an
    upgrade does not change the mode."""
    line = release_line(release)
    modes = [mode] if mode else [it for it in _BROKERS if it in line.modes]
    ranges: dict[int, Range] = {}
    for each in modes:
        ranges |= listed_ranges(release, each)
    if mode is not Mode.CONTROLLER:
        ranges |= line.telemetry
    for key, gone in line.refused.items():
        if key in ranges:
            ranges[key] = Range(gone.high + 1, ranges[key].high)
    for key, more in line.unlisted.items():
        if key in ranges:
            ranges[key] = Range(more.low, ranges[key].high)
    return MappingProxyType(ranges)


def listed(release: str | Release, key: int, version: int, mode: Mode | None = None) -> bool:
    range_ = listed_ranges(release, mode).get(key)
    return range_ is not None and range_.has(version)


def accepts(release: str | Release, key: int, version: int, mode: Mode | None = None) -> bool:
    return acceptance(release, key, version, mode) is Acceptance.ACCEPTED


def acceptance(
    release: str | Release, key: int, version: int, mode: Mode | None = None
) -> Acceptance:
    range_ = accepted_ranges(release, mode).get(key)
    if range_ is None:
        was = first_line_listing(key)
        gone = was is not None and was.release < release_line(release).release
        return Acceptance.REMOVED if gone else Acceptance.NOT_YET
    if version < range_.low:
        return Acceptance.TOO_OLD
    return Acceptance.TOO_NEW if version > range_.high else Acceptance.ACCEPTED


def first_line_listing(key: int) -> ReleaseLine | None:
    """The line whose brokers first listed it; None for what only controllers list."""
    for line in known_release_lines():
        modes = line.listings[-1].listed
        if key in line.telemetry or any(key in modes.get(mode, ()) for mode in _BROKERS):
            return line
    return None


def is_deprecated(release: str | Release, key: int, version: int) -> bool:
    """Whether that patch release marks the version; the mark is no promise of a removal."""
    line = release_line(release)
    wanted = Release(_release(release).parts)
    patch = max(line.patches) if wanted == line.release else wanted
    marks: Mapping[int, Range] = {}
    for since, versions in deprecated_marks():
        if since <= patch:
            marks = versions
    return key in marks and marks[key].has(version)


@cache
def deprecated_marks() -> tuple[tuple[Release, Ranges], ...]:
    return build_marks(read_table(DEPRECATED)["marks"], known_release_lines(), known_apis())


def build_marks(
    rows: Sequence[Row], known: Sequence[ReleaseLine], apis: Mapping[int, Api]
) -> tuple[tuple[Release, Ranges], ...]:
    keys = {api.name: api.key for api in apis.values()}
    patches = {patch: line for line in known for patch in line.patches}
    built: list[tuple[Release, Ranges]] = []
    for row in rows:
        where = f"row {row.get('since')}"
        check_fields(DEPRECATED, where, row, needs={"since", "versions"}, may=set())
        since = Release.parse(row["since"])
        if since not in patches or (built and since <= built[-1][0]):
            complain(DEPRECATED, where, "is no later patch release", "keep known patches in order")
        there = patches[since].listing_at(since).listed[patches[since].main]
        marks = {}
        for api, pair in row["versions"].items():
            range_ = range_from(DEPRECATED, where, api, pair)
            if api not in keys or keys[api] not in there or not there[keys[api]].covers(range_):
                complain(DEPRECATED, where, f"marks {api} {pair}, not listed there", "correct it")
            if api == "ApiVersions":
                complain(DEPRECATED, where, "marks ApiVersions", "KIP-35: it is never deprecated")
            marks[keys[api]] = range_
        built.append((since, marks))
    return tuple(built)


_BROKERS = (Mode.ZOOKEEPER, Mode.KRAFT)


def _release(release: str | Release) -> Release:
    return release if isinstance(release, Release) else Release.parse(release)


def _unknown(release: Release) -> UnknownReleaseError:
    names = [line.name for line in known_release_lines()]
    if carried := apache_line(release):
        hint = f"that build carries Apache Kafka {carried}: name a release of that line"
    elif newest().release < release < Release((newest().release.parts[0] + 1, 1)):
        hint = f"the newest line known here is {names[-1]}; a newer rollcall may know it"
    elif near := [
        line.name for line in known_release_lines() if line.release.parts[0] == release.parts[0]
    ]:
        hint = f"did you mean one of {', '.join(near)}?"
    else:
        hint = f"known lines: {', '.join(names)}"
    return UnknownReleaseError(f"there is no release {release} in the catalog", hint=hint)
