"""Reading the tables, and saying which file and which row is wrong.

A module that owns a table has a pure function from rows to values; it calls `complain` for
a row that cannot be right. So a test can hand it a spoilt table and see the check fire.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NoReturn

from rollcall.catalog.ranges import Range
from rollcall.errors import RollcallError

Row = Mapping[str, Any]


class CatalogError(RollcallError):
    """The catalog was asked for what it does not know, or its tables contradict themselves."""


class TableError(CatalogError):
    """A table of the catalog contradicts itself or another one."""


def read_table(file: str) -> dict[str, Any]:
    text = files("rollcall.catalog").joinpath("data", file).read_text(encoding="utf-8")
    try:
        table: dict[str, Any] = json.loads(text)
    except json.JSONDecodeError as error:
        complain(file, f"line {error.lineno}", error.msg, "mend the JSON")
    return table


def complain(file: str, row: str, what: str, do: str) -> NoReturn:
    raise TableError(f"catalog/data/{file}, {row}: {what}", hint=do)


def check_fields(file: str, name: str, row: Row, *, needs: set[str], may: set[str]) -> None:
    """A row has the fields it needs and none that nobody reads (a typo looks like that)."""
    if missing := needs - row.keys():
        complain(file, name, f"lacks {', '.join(sorted(missing))}", "add what is missing")
    if extra := row.keys() - needs - may:
        complain(
            file,
            name,
            f"has the unknown field {', '.join(sorted(extra))}",
            f"the fields are {', '.join(sorted(needs | may))}",
        )


def range_from(file: str, row: str, api: str, pair: Any) -> Range:
    match pair:
        case [int(low), int(high)] if 0 <= low <= high:
            return Range(low, high)
    complain(file, row, f"{api} has the range {pair!r}", "give [lowest, highest], from 0 on")
