"""Filters of a report: time window, cluster, principal, client id and software name.

A name may contain `*` (any text) and `?` (any character). All other characters are literal: a
principal may be `User:CN=Doe\\, John` and a client id `loader[eu]`, so the glob syntax of DuckDB
and Python, in which brackets and backslashes are special, does not fit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import SequenceMatcher
from functools import cache
from typing import TYPE_CHECKING

from rollcall.errors import ConfigError
from rollcall.tables.views import text

if TYPE_CHECKING:
    from rollcall.reports.query.database import Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a report is restricted to; None means no restriction.

    Times without a zone are UTC. Names may contain `*` and `?`."""

    since: datetime | None = None
    until: datetime | None = None
    cluster: str | None = None
    principal: str | None = None
    client_id: str | None = None
    software: str | None = None
    raw_ids: bool = False
    """List client ids instead of applications."""

    def __post_init__(self) -> None:
        if self.since and self.until and in_utc(self.since) >= in_utc(self.until):
            raise ConfigError(
                f"the window ends at {self.until}, before its start at {self.since}",
                hint="give --since a time before --until",
            )


NO_FILTERS = Filters()


def in_utc(time: datetime) -> datetime:
    """The time in UTC without a zone, as stored in the tables."""
    return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time


WILDCARDS = {"*": "%", "?": "_"}
"""Each wildcard with its equivalent in SQL's LIKE."""
ESCAPE = "~"


def like(column: str, pattern: str) -> str:
    """SQL condition that a column matches a pattern."""
    parts = (WILDCARDS.get(c) or (f"{ESCAPE}{c}" if c in f"%_{ESCAPE}" else c) for c in pattern)
    return f"{column} LIKE {text(''.join(parts))} ESCAPE {text(ESCAPE)}"


def matches(name: str, pattern: str) -> bool:
    return _compiled(pattern).fullmatch(name) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = ({"*": ".*", "?": "."}.get(c) or re.escape(c) for c in pattern)
    return re.compile("".join(parts), re.DOTALL)


NAMES_SHOWN = 5
NAMES_COMPARED = 2000
CLUSTERS = "SELECT DISTINCT cluster FROM {brokers} UNION SELECT DISTINCT cluster FROM {files}"
NAMES = "SELECT DISTINCT {column} FROM identities WHERE {column} IS NOT NULL ORDER BY 1"
MATCH = "SELECT 1 FROM identities WHERE {condition} LIMIT 1"
COLUMNS = {"principal": "principal", "client_id": "client_id", "software": "software_name"}
LABELS = {"principal": "principal", "client_id": "client id", "software": "software name"}


class UnknownNameError(ConfigError):
    """A filter that matches nothing in the tables."""


def check_cluster(reader: Reader) -> None:
    """Raise UnknownNameError for a cluster that is not in the tables."""
    wanted = reader.filters.cluster
    if wanted is None:
        return
    tables = {name: reader.table(name) for name in ("brokers", "files")}
    known = [row[0] for row in reader.rows(CLUSTERS.format(**tables))]
    if known and wanted not in known:
        names = [name for name in known if name is not None]
        raise _unknown_name("cluster", wanted, names, "in the tables")


def check_names(reader: Reader) -> None:
    """Raise UnknownNameError for a name that no client in the window matches.

    A window without any client raises nothing."""
    for field, column in COLUMNS.items():
        wanted = getattr(reader.filters, field)
        if wanted is None or reader.rows(MATCH.format(condition=like(column, wanted))):
            continue
        if known := [row[0] for row in reader.rows(NAMES.format(column=column))]:
            raise _unknown_name(LABELS[field], wanted, known, "in this window")


def _unknown_name(label: str, wanted: str, known: Sequence[str], where: str) -> UnknownNameError:
    message = f"there is no {label} {wanted!r} {where}"
    if not known:
        hint = "read the logs with `rollcall pipeline run --cluster NAME` to name their cluster"
        return UnknownNameError(message, hint=hint)
    nearest = sorted(known[:NAMES_COMPARED], key=lambda name: (-_similarity(name, wanted), name))
    more = f" and {len(known) - NAMES_SHOWN} more" if len(known) > NAMES_SHOWN else ""
    return UnknownNameError(
        message, hint=f"use a known name: {', '.join(nearest[:NAMES_SHOWN])}{more}"
    )


def _similarity(name: str, wanted: str) -> float:
    return SequenceMatcher(None, name.lower(), wanted.lower().strip("*?")).ratio()
