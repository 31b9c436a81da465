"""The tables for who reads them with SQL: partial sums merged, in the words of DuckDB or Spark."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from rollcall.tables.columns import CONNECTIONS, KIND, TABLES, TIME, WHO, Column, Merge, Table
from rollcall.tables.folder import Snapshot

SILENCE = "INTERVAL 24 HOURS"
"""A connection id that was silent for so long is a new connection."""


class Engine(StrEnum):
    DUCKDB = "duckdb"
    SPARK = "spark"


def view(snapshot: Snapshot, table: str, engine: Engine = Engine.DUCKDB) -> str:
    """A statement that makes a view of the live files, its partial sums merged."""
    return f"CREATE OR REPLACE TEMPORARY VIEW {table} AS\n{select(snapshot, table, engine)};"


def select(snapshot: Snapshot, table: str, engine: Engine = Engine.DUCKDB) -> str:
    """The query of a table; one without rows where nothing was written yet."""
    files = snapshot.addresses(table)
    rows = _from_files(files, engine) if files else _no_rows(TABLES[table], engine)
    return merge(TABLES[table], rows, engine)


def merge(table: Table, rows: str, engine: Engine = Engine.DUCKDB) -> str:
    """The query that merges partial sums; `rows` is what it reads from."""
    if table is CONNECTIONS:
        return _merge_connections(rows, engine)
    columns = ",\n  ".join(merged(column, engine) for column in table.columns)
    if not table.values:
        return f"SELECT\n  {columns}\nFROM {rows}"
    return f"SELECT\n  {columns}\nFROM {rows}\nGROUP BY {', '.join(table.keys)}"


def merged(column: Column, engine: Engine) -> str:
    name = column.name
    if column.merge is Merge.KEY:
        return name
    if column.merge is Merge.SUM and engine is Engine.DUCKDB:
        return f"CAST(sum({name}) AS BIGINT) AS {name}"  # its sums of BIGINT are HUGEINT
    return f"{column.merge}({name}) AS {name}"


CONNECTION = "cluster, broker, connection"
IDENTITY = ("listener", *(column.name for column in WHO[1:]), *(column.name for column in KIND))


def _merge_connections(rows: str, engine: Engine) -> str:
    """One row per connection; its identity is that of most requests, a told name before none,
    and the connection's own before those of requests that were forwarded through it."""
    # not truncated: Spark would make it a time of the session's zone
    day = f"CAST(CAST(first_seen AS DATE) AS {type_in(engine, TIME)})"
    told = ", ".join(IDENTITY)
    order = ", ".join(f"{name} NULLS LAST" for name in IDENTITY)
    requests = "CAST(sum(requests) OVER whole AS BIGINT)"
    return f"""SELECT {CONNECTION}, {told}, {day} AS day,
  requests, first_seen, last_seen
FROM (
  SELECT {CONNECTION}, {told}, {requests} AS requests,
    min(first_seen) OVER whole AS first_seen, max(last_seen) OVER whole AS last_seen,
    row_number() OVER (PARTITION BY {CONNECTION}, nth ORDER BY forwarded,
      software_name IS NULL, requests DESC, {order}) AS place
  FROM (
    SELECT {CONNECTION}, nth, {told}, sum(requests) AS requests,
      min(first_seen) AS first_seen, max(last_seen) AS last_seen
    FROM ({numbered(rows)}) AS rows_of_connections
    GROUP BY {CONNECTION}, nth, {told}
  ) AS identities
  WINDOW whole AS (PARTITION BY {CONNECTION}, nth)
) AS connections_with_all
WHERE place = 1"""


def numbered(rows: str) -> str:
    """Rows of connections, `nth` counting the connections that had the same id.

    Rows of different identities may overlap, so what matters is the latest end of all rows
    before, not the end of the row before. Of rows with the same times, any may come first; the
    one that was taken for the first has to be it again."""
    in_order = f"PARTITION BY {CONNECTION} ORDER BY first_seen, last_seen"
    return f"""
      SELECT *, sum(is_new) OVER ({in_order}, is_new DESC ROWS UNBOUNDED PRECEDING) AS nth
      FROM (
        SELECT *, CASE WHEN first_seen < {SILENCE} + max(last_seen) OVER ({in_order}
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) THEN 0 ELSE 1 END AS is_new
        FROM {rows} AS parts_of_connections
      ) AS marked"""


def _from_files(files: Sequence[str], engine: Engine) -> str:
    if engine is Engine.DUCKDB:
        return f"read_parquet([{', '.join(map(text, files))}])"
    parts = " UNION ALL ".join(
        f"SELECT * FROM parquet.`{name.replace('`', '``')}`" for name in files
    )
    return f"({parts})"


def _no_rows(table: Table, engine: Engine) -> str:
    nulls = ", ".join(
        f"CAST(NULL AS {type_in(engine, column.type)}) AS {column.name}" for column in table.columns
    )
    return f"(SELECT {nulls} WHERE false)"


def type_in(engine: Engine, spark: str) -> str:
    return spark if engine is Engine.SPARK else duckdb_type(spark)


def duckdb_type(spark: str) -> str:
    """What Spark calls by another name; structs hold plain types."""
    if spark.startswith("ARRAY<"):
        return f"{duckdb_type(spark[6:-1])}[]"
    if spark.startswith("STRUCT<"):
        fields = (field.split(": ") for field in spark[7:-1].split(", "))
        return f"STRUCT({', '.join(f'{name} {duckdb_type(type_)}' for name, type_ in fields)})"
    return {"STRING": "VARCHAR", "TIMESTAMP_NTZ": "TIMESTAMP"}.get(spark, spark)


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
