"""Read the tables in data/ and report the file and row of an invalid entry.

Each module that owns a table has a pure `build_...` function from rows to values, which calls
`invalid_row` for a row that contradicts itself or another table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NoReturn

from rollcall.catalog.ranges import Range, Ranges
from rollcall.errors import RollcallError

Row = Mapping[str, Any]


class CatalogError(RollcallError):
    """An unknown name was looked up in the catalog, or one of its tables is invalid."""


class TableError(CatalogError):
    """A table of the catalog contradicts itself or another table."""


def read_table(file: str) -> dict[str, Any]:
    text = files("rollcall.catalog").joinpath("data", file).read_text(encoding="utf-8")
    try:
        table: dict[str, Any] = json.loads(text)
    except json.JSONDecodeError as error:
        invalid_row(file, f"line {error.lineno}", error.msg, "correct the JSON syntax")
    return table


def invalid_row(file: str, row: str, problem: str, hint: str) -> NoReturn:
    raise TableError(f"catalog/data/{file}, {row}: {problem}", hint=hint)


def check_fields(
    file: str, name: str, row: Row, *, required: set[str], optional: set[str] | None = None
) -> None:
    """Reject a row with a missing field or an unknown one (usually a misspelling)."""
    known = required | (optional or set())
    if missing := required - row.keys():
        invalid_row(file, name, f"lacks {', '.join(sorted(missing))}", "add the missing field")
    if unknown := row.keys() - known:
        invalid_row(
            file,
            name,
            f"has the unknown field {', '.join(sorted(unknown))}",
            f"use only the fields {', '.join(sorted(known))}",
        )


def parse_range(file: str, row: str, name: str, pair: Any) -> Range:
    match pair:
        case [int(low), int(high)] if 0 <= low <= high:
            return Range(low, high)
    invalid_row(file, row, f"{name} has the range {pair!r}", "give [lowest, highest], at least 0")


def parse_api(file: str, row: str, name: str, keys: Mapping[str, int]) -> int:
    """The key of an API name."""
    if name not in keys:
        invalid_row(
            file, row, f"there is no API {name}", "use a name of apis.json, or add it there"
        )
    return keys[name]


def parse_ranges(file: str, row: str, pairs: Mapping[str, Any], keys: Mapping[str, int]) -> Ranges:
    """Ranges by API key, from ranges by API name."""
    return {
        parse_api(file, row, name, keys): parse_range(file, row, name, pair)
        for name, pair in pairs.items()
    }
