"""Tables of a large synthetic cluster, written by DuckDB in a minute, for the bench of the reports.

5,000 clients on 200 brokers for 90 days. Each client has two instances and uses three brokers in
every time slot (a day; an hour in the last week): ApiVersions and Fetch or Produce on each broker,
Metadata on one, the APIs of a consumer group on its coordinator. With the replica requests there
are 12.6 million rows of `usage`, in the order, compression and row groups of a compaction, with
its totals.
"""

from dataclasses import dataclass
from pathlib import Path

import duckdb

from rollcall.catalog import listed_ranges
from rollcall.tables.columns import BROKERS, CONNECTION_HOURS, CONNECTIONS, FILES, USAGE, Table
from rollcall.tables.folder import make_tables
from rollcall.tables.manifests import Counts, Kind, Manifest, Part, file_name
from rollcall.tables.stores import LocalStore
from rollcall.tables.totals import SOURCES, TOTALS, total
from rollcall.tables.views import duckdb_type


@dataclass(frozen=True)
class Size:
    clients: int = 5000
    brokers: int = 200
    days: int = 90
    brokers_of_client: int = 3


DAY = "date_trunc('day', hour)"
CLIENT = "cluster, principal, client_id, host, software_name, software_version"

SLOTS = """
CREATE TABLE slots AS
SELECT TIMESTAMP '2026-08-17' + to_days(d::INT) AS hour, 16777215 AS hours
FROM range({days} - 7) AS days(d)
UNION ALL
SELECT TIMESTAMP '2026-08-17' + to_days({days} - 7) + to_hours(h::INT), 1 << (h % 24)::INT
FROM range(7 * 24) AS hours(h)
"""

# 1 in 10 reports no name, 1 in 25 only in ApiVersions; 1 in 100 is pinned to a version that 4.0
# refuses, 1 in 50 sends a flood.
CLIENTS = """
CREATE TABLE clients AS
SELECT c, b, i,
  'prod' AS cluster, 'broker-' || ((c * 7 + b * 31) % {brokers}) AS broker,
  'SASL_SSL' AS listener, 'User:team-' || (c % 500) AS principal,
  'app-' || (c // 26) || '-' || chr((97 + c % 26)::INT) || '-' || i AS client_id,
  '10.' || (c % 200) || '.' || (c // 200) || '.' || i AS host,
  CASE WHEN c % 10 < 6 THEN 'apache-kafka-java' WHEN c % 10 < 8 THEN 'librdkafka'
    WHEN c % 10 < 9 THEN 'sarama' END AS software_name,
  CASE WHEN c % 10 < 6 THEN '3.' || (c % 9) || '.0' WHEN c % 10 < 8 THEN '2.' || (c % 13) || '.0'
    WHEN c % 10 < 9 THEN 'v1.' || (30 + c % 31) || '.0' END AS software_version,
  false AS forwarded, false AS replica
FROM range({clients}) AS ids(c), range({brokers_of_client}) AS places(b),
  LATERAL (SELECT (b % 2) AS i)
"""
CALLS = """
CREATE TABLE calls AS
SELECT c, b, api_key,
  CASE WHEN c % 100 = 7 AND api_key = 1 THEN 3 ELSE api_version END AS api_version
FROM range({clients}) AS ids(c), range({brokers_of_client}) AS places(b),
  (VALUES (18, 3), (3, 12), (0, 9), (1, 13), (10, 4), (8, 8), (12, 4)) AS used(api_key, api_version)
WHERE CASE api_key WHEN 18 THEN true WHEN 3 THEN b = 0 WHEN 0 THEN c % 2 = 0 WHEN 1 THEN c % 2 = 1
  ELSE b = 1 END
"""
USAGE_ROWS = """
SELECT hour, clients.* EXCLUDE (software_name, software_version), api_key, api_version,
  if(c % 25 = 3 AND api_key <> 18, NULL, software_name) AS software_name,
  if(c % 25 = 3 AND api_key <> 18, NULL, software_version) AS software_version,
  (CASE WHEN api_key NOT IN (3, 18) THEN 100 + chance % 1000 WHEN c % 50 = 1 THEN 700
    ELSE 5 + chance % 50 END)::BIGINT * bit_count(hours) AS requests, requests AS answered,
  (requests // 100)::BIGINT AS errors, 0::BIGINT AS unsupported, 0::BIGINT AS deprecated,
  0::BIGINT AS throttled, 0::BIGINT AS throttle_us, requests * 2000 AS total_us,
  90000::BIGINT AS longest_us, hour + to_milliseconds(chance % 60000) AS first_seen,
  hour + INTERVAL 59 MINUTE + to_milliseconds(chance % 59999) AS last_seen, hours, 512 AS forms
FROM clients JOIN calls USING (c, b), slots, LATERAL (SELECT hash(c, b, api_key, hour) AS chance)
UNION ALL BY NAME
SELECT hour, 'prod' AS cluster, 'broker-' || b AS broker, 'INTERNAL' AS listener,
  'User:kafka' AS principal, 'broker-' || from_b || '-fetcher-0' AS client_id,
  '10.250.0.' || from_b AS host, 'apache-kafka-java' AS software_name,
  '3.9.0' AS software_version, 1 AS api_key, 17 AS api_version, false AS forwarded,
  true AS replica, 7000::BIGINT AS requests, 7000::BIGINT AS answered, 0::BIGINT AS errors,
  0::BIGINT AS unsupported, 0::BIGINT AS deprecated, 0::BIGINT AS throttled,
  0::BIGINT AS throttle_us, 14000000::BIGINT AS total_us, 90000::BIGINT AS longest_us,
  hour AS first_seen, hour + INTERVAL 59 MINUTE AS last_seen, hours, 512 AS forms
FROM range({brokers}) AS ids(b), range(3) AS others(o), slots,
  LATERAL (SELECT (b + o + 1) % {brokers} AS from_b)
"""
OLD_CONNECTIONS = """
SELECT hour, clients.*, 3::BIGINT AS opened, 1::BIGINT AS seen_once, opened AS most_opened,
  seen_once AS most_seen_once,
  600000000::BIGINT AS longest_us, 600::BIGINT AS requests, hour AS first_seen,
  hour + INTERVAL 59 MINUTE AS last_seen
FROM clients, slots WHERE hour < (SELECT max(hour) FROM slots) - INTERVAL 2 DAY
"""
NEW_CONNECTIONS = """
SELECT clients.*, n, broker || '-' || host || ':' || n AS connection,
  date_trunc('day', began) AS day, 600::BIGINT AS requests, began AS first_seen,
  began + INTERVAL 9 MINUTE AS last_seen
FROM clients, range(6) AS nth(n),
  LATERAL (SELECT (SELECT max(hour) FROM slots) - to_hours((n * 8)::INT) AS began)
"""
BROKER_ROWS = """
SELECT b, hour, 'prod' AS cluster, 'broker-' || b AS broker, 'log' AS source,
  'SASL_SSL' AS listener,
  {ranges} AS ranges, 40::BIGINT AS answers, hour AS first_seen,
  hour + INTERVAL 50 MINUTE AS last_seen
FROM range({brokers}) AS ids(b), slots
UNION ALL BY NAME
SELECT b, hour, 'prod' AS cluster, 'broker-' || b AS broker, 'roll call' AS source,
  b::INT AS node_id,
  'broker-' || b AS host, 9092 AS port, TIMESTAMP '2026-08-01' + to_days(n::INT) AS start_time,
  {ranges} AS ranges, 1::BIGINT AS answers, hour AS first_seen, hour AS last_seen
FROM range({brokers}) AS ids(b), slots, LATERAL (SELECT dayofyear(hour) // 30 AS n)
"""
FILE_ROWS = """
SELECT b, hour, 'prod' AS cluster, 'broker-' || b AS broker, 'kafka-request.log.' || hour AS file,
  1000000::BIGINT AS lines, 990000::BIGINT AS requests, 10000::BIGINT AS skipped,
  0::BIGINT AS rejected, hour AS first_time, hour AS last_time, 2 AS levels, 512 AS forms
FROM range({brokers}) AS ids(b), slots
"""


