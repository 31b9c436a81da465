"""The application behind a client id: the id with what varies between its instances taken out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rollcall.catalog.loader import Row, check_fields, complain, read_table

FILE = "applications.json"


@dataclass(frozen=True, slots=True)
class Rule:
    """Plain expressions, so that Spark and DuckDB can apply them as they are."""

    what: str
    find: str
    put: str


def application_of(client_id: str) -> str:
    for rule in application_rules():
        client_id = re.sub(rule.find, rule.put, client_id)
    return client_id


@cache
def application_rules() -> tuple[Rule, ...]:
    return build_rules(read_table(FILE)["rules"])


def build_rules(rows: Sequence[Row]) -> tuple[Rule, ...]:
    rules = []
    for row in rows:
        where = f"row {row.get('what')}"
        check_fields(FILE, where, row, needs={"what", "find", "put", "example"}, may=set())
        before, after = row["example"]
        try:
            found = re.sub(row["find"], row["put"], before)
        except re.error as error:
            complain(FILE, where, f"{row['find']!r}: {error}", "mend the expression")
        if found != after:
            complain(FILE, where, f"{before!r} becomes {found!r}, not {after!r}", "correct one")
        rules.append(Rule(row["what"], row["find"], row["put"]))
    return tuple(rules)
