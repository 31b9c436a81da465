"""Products that implement the Kafka protocol but are not Apache Kafka, and their fingerprints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from rollcall.catalog.apis import Api, keys_by_name, known_apis
from rollcall.catalog.loader import (
    Row,
    check_fields,
    invalid_row,
    parse_api,
    parse_range,
    parse_ranges,
    read_table,
)
from rollcall.catalog.ranges import Range, Ranges
from rollcall.catalog.releases.release import Release

FILE = "other_products.json"


@dataclass(frozen=True, slots=True)
class ProductFingerprint:
    """Conditions on an ApiVersions response, all of which must hold."""

    lists: Ranges = field(default_factory=dict)
    """Exactly these ranges."""
    minimums: Mapping[int, int] = field(default_factory=dict)
    """These minimum versions."""
    lacks: frozenset[int] = frozenset()
    keys: frozenset[int] = frozenset()
    """Exactly these API keys."""
    any_key: tuple[Range, ...] = ()
    """At least one API key in one of these ranges."""
    feature: str | None = None
    """This supported feature."""
    no_features: bool = False

    def matches(self, ranges: Ranges, features: Mapping[str, Range]) -> bool:
        return (
            all(ranges.get(key) == range_ for key, range_ in self.lists.items())
            and all(key in ranges and ranges[key].low == low for key, low in self.minimums.items())
            and not self.lacks & ranges.keys()
            and (not self.keys or self.keys == ranges.keys())
            and (not self.any_key or any(r.has(key) for r in self.any_key for key in ranges))
            and (self.feature is None or self.feature in features)
            and not (self.no_features and features)
        )


@dataclass(frozen=True, slots=True)
class VersionHint:
    """The versions of a product that list these ranges."""

    lists: Ranges
    since: Release | None
    until: Release | None


@dataclass(frozen=True, slots=True)
class ProductRow:
    name: str
    fingerprints: tuple[ProductFingerprint, ...]
    """Any of them identifies the product."""
    versions: tuple[VersionHint, ...]


@dataclass(frozen=True, slots=True)
class OtherProduct:
    """A product whose fingerprint matches, with the version range its API ranges imply."""

    name: str
    since: str | None = None
    until: str | None = None


def identify_other_products(
    ranges: Ranges, features: Mapping[str, Range]
) -> tuple[OtherProduct, ...]:
    return tuple(
        _with_versions(product, ranges)
        for product in known_products()
        if any(fingerprint.matches(ranges, features) for fingerprint in product.fingerprints)
    )


def _with_versions(product: ProductRow, ranges: Ranges) -> OtherProduct:
    hints = [
        hint
        for hint in product.versions
        if all(ranges.get(key) == range_ for key, range_ in hint.lists.items())
    ]
    since = max((hint.since for hint in hints if hint.since), default=None)
    until = min((hint.until for hint in hints if hint.until), default=None)
    return OtherProduct(
        product.name, since=str(since) if since else None, until=str(until) if until else None
    )


@cache
def known_products() -> tuple[ProductRow, ...]:
    return build_products(read_table(FILE)["products"], known_apis())


def build_products(rows: Sequence[Row], apis: Mapping[int, Api]) -> tuple[ProductRow, ...]:
    keys = keys_by_name(apis)
    products: list[ProductRow] = []
    for row in rows:
        where = f"row {row.get('name')}"
        check_fields(FILE, where, row, required={"name", "fingerprints", "versions"})
        if row["name"] in {product.name for product in products}:
            invalid_row(FILE, where, "duplicate name", "keep one row per product")
        fingerprints = tuple(_fingerprint(where, part, keys) for part in row["fingerprints"])
        if not fingerprints or any(part == ProductFingerprint() for part in fingerprints):
            invalid_row(FILE, where, "an empty fingerprint matches any broker", "add a condition")
        versions = tuple(
            VersionHint(
                parse_ranges(FILE, where, hint["lists"], keys),
                since=Release.parse(hint["since"]) if "since" in hint else None,
                until=Release.parse(hint["until"]) if "until" in hint else None,
            )
            for hint in row["versions"]
        )
        products.append(ProductRow(row["name"], fingerprints, versions))
    return tuple(products)


def _fingerprint(where: str, row: Row, keys: Mapping[str, int]) -> ProductFingerprint:
    fields = set(ProductFingerprint.__dataclass_fields__)
    check_fields(FILE, where, row, required=set(), optional=fields)
    return ProductFingerprint(
        lists=parse_ranges(FILE, where, row.get("lists", {}), keys),
        minimums={
            parse_api(FILE, where, api, keys): low for api, low in row.get("minimums", {}).items()
        },
        lacks=frozenset(parse_api(FILE, where, api, keys) for api in row.get("lacks", [])),
        keys=frozenset(row.get("keys", [])),
        any_key=tuple(parse_range(FILE, where, "any_key", pair) for pair in row.get("any_key", [])),
        feature=row.get("feature"),
        no_features=row.get("no_features", False),
    )