def make_report_tables(directory: Path, size: Size = Size()) -> Path:  # noqa: B008 - it is frozen
    """Create compacted tables."""
    store = LocalStore(directory)
    make_tables(store, "bench")
    connection = duckdb.connect()
    terms = {**vars(size), "ranges": _ranges("3.9.0")}
    for statement in (SLOTS, CLIENTS, CALLS):
        connection.execute(statement.format(**terms))
    parts = {}
    for table, rows, order in (
        (USAGE, USAGE_ROWS, f"{DAY}, {CLIENT}, api_key, api_version, hour, hash(broker)"),
        (CONNECTION_HOURS, OLD_CONNECTIONS, f"{DAY}, {CLIENT}, hour, hash(broker)"),
        (CONNECTIONS, NEW_CONNECTIONS, "c, i, b, n"),
        (BROKERS, BROKER_ROWS, "b, hour"),
        (FILES, FILE_ROWS, "b, hour"),
    ):
        parts[table.name] = (_write(connection, directory, table, rows.format(**terms), order),)
    for table in TOTALS.values():
        rows = f"read_parquet('{directory / parts[SOURCES[table.name].name][0].name}')"
        order = ", ".join(table.keys)
        parts[table.name] = (_write(connection, directory, table, total(table, rows), order),)
    manifest = Manifest(1, Kind.COMPACTION, 0, parts=parts, counts=Counts())
    store.create(file_name(1), manifest.to_json())
    return directory


def _write(
    connection: duckdb.DuckDBPyConnection, directory: Path, table: Table, rows: str, order: str
) -> Part:
    name = f"parts/0000000001/{table.name}/part-0.parquet"
    (directory / name).parent.mkdir(parents=True)
    columns = {column.name: duckdb_type(column.type) for column in table.columns}
    present = {row[0] for row in connection.execute(f"DESCRIBE {rows}").fetchall()}
    selected = ", ".join(
        f"CAST({column if column in present else 'NULL'} AS {type_}) AS {column}"
        for column, type_ in columns.items()
    )
    connection.execute(
        f"COPY (SELECT {selected} FROM ({rows}) ORDER BY {order}) "
        f"TO '{directory / name}' (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 1_000_000)"
    )
    return Part(name, (directory / name).stat().st_size)


def _ranges(release: str) -> str:
    structs = ", ".join(
        f"{{'api_key': {key}, 'min_version': {low}, 'max_version': {high}}}"
        for key, (low, high) in listed_ranges(release).items()
    )
    return f"[{structs}]"
