"""Application names: client ids without the parts that vary between instances."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rollcall.catalog.loader import Row, check_fields, invalid_row, read_table

FILE = "applications.json"


@dataclass(frozen=True, slots=True)
class ApplicationRule:
    """A regular expression that Python, Java and RE2 read alike, so that DuckDB can apply it."""

    name: str
    pattern: str
    replacement: str


def application_of(client_id: str) -> str:
    """The application name of a client id."""
    for rule in application_rules():
        client_id = re.sub(rule.pattern, rule.replacement, client_id)
    return client_id


@cache
def application_rules() -> tuple[ApplicationRule, ...]:
    return build_rules(read_table(FILE)["rules"])


def build_rules(rows: Sequence[Row]) -> tuple[ApplicationRule, ...]:
    rules = []
    for row in rows:
        where = f"row {row.get('name')}"
        check_fields(FILE, where, row, required={"name", "pattern", "replacement", "example"})
        before, after = row["example"]
        try:
            found = re.sub(row["pattern"], row["replacement"], before)
        except re.error as error:
            invalid_row(FILE, where, f"{row['pattern']!r}: {error}", "correct the expression")
        if found != after:
            problem = f"{before!r} becomes {found!r}, not {after!r}"
            invalid_row(FILE, where, problem, "correct the pattern or the example")
        rules.append(ApplicationRule(row["name"], row["pattern"], row["replacement"]))
    return tuple(rules)
