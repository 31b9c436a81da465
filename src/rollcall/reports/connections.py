"""Connections of clients: recent ones one by one, older ones as counts per hour."""

from __future__ import annotations

from collections.abc import Mapping

from rollcall.reports.reading import Reader
from rollcall.reports.values import ClientKey

# Rates are of one host at one broker; a row of the older ones may be an hour or a day.
OPENED = """
CREATE TEMP TABLE opened AS
WITH connections AS (
  SELECT cluster, broker, principal, client_id, host, software_name,
    date_trunc('hour', first_seen) AS hour, count(*) AS opened,
    count(*) FILTER (requests = 1) AS seen_once, 1 AS hours
  FROM {connections} WHERE NOT forwarded AND NOT replica AND {window} GROUP BY ALL
  UNION ALL BY NAME
  SELECT cluster, broker, principal, client_id, host, software_name, hour, opened, seen_once,
    greatest(1, date_diff('hour', first_seen, last_seen)) AS hours
  FROM {older} WHERE NOT forwarded AND NOT replica AND {window}
), identities AS (
  SELECT any_value(cluster) AS cluster, any_value(principal) AS principal,
    any_value(client_id) AS client_id, any_value(host) AS host,
    any_value(software_name) AS software_name,
    CAST(sum(opened) AS BIGINT) AS opened, CAST(sum(seen_once) AS BIGINT) AS seen_once,
    max(opened / hours) AS per_hour, arg_max(broker, opened / hours) AS broker
  FROM connections GROUP BY hash(cluster, principal, client_id, host, software_name)
), people AS (
  SELECT cluster AS c, principal AS p, client_id AS i, host AS h, any_value(application) AS app,
    bool_or(software_name IS NULL) AS has_nameless,
    any_value(software_name) FILTER (inferred) AS inferred_name
  FROM sightings GROUP BY ALL
)
SELECT identities.*, app AS application,
  if(software_name IS NULL AND NOT has_nameless, inferred_name, software_name) AS software
FROM identities JOIN people ON cluster IS NOT DISTINCT FROM c AND principal IS NOT DISTINCT FROM p
  AND client_id IS NOT DISTINCT FROM i AND host IS NOT DISTINCT FROM h
"""


def make_opened(reader: Reader) -> None:
    reader.run(
        OPENED.format(
            connections=reader.merged("connections"),
            older=reader.table("connection_hours"),
            window=reader.window(),
        )
    )


def count_connections(reader: Reader) -> Mapping[ClientKey, int]:
    make_opened(reader)
    rows = reader.rows(
        """SELECT cluster, principal, application, software, CAST(sum(opened) AS BIGINT)
        FROM opened GROUP BY ALL"""
    )
    return {ClientKey(*row[:4]): row[4] for row in rows}
