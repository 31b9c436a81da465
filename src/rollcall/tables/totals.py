"""What a compaction adds up once, for all who ask later: sums of the tables, nothing that is new.

A report on three months would read every hour of every broker and client; the totals hold as much
of it as reports ask for, in a hundredth of the rows. They belong to the tables of the same
manifest. A manifest may have none (a batch; a compaction by an older rollcall): who reads makes
them of its tables then, by the same query.
"""

from __future__ import annotations

from collections.abc import Mapping

from rollcall.tables.columns import (
    BROKERS,
    CONNECTION_HOURS,
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
_HOURS = {column.name: column for column in CONNECTION_HOURS.columns}
_BROKERS = {column.name: column for column in BROKERS.columns}
_MONTH = key("month", TIME, "start of the month")
_PEAK = "STRUCT<per_hour: DOUBLE, broker: STRING>"
_USED = (
    WHERE[0],
    *WHO,
    *(_USAGE[name] for name in ("api_key", "api_version")),
    REQUESTS,
    *(_USAGE[name] for name in ("answered", "errors", "unsupported", "throttled")),
    Column("peak", _PEAK, Merge.MAX, "highest requests per hour at one broker, and the broker"),
    *SEEN,
)

BROKER_HOURS = Table(
    "broker_hours",
    "Observed requests per hour and broker.",
    (
        HOUR,
        *WHERE,
        REQUESTS,
        Column("replica_requests", COUNT, Merge.SUM, "requests between brokers"),
        Column("forwarded_requests", COUNT, Merge.SUM, "forwarded requests"),
        *(_USAGE[name] for name in ("deprecated", "hours", "forms")),
        *SEEN,
    ),
)

DAY_USAGE = Table(
    "day_usage",
    "API versions used per day and client, without inter-broker and forwarded requests.",
    (key("day", TIME, "start of the day"), *_USED),
)

MONTH_USAGE = Table(
    "month_usage",
    "API versions used per month and client, without inter-broker and forwarded requests.",
    (
        _MONTH,
        *_USED,
        Column("days", NUMBER, Merge.BITS, "days of the month with a request; bit 0 is the 1st"),
    ),
)

MONTH_CONNECTIONS = Table(
    "month_connections",
    "Connections that ended more than 48 hours ago, counted per month and client.",
    (
        _MONTH,
        WHERE[0],
        *(column for column in WHO if column.name not in ("listener", "software_version")),
        *(_HOURS[name] for name in ("opened", "seen_once")),
        Column("peak", _PEAK, Merge.MAX, "most opened per hour, and the broker"),
        Column("once_per_hour", "DOUBLE", Merge.MAX, "most with one request per hour"),
        *SEEN,
    ),
)

BROKER_LISTS = Table(
    "broker_lists",
    "Version ranges that a broker reported, with the first and last time.",
    (
        *WHERE,
        *(_BROKERS[name] for name in ("source", "listener", "node_id", "host", "port", "ranges")),
        *SEEN,
    ),
)

TOTALS: Mapping[str, Table] = {
    table.name: table
    for table in (BROKER_HOURS, DAY_USAGE, MONTH_USAGE, MONTH_CONNECTIONS, BROKER_LISTS)
}
SOURCES: Mapping[str, Table] = {
    BROKER_HOURS.name: USAGE,
    DAY_USAGE.name: USAGE,
    MONTH_USAGE.name: USAGE,
    MONTH_CONNECTIONS.name: CONNECTION_HOURS,
    BROKER_LISTS.name: BROKERS,
}
"""The table that each is made of."""
STORED: Mapping[str, Table] = {**TABLES, **TOTALS}
"""All that may have parts."""

_RATE = "requests / greatest(bit_count(hours), 1)"
_OF_CLIENTS = "NOT forwarded AND NOT replica"
MADE_OF: Mapping[str, str] = {
    "day": "date_trunc('day', hour)",
    "month": "date_trunc('month', hour)",
    "replica_requests": "CASE WHEN replica THEN requests ELSE 0 END",
    "forwarded_requests": "CASE WHEN forwarded AND NOT replica THEN requests ELSE 0 END",
    "days": "CAST(1 AS INT) << (day(hour) - 1)",
    "once_per_hour": "CAST(most_seen_once AS DOUBLE)",
}
PEAKS = {USAGE.name: _RATE, CONNECTION_HOURS.name: "CAST(most_opened AS DOUBLE)"}
ONLY = {USAGE.name: _OF_CLIENTS, CONNECTION_HOURS.name: _OF_CLIENTS}
PAIRS = {
    Engine.DUCKDB: "{{'per_hour': {rate}, 'broker': broker}}",
    Engine.SPARK: "named_struct('per_hour', {rate}, 'broker', broker)",
}
HASHES = {Engine.DUCKDB: "hash", Engine.SPARK: "xxhash64"}

LISTS = """SELECT {teller}, any_value(ranges) AS ranges,
  min(first_seen) AS first_seen, max(last_seen) AS last_seen
FROM (
  SELECT *, sum(is_new) OVER ({in_order} ROWS UNBOUNDED PRECEDING) AS nth
  FROM (
    SELECT *, CASE WHEN list = lag(list) OVER ({in_order}) THEN 0 ELSE 1 END AS is_new
    FROM (
      SELECT {teller}, ranges, first_seen, last_seen, {hash}(ranges) AS list
      FROM {rows} AS told WHERE ranges IS NOT NULL
    ) AS lists
  ) AS marked
) AS counted
GROUP BY {teller}, nth"""


def total(table: Table, rows: str, engine: Engine = Engine.DUCKDB) -> str:
    """The query that makes totals of rows of their table.

    In DuckDB, grouping by one number is several times as fast as by many columns; with 64 bits,
    a million groups share one with a chance of 1 in 30 million."""
    if table is BROKER_LISTS:
        return _lists(rows, engine)
    keys = ", ".join(_made_of(name, table, engine) for name in table.keys)
    columns = ",\n  ".join(_column(column, table, engine) for column in table.columns)
    group = f"hash({keys})" if engine is Engine.DUCKDB else keys
    only = "true" if table is BROKER_HOURS else ONLY[SOURCES[table.name].name]
    return f"SELECT\n  {columns}\nFROM {rows}\nWHERE {only}\nGROUP BY {group}"


def _column(column: Column, table: Table, engine: Engine) -> str:
    made_of = _made_of(column.name, table, engine)
    match column.merge:
        case Merge.KEY:
            made = f"any_value({made_of})" if engine is Engine.DUCKDB else made_of
        case Merge.SUM:
            made = f"CAST(sum({made_of}) AS BIGINT)"
        case merge:
            made = f"{merge}({made_of})"
    return f"{made} AS {column.name}"


def _made_of(name: str, table: Table, engine: Engine) -> str:
    if name == "peak":
        return PAIRS[engine].format(rate=PEAKS[SOURCES[table.name].name])
    return MADE_OF.get(name, name)


def _lists(rows: str, engine: Engine) -> str:
    """One row as long as the same was told, and another when that comes back after a change."""
    teller = ", ".join(it for it in BROKER_LISTS.keys if it != "ranges")
    in_order = f"PARTITION BY {teller} ORDER BY first_seen, last_seen, list"
    return LISTS.format(teller=teller, in_order=in_order, hash=HASHES[engine], rows=rows)
