"""What a compaction adds up once, for all who ask later: sums of `usage`, and nothing that is new.

A report on three months would read every hour of every broker and client; the totals hold as much
of it as reports ask for, in a hundredth of the rows. They belong to the `usage` of the same
manifest. A manifest may have none (a batch; a compaction by an older rollcall): who reads makes
them of its `usage` then, by the same query.
"""

from __future__ import annotations

from collections.abc import Mapping

from rollcall.tables.columns import (
    COUNT,
    HOUR,
    NUMBER,
    REQUESTS,
    SEEN,
    TABLES,
    TIME,
    USAGE,
    WHERE,
    WHO,
    Column,
    Merge,
    Table,
    key,
)
from rollcall.tables.views import Engine

_USAGE = {column.name: column for column in USAGE.columns}

BROKER_HOURS = Table(
    "broker_hours",
    "Per hour and broker: how much was heard.",
    (
        HOUR,
        *WHERE,
        REQUESTS,
        Column("replica_requests", COUNT, Merge.SUM, "those of brokers among themselves"),
        Column("forwarded_requests", COUNT, Merge.SUM, "those that were passed on, of the others"),
        *(_USAGE[name] for name in ("deprecated", "hours", "forms")),
        *SEEN,
    ),
)

CLIENT_MONTHS = Table(
    "client_months",
    "Per month and client, without replica traffic and forwarded requests: what it used.",
    (
        key("month", TIME, "the month it begins"),
        WHERE[0],
        *WHO,
        *(_USAGE[name] for name in ("api_key", "api_version")),
        REQUESTS,
        *(_USAGE[name] for name in ("answered", "errors", "unsupported", "throttled")),
        Column("per_hour", "DOUBLE", Merge.MAX, "most requests an hour at one broker"),
        *SEEN,
        Column("days", NUMBER, Merge.BITS, "days of the month with a request; bit 0 is the 1st"),
    ),
)

TOTALS: Mapping[str, Table] = {table.name: table for table in (BROKER_HOURS, CLIENT_MONTHS)}
STORED: Mapping[str, Table] = {**TABLES, **TOTALS}
"""All that may have parts."""

MADE_OF = {
    "month": "date_trunc('month', hour)",
    "replica_requests": "CASE WHEN replica THEN requests ELSE 0 END",
    "forwarded_requests": "CASE WHEN forwarded AND NOT replica THEN requests ELSE 0 END",
    "per_hour": "requests / greatest(bit_count(hours), 1)",
    "days": "CAST(1 AS INT) << (day(hour) - 1)",
}
ONLY = {BROKER_HOURS.name: "true", CLIENT_MONTHS.name: "NOT forwarded AND NOT replica"}


def total(table: Table, usage: str, engine: Engine = Engine.DUCKDB) -> str:
    """The query that makes totals of rows of `usage`.

    In DuckDB, grouping by one number is several times as fast as by many columns; with 64 bits,
    a million groups share one with a chance of 1 in 30 million."""
    keys = ", ".join(MADE_OF.get(name, name) for name in table.keys)
    columns = ",\n  ".join(_column(column, engine) for column in table.columns)
    group = f"hash({keys})" if engine is Engine.DUCKDB else keys
    return f"SELECT\n  {columns}\nFROM {usage}\nWHERE {ONLY[table.name]}\nGROUP BY {group}"


def _column(column: Column, engine: Engine) -> str:
    made_of = MADE_OF.get(column.name, column.name)
    match column.merge:
        case Merge.KEY:
            made = f"any_value({made_of})" if engine is Engine.DUCKDB else made_of
        case Merge.SUM:
            made = f"CAST(sum({made_of}) AS BIGINT)"
        case merge:
            made = f"{merge}({made_of})"
    return f"{made} AS {column.name}"
