"""Connections per client: recent ones one by one, older ones as stored counts."""

from __future__ import annotations

from collections.abc import Mapping

from rollcall.reports.query import usage
from rollcall.reports.query.database import Reader
from rollcall.reports.query.usage import ClientKey
from rollcall.tables.columns import CONNECTIONS
from rollcall.tables.views import CONNECTION, merge

# Most connections have one row; only those with several are merged.
SEVERAL_ROWS = """
CREATE TABLE several_rows AS
SELECT hash({connection}) AS id FROM {rows} GROUP BY id HAVING count(*) > 1
"""
MERGED = """
(FROM {rows} WHERE hash({connection}) NOT IN (FROM several_rows)
UNION ALL BY NAME {merged})
"""
# A rate is that of one host at one broker in an hour; an older row may cover a day.
RECENT = """
(
  SELECT id, origin, opened, seen_once, CAST(seen_once AS DOUBLE) AS once_per_hour,
    {{'per_hour': CAST(opened AS DOUBLE), 'broker': broker}} AS peak
  FROM (
    SELECT hash({identity}) AS id, any_value(hash({origin})) AS origin, broker,
      count(*) AS opened, count(*) FILTER (requests = 1) AS seen_once
    FROM {connections} WHERE NOT forwarded AND NOT replica AND {window}
    GROUP BY id, broker, date_trunc('hour', first_seen)
  )
)
"""
OLDER = """
(SELECT hash({identity}) AS id, hash({origin}) AS origin, opened, seen_once, peak, once_per_hour
FROM {months})
"""
OPENED_BY = """
CREATE TABLE opened_by AS
SELECT id, any_value(origin) AS origin, CAST(sum(opened) AS BIGINT) AS opened,
  CAST(sum(seen_once) AS BIGINT) AS seen_once
  {rates}
FROM ({recent} UNION ALL BY NAME {older}) GROUP BY id
"""
RATES = ", max(peak) AS peak, max(once_per_hour) AS once_per_hour"
# `opened_by` has the reported names only, so an inferred name is null in the hash.
OPENED = """
CREATE TABLE opened AS
SELECT * EXCLUDE (reported_id) FROM opened_by JOIN (
  SELECT hash(cluster, principal, client_id, host, if(inferred, NULL, software_name))
      AS reported_id,
    any_value(cluster) AS cluster, any_value(principal) AS principal,
    any_value(application) AS application, any_value(host) AS host,
    if(bool_and(inferred), min(software_name),
      min(software_name) FILTER (NOT inferred)) AS software
  FROM selected_identities GROUP BY reported_id
) ON id = reported_id
"""
OPENED_PER_CLIENT = """
SELECT cluster, principal, application, software, CAST(sum(opened) AS BIGINT)
FROM opened GROUP BY ALL
"""
ORIGIN = ", ".join(usage.ORIGIN)
IDENTITY = f"{ORIGIN}, software_name"


def prepare_opened_by(reader: Reader, *, rates: bool = True) -> None:
    """Create the table `opened_by`: connections per identity, with their peak rates."""
    terms = {"rows": reader.table(CONNECTIONS.name), "connection": CONNECTION}
    reader.run(SEVERAL_ROWS.format(**terms))
    connections = terms["rows"]
    if reader.rows("FROM several_rows LIMIT 1"):
        several = "(FROM {rows} WHERE hash({connection}) IN (FROM several_rows))".format(**terms)
        connections = MERGED.format(**terms, merged=merge(CONNECTIONS, several))
    ids = {"identity": IDENTITY, "origin": ORIGIN}
    recent = RECENT.format(**ids, connections=connections, window=reader.window())
    older = OLDER.format(**ids, months=reader.month_connections())
    reader.run(OPENED_BY.format(recent=recent, older=older, rates=RATES if rates else ""))


def prepare_opened(reader: Reader) -> None:
    """Create the table `opened`: connections of the selected identities, with application."""
    reader.run(OPENED)


def connections_per_client(reader: Reader) -> Mapping[ClientKey, int]:
    prepare_opened(reader)
    return {ClientKey(*row[:4]): row[4] for row in reader.rows(OPENED_PER_CLIENT)}
