"""Connections of clients: recent ones one by one, older ones as counts per hour."""

from __future__ import annotations

from collections.abc import Mapping

from rollcall.reports.reading import Reader
from rollcall.reports.values import ClientKey

# Rates are of one host at one broker; a row of the older ones may be an hour or a day. Identities
# are compared by a hash, as in `sightings`; a name that was inferred there is none here.
OPENED = """
CREATE TEMP TABLE opened AS
WITH connections AS (
  SELECT hash({identity}) AS id, broker, count(*) AS opened,
    count(*) FILTER (requests = 1) AS seen_once, 1 AS hours
  FROM {connections} WHERE NOT forwarded AND NOT replica AND {window}
  GROUP BY id, broker, date_trunc('hour', first_seen)
  UNION ALL BY NAME
  SELECT hash({identity}) AS id, broker, opened, seen_once,
    greatest(1, date_diff('hour', first_seen, last_seen)) AS hours
  FROM {older} WHERE NOT forwarded AND NOT replica AND {window}
), sums AS (
  SELECT id, CAST(sum(opened) AS BIGINT) AS opened, CAST(sum(seen_once) AS BIGINT) AS seen_once
    {rates}
  FROM connections GROUP BY id
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
RATES = ", max(opened / hours) AS per_hour, arg_max(broker, opened / hours) AS broker"


def make_opened(reader: Reader, *, rates: bool = True) -> None:
    """The temporary table `opened`: connections of each identity, and how fast they came."""
    reader.run(
        OPENED.format(
            identity=IDENTITY,
            rates=RATES if rates else "",
            connections=reader.merged("connections"),
            older=reader.table("connection_hours"),
            window=reader.window(),
        )
    )


def count_connections(reader: Reader) -> Mapping[ClientKey, int]:
    make_opened(reader, rates=False)
    rows = reader.rows(
        """SELECT cluster, principal, application, software, CAST(sum(opened) AS BIGINT)
        FROM opened GROUP BY ALL"""
    )
    return {ClientKey(*row[:4]): row[4] for row in rows}
