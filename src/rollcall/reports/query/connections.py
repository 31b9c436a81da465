"""Connections of clients: recent ones one by one, older ones as counts."""

from __future__ import annotations

from collections.abc import Mapping

from rollcall.reports.query import usage as sightings
from rollcall.reports.query.database import Reader
from rollcall.reports.values import ClientKey
from rollcall.tables.columns import CONNECTIONS
from rollcall.tables.views import CONNECTION, merge

# Identities are compared by a hash, as in `sightings`; a name that was inferred there is none here.
# Most connections are one row already; only those of several rows need to be merged.
SEVERAL = """
CREATE TABLE several AS
SELECT hash({connection}) AS id FROM {rows} GROUP BY id HAVING count(*) > 1
"""
MERGED = """
(FROM {rows} WHERE hash({connection}) NOT IN (FROM several)
UNION ALL BY NAME {several})
"""
# Rates are of one host at one broker in an hour; a row of the older ones may be a day.
RECENT = """
(
  SELECT id, who, opened, seen_once, CAST(seen_once AS DOUBLE) AS once_per_hour,
    {{'per_hour': CAST(opened AS DOUBLE), 'broker': broker}} AS peak
  FROM (
    SELECT hash({identity}) AS id, any_value(hash({who})) AS who, broker, count(*) AS opened,
      count(*) FILTER (requests = 1) AS seen_once
    FROM {connections} WHERE NOT forwarded AND NOT replica AND {window}
    GROUP BY id, broker, date_trunc('hour', first_seen)
  )
)
"""
OLDER = """
(SELECT hash({identity}) AS id, hash({who}) AS who, opened, seen_once, peak, once_per_hour
FROM {months})
"""
SUMS = """
CREATE TABLE opened_by AS
SELECT id, any_value(who) AS who, CAST(sum(opened) AS BIGINT) AS opened,
  CAST(sum(seen_once) AS BIGINT) AS seen_once
  {rates}
FROM ({recent} UNION ALL BY NAME {older}) GROUP BY id
"""
RATES = ", max(peak) AS peak, max(once_per_hour) AS once_per_hour"
OPENED = """
CREATE TABLE opened AS
SELECT * EXCLUDE (person) FROM opened_by JOIN (
  SELECT hash(cluster, principal, client_id, host, if(inferred, NULL, software_name)) AS person,
    any_value(cluster) AS cluster, any_value(principal) AS principal,
    any_value(application) AS application, any_value(host) AS host,
    if(bool_and(inferred), min(software_name),
      min(software_name) FILTER (NOT inferred)) AS software
  FROM chosen GROUP BY person
) ON id = person
"""
WHO = ", ".join(sightings.WHO)
IDENTITY = f"{WHO}, software_name"


def count_opened(reader: Reader, *, rates: bool = True) -> None:
    """The table `opened_by`: connections of everybody, and how fast they came."""
    words = {"rows": reader.table(CONNECTIONS.name), "connection": CONNECTION}
    reader.run(SEVERAL.format(**words))
    connections = words["rows"]
    if reader.rows("FROM several LIMIT 1"):
        some = "(FROM {rows} WHERE hash({connection}) IN (FROM several))".format(**words)
        connections = MERGED.format(**words, several=merge(CONNECTIONS, some))
    own = {"identity": IDENTITY, "who": WHO}
    recent = RECENT.format(**own, connections=connections, window=reader.window())
    older = OLDER.format(**own, months=reader.month_connections())
    reader.run(SUMS.format(recent=recent, older=older, rates=RATES if rates else ""))


def make_opened(reader: Reader) -> None:
    """The table `opened`: of those who were asked for, with their applications."""
    reader.run(OPENED)


def connections_of_clients(reader: Reader) -> Mapping[ClientKey, int]:
    make_opened(reader)
    rows = reader.rows(
        """SELECT cluster, principal, application, software, CAST(sum(opened) AS BIGINT)
        FROM opened GROUP BY ALL"""
    )
    return {ClientKey(*row[:4]): row[4] for row in rows}
