"""The release lines, built from the changes between lines in data/releases.json.

The checks follow Kafka's own rules: a maximum version never decreases, an API is removed
explicitly, and each row covers every mode of its line. A mistyped row fails here with its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from types import MappingProxyType
from typing import Any, NoReturn

from rollcall.catalog.apis import Api, Mode, keys_by_name, known_apis
from rollcall.catalog.loader import (
    Row,
    check_fields,
    invalid_row,
    parse_api,
    parse_range,
    read_table,
)
from rollcall.catalog.ranges import Range, Ranges
from rollcall.catalog.releases.release import (
    ApiVersionsBehavior,
    Listing,
    Release,
    ReleaseLine,
)

FILE = "releases.json"

REQUIRED = {"line", "patches", "changes"}
OPTIONAL = {
    "api_versions",
    "default_mode",
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
    """Every release line in the catalog, oldest first."""
    return build_release_lines(read_table(FILE), known_apis())


def build_release_lines(table: Row, apis: Mapping[int, Api]) -> tuple[ReleaseLine, ...]:
    state = _State(keys_by_name(apis))
    lines = tuple(state.apply(row) for row in table["lines"])
    _check_metadata_versions(lines, table["metadata_versions"])
    _check_listeners(lines, apis)
    _check_every_api_is_listed(lines, apis)
    return lines


@dataclass
class _State:
    """The facts after the rows applied so far; everything but `unstable` carries over."""

    keys: Mapping[str, int]
    name: str = ""
    default_mode: Mode = Mode.ZOOKEEPER
    api_versions: ApiVersionsBehavior = ApiVersionsBehavior.ANSWERS
    listed: dict[Mode, dict[int, Range]] = field(default_factory=dict)
    refused: dict[int, Range] = field(default_factory=dict)
    unlisted: dict[int, Range] = field(default_factory=dict)
    telemetry: dict[int, Range] = field(default_factory=dict)
    features: dict[str, Range] = field(default_factory=dict)

    def apply(self, row: Row) -> ReleaseLine:
        previous, self.name = self.name, str(row.get("line"))
        check_fields(FILE, self.where, row, required=REQUIRED, optional=OPTIONAL)
        if previous and Release.parse(self.name) <= Release.parse(previous):
            self.invalid(f"follows line {previous}", "sort the lines, oldest first")
        self.default_mode = Mode(row.get("default_mode", self.default_mode))
        self.api_versions = ApiVersionsBehavior(row.get("api_versions", self.api_versions))
        patches = self.patches(row["patches"])
        listings = tuple(self.listings(row, patches))
        for kind in ("refused", "unlisted", "telemetry"):
            self.change(getattr(self, kind), row.get(kind, {}), kind)
        self.features |= {
            name: parse_range(FILE, self.where, name, pair)
            for name, pair in row.get("features", {}).items()
        }
        self.check_exceptions(listings[-1].ranges[self.default_mode])
        return ReleaseLine(
            name=self.name,
            default_mode=self.default_mode,
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

    def invalid(self, problem: str, hint: str) -> NoReturn:
        invalid_row(FILE, self.where, problem, hint)

    def patches(self, row: Mapping[str, str]) -> Mapping[Release, str]:
        patches = {Release.parse(patch): day for patch, day in row.items()}
        for patch, day in patches.items():
            if not patch.within(Release.parse(self.name)):
                self.invalid(f"has the patch release {patch}", "move it to its own line")
            try:
                date.fromisoformat(day)
            except ValueError:
                self.invalid(f"{patch} has the date {day!r}", "write it as 2026-01-31")
        if not patches or list(patches) != sorted(patches):
            self.invalid("its patch releases are not in order", "list them, oldest first")
        return MappingProxyType(patches)

    def listings(self, row: Row, patches: Mapping[Release, str]) -> Iterator[Listing]:
        self.end_modes(row.get("ends", []))
        self.check_modes(row)
        for mode, changes in row["changes"].items():
            self.change(self.listed.setdefault(Mode(mode), {}), changes, mode)
        yield self.listing(next(iter(patches)))
        for patch, modes in row.get("patch_changes", {}).items():
            if Release.parse(patch) not in list(patches)[1:]:
                self.invalid(f"changes {patch}, which is not a later patch", "name a later patch")
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
                self.invalid(f"ends the mode {mode}, which does not exist", "remove it from ends")

    def check_modes(self, row: Row) -> None:
        unchanged = {Mode(mode) for mode in row.get("unchanged", [])}
        changed = {Mode(mode) for mode in row["changes"]}
        if both := unchanged & changed:
            self.invalid(f"{', '.join(both)} is both changed and unchanged", "keep one of the two")
        if missing := self.listed.keys() - unchanged - changed:
            self.invalid(
                f"does not mention the mode {', '.join(sorted(missing))}",
                "add its changes, or name it in unchanged or ends",
            )
        if unknown := unchanged - self.listed.keys():
            self.invalid(
                f"{', '.join(unknown)} is unchanged but does not exist", "remove it from unchanged"
            )

    def change(self, ranges: dict[int, Range], changes: Mapping[str, Any], what: str) -> None:
        for api, pair in changes.items():
            key = parse_api(FILE, f"{self.where}, {what}", api, self.keys)
            before = ranges.pop(key, None)
            if pair is None:
                if before is None:
                    self.invalid(f"{what}: removes {api}, which does not exist", "remove the entry")
                continue
            after = parse_range(FILE, self.where, f"{what}: {api}", pair)
            if after == before:
                self.invalid(f"{what}: {api} is {pair} already", "list only what changes")
            if before and after.high < before.high:
                self.invalid(
                    f"{what}: {api} decreases from {before.high} to {after.high}",
                    "correct the range: no release removed its maximum version",
                )
            ranges[key] = after

    def check_exceptions(self, listed: Ranges) -> None:
        for key, range_ in self.refused.items():
            if key not in listed or not listed[key].covers(range_):
                self.invalid(f"refuses unlisted versions of key {key}", "correct refused")
        for key, range_ in self.unlisted.items():
            if key not in listed or range_.overlap(listed[key]):
                self.invalid(
                    f"lists versions of key {key} that are in unlisted", "correct unlisted"
                )
        if always := self.telemetry.keys() & listed.keys():
            self.invalid(f"always lists the telemetry keys {sorted(always)}", "list them once")

    def unstable(self, row: Row) -> Mapping[Mode, Ranges]:
        unstable: dict[Mode, Ranges] = {}
        for mode, changes in row.items():
            ranges = dict(self.listed[Mode(mode)])
            self.change(ranges, changes, f"unstable {mode}")
            unstable[Mode(mode)] = _frozen(
                {self.keys[api]: ranges[self.keys[api]] for api in changes}
            )
        return MappingProxyType(unstable)


def _frozen(ranges: Mapping[int, Range]) -> Ranges:
    return MappingProxyType(dict(sorted(ranges.items())))


def _check_metadata_versions(lines: tuple[ReleaseLine, ...], names: Mapping[str, str]) -> None:
    """The maximum metadata.version of a line must have a name such as 3.9-IV0."""
    for line in lines:
        if (supported := line.metadata_version) is None:
            continue
        name = names.get(str(supported.high), "unknown")
        if name.partition("-")[0] != line.name:
            invalid_row(
                FILE,
                f"line {line.name}",
                f"supports metadata.version {supported.high}, which is {name}",
                "correct features, or add the level to metadata_versions",
            )


def _check_listeners(lines: tuple[ReleaseLine, ...], apis: Mapping[int, Api]) -> None:
    """The newest line and apis.json must agree on the modes that list an API."""
    newest = lines[-1]
    for mode, ranges in newest.ranges.items():
        for key in ranges:
            if mode not in apis[key].listeners:
                invalid_row(
                    FILE,
                    f"line {newest.name}",
                    f"{mode} lists {apis[key].name}, which contradicts apis.json",
                    "correct its listeners in apis.json, or the changes of the line",
                )


def _check_every_api_is_listed(lines: tuple[ReleaseLine, ...], apis: Mapping[int, Api]) -> None:
    listed = {
        key
        for line in lines
        for ranges in (*line.listings[0].ranges.values(), line.telemetry, *line.unstable.values())
        for key in ranges
    }
    if never := apis.keys() - listed:
        invalid_row(
            "apis.json", f"row {min(never)}", "no line of releases.json has it", "add it to a line"
        )
