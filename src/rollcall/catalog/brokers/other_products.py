"""Brokers that speak Kafka's protocol and are not Apache Kafka, told by their signs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from rollcall.catalog.apis import Api, known_apis
from rollcall.catalog.loader import Row, check_fields, complain, range_from, read_table
from rollcall.catalog.ranges import Range, Ranges

FILE = "other_products.json"


@dataclass(frozen=True, slots=True)
class Signs:
    """All of them must hold."""

    lists: Ranges = field(default_factory=dict)
    lowest: Mapping[int, int] = field(default_factory=dict)
    lacks: frozenset[int] = frozenset()
    keys: frozenset[int] = frozenset()
    any_key: tuple[Range, ...] = ()
    feature: str | None = None
    no_features: bool = False

    def hold(self, ranges: Ranges, features: Mapping[str, Range]) -> bool:
        return (
            all(ranges.get(key) == range_ for key, range_ in self.lists.items())
            and all(key in ranges and ranges[key].low == low for key, low in self.lowest.items())
            and not self.lacks & ranges.keys()
            and (not self.keys or self.keys == ranges.keys())
            and (not self.any_key or any(b.has(key) for b in self.any_key for key in ranges))
            and (self.feature is None or self.feature in features)
            and not (self.no_features and features)
        )


@dataclass(frozen=True, slots=True)
class VersionHint:
    lists: Ranges
    since: str | None
    until: str | None


@dataclass(frozen=True, slots=True)
class OtherBroker:
    name: str
    one_of: tuple[Signs, ...]
    versions: tuple[VersionHint, ...]


@dataclass(frozen=True, slots=True)
class OtherProduct:
    """A broker whose signs fit, with what its ranges say about its version."""

    name: str
    since: str | None = None
    until: str | None = None


def recognise(ranges: Ranges, features: Mapping[str, Range]) -> tuple[OtherProduct, ...]:
    return tuple(
        _candidate(broker, ranges)
        for broker in other_brokers()
        if any(signs.hold(ranges, features) for signs in broker.one_of)
    )


@cache
def other_brokers() -> tuple[OtherBroker, ...]:
    return build_brokers(read_table(FILE)["brokers"], known_apis())


def build_brokers(rows: Sequence[Row], apis: Mapping[int, Api]) -> tuple[OtherBroker, ...]:
    keys = {api.name: api.key for api in apis.values()}
    built: list[OtherBroker] = []
    for row in rows:
        where = f"row {row.get('name')}"
        check_fields(FILE, where, row, needs={"name", "one_of", "versions"}, may=set())
        if row["name"] in {broker.name for broker in built}:
            complain(FILE, where, "is there twice", "keep one row per broker")
        signs = tuple(_signs(where, part, keys) for part in row["one_of"])
        if not signs or any(part == Signs() for part in signs):
            complain(FILE, where, "a set of signs is empty and fits any broker", "give its signs")
        hints = tuple(
            VersionHint(_ranges(where, hint["lists"], keys), hint.get("since"), hint.get("until"))
            for hint in row["versions"]
        )
        built.append(OtherBroker(row["name"], signs, hints))
    return tuple(built)


def _signs(where: str, row: Row, keys: Mapping[str, int]) -> Signs:
    check_fields(FILE, where, row, needs=set(), may=set(Signs.__dataclass_fields__))
    return Signs(
        lists=_ranges(where, row.get("lists", {}), keys),
        lowest={_key(where, api, keys): low for api, low in row.get("lowest", {}).items()},
        lacks=frozenset(_key(where, api, keys) for api in row.get("lacks", [])),
        keys=frozenset(row.get("keys", [])),
        any_key=tuple(range_from(FILE, where, "any_key", pair) for pair in row.get("any_key", [])),
        feature=row.get("feature"),
        no_features=row.get("no_features", False),
    )


def _ranges(where: str, row: Mapping[str, object], keys: Mapping[str, int]) -> Ranges:
    return {_key(where, api, keys): range_from(FILE, where, api, pair) for api, pair in row.items()}


def _key(where: str, api: str, keys: Mapping[str, int]) -> int:
    if api not in keys:
        complain(FILE, where, f"there is no API {api}", "use a name of apis.json")
    return keys[api]


def _candidate(broker: OtherBroker, ranges: Ranges) -> OtherProduct:
    fitting = [
        hint
        for hint in broker.versions
        if all(ranges.get(key) == range_ for key, range_ in hint.lists.items())
    ]
    since = [_number(hint.since) for hint in fitting if hint.since]
    until = [_number(hint.until) for hint in fitting if hint.until]
    return OtherProduct(
        broker.name,
        since=_text(max(since)) if since else None,
        until=_text(min(until)) if until else None,
    )


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
