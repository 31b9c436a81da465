"""From the rows of releases.json to lines: adding up what each line changes.

Kafka's own habits are the checks: a range is never cut at its upper end, an API that goes
away is taken away on purpose, and no mode of a line is forgotten. So a row that was typed
in haste fails here, with its name, and not as a wrong verdict later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from types import MappingProxyType
from typing import Any

from rollcall.catalog.apis import Api, Mode, known_apis
from rollcall.catalog.loader import Row, check_fields, complain, range_from, read_table
from rollcall.catalog.ranges import Range, Ranges
from rollcall.catalog.releases.release import Asked, Listing, Release, ReleaseLine

FILE = "releases.json"

NEEDS = {"line", "patches", "changes"}
MAY = {
    "api_versions",
    "main",
    "ends",
    "unchanged",
    "patch_changes",
    "refused",
    "unlisted",
    "telemetry",
    "unstable",
    "features",
}


@cache
def known_release_lines() -> tuple[ReleaseLine, ...]:
    """Every line that the catalog knows, oldest first."""
    return build_lines(read_table(FILE), known_apis())


@cache
def metadata_versions() -> Mapping[int, str]:
    """The levels of the feature metadata.version, each with its name such as 3.9-IV0."""
    return {int(level): name for level, name in read_table(FILE)["metadata_versions"].items()}


def build_lines(table: Row, apis: Mapping[int, Api]) -> tuple[ReleaseLine, ...]:
    sums = _Sums({api.name: api.key for api in apis.values()})
    built = tuple(sums.add(row) for row in table["lines"])
    _check_levels(built, table["metadata_versions"])
    _check_listeners(built, apis)
    return built


@dataclass
class _Sums:
    """What holds after the rows so far; all but `unstable` carries over to the next line."""

    keys: Mapping[str, int]
    name: str = ""
    main: Mode = Mode.ZOOKEEPER
    api_versions: Asked = Asked.ANSWERS
    listed: dict[Mode, dict[int, Range]] = field(default_factory=dict)
    refused: dict[int, Range] = field(default_factory=dict)
    unlisted: dict[int, Range] = field(default_factory=dict)
    telemetry: dict[int, Range] = field(default_factory=dict)
    features: dict[str, Range] = field(default_factory=dict)

    def add(self, row: Row) -> ReleaseLine:
        before, self.name = self.name, str(row.get("line"))
        check_fields(FILE, self.where, row, needs=NEEDS, may=MAY)
        if before and Release.parse(self.name) <= Release.parse(before):
            self.complain(f"comes after line {before}", "keep the lines in order, oldest first")
        self.main = Mode(row.get("main", self.main))
        self.api_versions = Asked(row.get("api_versions", self.api_versions))
        patches = self.patches(row["patches"])
        listings = tuple(self.listings(row, patches))
        for kind in ("refused", "unlisted", "telemetry"):
            self.change(getattr(self, kind), row.get(kind, {}), kind)
        self.features |= {
            name: range_from(FILE, self.where, name, pair)
            for name, pair in row.get("features", {}).items()
        }
        self.check_exceptions(listings[-1].listed[self.main])
        return ReleaseLine(
            name=self.name,
            main=self.main,
            api_versions=self.api_versions,
            patches=patches,
            listings=listings,
            refused=_frozen(self.refused),
            unlisted=_frozen(self.unlisted),
            telemetry=_frozen(self.telemetry),
            unstable=self.unstable(row.get("unstable", {})),
            features=MappingProxyType(dict(self.features)),
        )

    @property
    def where(self) -> str:
        return f"line {self.name}"

    def complain(self, what: str, do: str) -> None:
        complain(FILE, self.where, what, do)

    def patches(self, row: Mapping[str, str]) -> Mapping[Release, str]:
        patches = {Release.parse(patch): day for patch, day in row.items()}
        for patch, day in patches.items():
            if not patch.within(Release.parse(self.name)):
                self.complain(f"holds the patch release {patch}", "move it to its own line")
            try:
                date.fromisoformat(day)
            except ValueError:
                self.complain(f"{patch} has the date {day!r}", "give it as 2026-01-31")
        if not patches or list(patches) != sorted(patches):
            self.complain("its patch releases are not in order", "list them, oldest first")
        return MappingProxyType(patches)

    def listings(self, row: Row, patches: Mapping[Release, str]) -> Iterator[Listing]:
        self.end_modes(row.get("ends", []))
        self.check_modes(row)
        for mode, changes in row["changes"].items():
            self.change(self.listed.setdefault(Mode(mode), {}), changes, mode)
        yield self.listing(next(iter(patches)))
        for patch, modes in row.get("patch_changes", {}).items():
            if Release.parse(patch) not in list(patches)[1:]:
                self.complain(
                    f"changes {patch}, which is no later patch", "name one of its patches"
                )
            for mode, changes in modes.items():
                self.change(self.listed[Mode(mode)], changes, f"{patch} {mode}")
            yield self.listing(Release.parse(patch))

    def listing(self, since: Release) -> Listing:
        modes = sorted(self.listed, key=list(Mode).index)
        return Listing(
            since, MappingProxyType({mode: _frozen(self.listed[mode]) for mode in modes})
        )

    def end_modes(self, ends: list[str]) -> None:
        for mode in ends:
            if self.listed.pop(Mode(mode), None) is None:
                self.complain(f"ends the mode {mode}, which was not there", "leave it out")

    def check_modes(self, row: Row) -> None:
        unchanged = {Mode(mode) for mode in row.get("unchanged", [])}
        changed = {Mode(mode) for mode in row["changes"]}
        if both := unchanged & changed:
            self.complain(f"{', '.join(both)} is both changed and unchanged", "keep one of the two")
        if forgotten := self.listed.keys() - unchanged - changed:
            self.complain(
                f"says nothing of the mode {', '.join(sorted(forgotten))}",
                "give its changes, or name it in unchanged or ends",
            )
        if stray := unchanged - self.listed.keys():
            self.complain(f"{', '.join(stray)} is unchanged and not there", "leave it out")

    def change(self, ranges: dict[int, Range], changes: Mapping[str, Any], what: str) -> None:
        for api, pair in changes.items():
            key = self.keys.get(api)
            if key is None:
                complain(FILE, self.where, f"{what}: there is no API {api}", "add it to apis.json")
            before = ranges.pop(key, None)
            if pair is None:
                if before is None:
                    self.complain(f"{what}: takes away {api}, which was not there", "leave it out")
                continue
            after = range_from(FILE, self.where, f"{what}: {api}", pair)
            if after == before:
                self.complain(f"{what}: {api} is {pair} already", "leave out what does not change")
            if before and after.high < before.high:
                self.complain(
                    f"{what}: {api} falls from {before.high} to {after.high}",
                    "no release took away its highest version: look again",
                )
            ranges[key] = after

    def check_exceptions(self, listed: Ranges) -> None:
        for key, range_ in self.refused.items():
            if key not in listed or not listed[key].covers(range_):
                self.complain(f"refuses versions of key {key} it does not list", "correct refused")
        for key, range_ in self.unlisted.items():
            if key not in listed or range_.overlap(listed[key]):
                self.complain(f"lists unlisted versions of key {key}", "correct unlisted")
        if stray := self.telemetry.keys() & listed.keys():
            self.complain(f"lists the telemetry keys {sorted(stray)} always", "keep them apart")

    def unstable(self, row: Row) -> Mapping[Mode, Ranges]:
        unstable: dict[Mode, Ranges] = {}
        for mode, changes in row.items():
            beyond = dict(self.listed[Mode(mode)])
            self.change(beyond, changes, f"unstable {mode}")
            unstable[Mode(mode)] = _frozen(
                {self.keys[api]: beyond[self.keys[api]] for api in changes}
            )
        return MappingProxyType(unstable)


def _frozen(ranges: Mapping[int, Range]) -> Ranges:
    return MappingProxyType(dict(sorted(ranges.items())))


def _check_levels(lines: tuple[ReleaseLine, ...], levels: Mapping[str, str]) -> None:
    """The highest metadata.version of a line is a level that is named after it."""
    for line in lines:
        if (range_ := line.features.get("metadata.version")) is None:
            continue
        name = levels.get(str(range_.high))
        if name is None or name.partition("-")[0] != line.name:
            complain(
                FILE,
                f"line {line.name}",
                f"supports metadata.version {range_.high}, which is {name or 'no level'}",
                "correct features, or add the level to metadata_versions",
            )


def _check_listeners(lines: tuple[ReleaseLine, ...], apis: Mapping[int, Api]) -> None:
    """apis.json and the newest line agree on who answers what; every API is listed somewhere."""
    newest = lines[-1]
    for mode, ranges in newest.listings[-1].listed.items():
        for key in ranges:
            if mode not in apis[key].listeners:
                complain(
                    FILE,
                    f"line {newest.name}",
                    f"{mode} lists {apis[key].name}, which apis.json does not say",
                    "correct the listeners there, or the changes here",
                )
    ever = {
        key
        for line in lines
        for ranges in (*line.listings[0].listed.values(), line.telemetry, *line.unstable.values())
        for key in ranges
    }
    if never := apis.keys() - ever:
        complain(
            "apis.json",
            f"row {min(never)}",
            "no line of releases.json has it",
            "add it to its line",
        )
