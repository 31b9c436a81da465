"""Connections of clients: recent ones one by one, older ones as counts per hour."""

from __future__ import annotations

from collections.abc import Mapping

from rollcall.reports.reading import Reader
from rollcall.reports.values import ClientKey
from rollcall.tables.columns import CONNECTIONS
from rollcall.tables.views import CONNECTION, merge

# Rates are of one host at one broker; a row of the older ones may be an hour or a day. Identities
# are compared by a hash, as in `sightings`; a name that was inferred there is none here.
# Most connections are one row already; only those of several rows need to be merged.
SEVERAL = """
CREATE TEMP TABLE several AS
SELECT hash({connection}) AS id FROM {rows} GROUP BY id HAVING count(*) > 1
"""
MERGED = """
(FROM {rows} WHERE hash({connection}) NOT IN (FROM several)
UNION ALL BY NAME {several})
"""
BY_HOUR = """
(
  SELECT hash({identity}) AS id, broker, count(*) AS opened,
    count(*) FILTER (requests = 1) AS seen_once, 1 AS hours
  FROM {connections} WHERE NOT forwarded AND NOT replica AND {window}
  GROUP BY id, broker, date_trunc('hour', first_seen)
  UNION ALL BY NAME
  SELECT hash({identity}) AS id, broker, opened, seen_once,
    greatest(1, date_diff('hour', first_seen, last_seen)) AS hours
  FROM {older} WHERE NOT forwarded AND NOT replica AND {window}
)
"""
OPENED = """
CREATE TEMP TABLE opened AS
WITH sums AS (
  SELECT id, CAST(sum(opened) AS BIGINT) AS opened, CAST(sum(seen_once) AS BIGINT) AS seen_once
    {rates}
  FROM {by_hour} GROUP BY id
), people AS (
  SELECT hash(cluster, principal, client_id, host, if(inferred, NULL, software_name)) AS who,
    any_value(cluster) AS cluster, any_value(principal) AS principal,
    any_value(application) AS application, any_value(host) AS host,
    if(bool_and(inferred), any_value(software_name),
      any_value(software_name) FILTER (NOT inferred)) AS software
  FROM sightings GROUP BY who
)
SELECT * FROM sums JOIN people ON id = who
"""
IDENTITY = "cluster, principal, client_id, host, software_name"
RATES = ", max(opened / hours) AS per_hour"
STORMED = """
SELECT id, opened / hours AS rate, min(broker) FROM {by_hour} WHERE rate > {limit} GROUP BY ALL
"""


def make_opened(reader: Reader, *, rates: bool = True) -> None:
    """The temporary table `opened`: connections of each identity, and how fast they came."""
    words = {"rows": reader.table(CONNECTIONS.name), "connection": CONNECTION}
    reader.run(SEVERAL.format(**words))
    reader.run(OPENED.format(rates=RATES if rates else "", by_hour=_by_hour(reader)))


def stormed_brokers(reader: Reader, limit: int) -> Mapping[tuple[object, ...], str]:
    """Where each rate above the limit was seen, by identity and rate."""
    rows = reader.rows(STORMED.format(by_hour=_by_hour(reader), limit=limit))
    return {row[:2]: row[2] for row in rows}


def _by_hour(reader: Reader) -> str:
    words = {"rows": reader.table(CONNECTIONS.name), "connection": CONNECTION}
    some = "(FROM {rows} WHERE hash({connection}) IN (FROM several))".format(**words)
    return BY_HOUR.format(
        identity=IDENTITY,
        connections=MERGED.format(**words, several=merge(CONNECTIONS, some)),
        older=reader.table("connection_hours"),
        window=reader.window(),
    )


def count_connections(reader: Reader) -> Mapping[ClientKey, int]:
    make_opened(reader, rates=False)
    rows = reader.rows(
        """SELECT cluster, principal, application, software, CAST(sum(opened) AS BIGINT)
        FROM opened GROUP BY ALL"""
    )
    return {ClientKey(*row[:4]): row[4] for row in rows}
