"""What brokers told of themselves: their ranges over time, and the releases that fit them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from rollcall.catalog import Range, Ranges, Release, identify_release, intersect
from rollcall.reports.basis import HeardBroker
from rollcall.reports.ceilings import BrokerKey, Ceilings, Origin, Told
from rollcall.reports.reading import Reader
from rollcall.tables.columns import FORMS

PRODUCE = 0
SHORT_ANSWER = 1
"""An answer with an error lists ApiVersions and nothing else."""

# The same ranges are told hour after hour: only changes matter, and most brokers made none.
LISTS = """
CREATE TEMP TABLE lists AS
SELECT cluster, broker, source, host, port, node_id, first_seen, hour, hash(ranges) AS list,
  hash(cluster, broker, source) AS teller
FROM {brokers} WHERE len(ranges) > {short} AND {where}
"""
CHANGES = """
CREATE TEMP TABLE changes AS
WITH changing AS (SELECT teller FROM lists GROUP BY teller HAVING min(list) <> max(list))
SELECT any_value(cluster) AS cluster, any_value(broker) AS broker, any_value(source) AS source,
  any_value(host) AS host, any_value(port) AS port, any_value(node_id) AS node_id,
  min(first_seen) AS first_seen, any_value(list) AS list, arg_min(hour, first_seen) AS hour
FROM lists WHERE teller NOT IN (FROM changing) GROUP BY teller
UNION ALL BY NAME
SELECT cluster, broker, source, host, port, node_id, first_seen, list, hour
FROM (
  SELECT *, lag(list) OVER (PARTITION BY cluster, broker, source ORDER BY first_seen) AS before
  FROM (
    SELECT cluster, broker, source, any_value(host) AS host, any_value(port) AS port,
      any_value(node_id) AS node_id, min(first_seen) AS first_seen, list, hour
    FROM lists WHERE teller IN (FROM changing) GROUP BY cluster, broker, source, list, hour
  )
)
WHERE before IS DISTINCT FROM list
"""
ONE_OF_EACH = """
SELECT cluster, broker, source, hour, list
FROM changes QUALIFY row_number() OVER (PARTITION BY list ORDER BY first_seen) = 1
"""
LIST = """
SELECT ranges FROM {brokers} WHERE cluster IS NOT DISTINCT FROM $1 AND broker = $2
  AND source = $3 AND hour = $4 AND hash(ranges) = $5 LIMIT 1
"""


def read_told(reader: Reader, heard: Sequence[HeardBroker]) -> list[Told]:
    """Every change of what a broker told, under the names that the logs have for it."""
    where = reader.cluster()
    words = {"brokers": reader.table("brokers"), "short": SHORT_ANSWER, "where": where}
    reader.run(LISTS.format(**words))
    reader.run(CHANGES)
    lists = {
        one[4]: _ranges(reader.rows(LIST.format(**words), one)[0][0])
        for one in reader.rows(ONE_OF_EACH)
    }
    brokers = {(it.cluster, it.broker) for it in heard}
    return [
        Told((row[0], name), Origin(row[2]), row[6], lists[row[7]])
        for row in reader.rows("FROM changes ORDER BY first_seen, cluster, broker, source, list")
        for name in _names(row, brokers)
    ]


def _names(row: tuple[Any, ...], heard: Collection[BrokerKey]) -> set[str]:
    """What the logs call the broker: a roll call knows it by its host, address and id."""
    cluster, broker, source, host, port, node_id = row[:6]
    if source == Origin.LOG:
        return {broker}
    called = {broker, host, f"{host}:{port}", str(node_id)} - {None}
    return {name for name in called if (cluster, name) in heard}


def _ranges(pairs: Sequence[Mapping[str, int]]) -> Ranges:
    return {it["api_key"]: Range(it["min_version"], it["max_version"]) for it in pairs}


def common_ranges(told: Sequence[Told]) -> Mapping[str | None, Ranges]:
    """What the brokers of each cluster had in common when they last told.

    A controller's listener has little of what clients use; its answers are in the same logs."""
    last: dict[BrokerKey, Told] = {}
    for it in sorted(told, key=lambda it: (it.origin is Origin.LOG, it.time)):
        if PRODUCE in it.ranges:
            last[it.broker] = it
    clusters = {broker[0] for broker in last}
    return {
        cluster: intersect(it.ranges for broker, it in last.items() if broker[0] == cluster)
        for cluster in clusters
    }


def releases_of(told: Sequence[Told]) -> tuple[str, ...]:
    """The lines that fit what brokers last told, in all clusters."""
    last = {it.broker: it for it in sorted(told, key=lambda it: it.time)}
    found: dict[str, None] = {}
    for it in last.values():
        found.update(dict.fromkeys(identify_release(it.ranges).lines))
    return tuple(found)


def oldest_forms(reader: Reader) -> Mapping[BrokerKey, str]:
    """The oldest form of the request log that each broker wrote in the window."""
    return dict(_forms(reader))


def _forms(reader: Reader) -> Iterator[tuple[BrokerKey, str]]:
    rows = reader.rows("SELECT cluster, broker, bit_or(forms) FROM heard GROUP BY cluster, broker")
    for cluster, broker, forms in rows:
        bits = int(forms or 0)
        oldest = (bits & -bits).bit_length() - 1
        yield (cluster, broker), FORMS[max(oldest, 0)]


def ceilings(reader: Reader, told: Sequence[Told], release: Release | None = None) -> Ceilings:
    return Ceilings.build(told, oldest_forms(reader), release)
