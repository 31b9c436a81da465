"""What brokers told of themselves: their ranges over time, and the releases that fit them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rollcall.catalog import Range, Ranges, Release, identify_release, intersect
from rollcall.reports.impact.broker_limits import BrokerKey, Ceilings, Origin, Told
from rollcall.reports.query.basis import Basis, HeardBroker
from rollcall.reports.query.coverage import read_basis
from rollcall.reports.query.database import Reader
from rollcall.tables.columns import FORMS

PRODUCE = 0
SHORT_ANSWER = 1
"""An answer with an error lists ApiVersions and nothing else."""

# Lists are long, and few: each is read once.
LISTS = """
CREATE TABLE lists AS
SELECT cluster, broker, source, host, port, node_id, first_seen, last_seen, ranges,
  hash(ranges) AS list
FROM {lists} WHERE len(ranges) > {short}
"""
TOLD = """
SELECT cluster, broker, source, host, port, node_id, first_seen, last_seen, list
FROM lists ORDER BY first_seen, last_seen, cluster, broker, source, list
"""


def read_heard(reader: Reader) -> tuple[Basis, list[Told]]:
    """What an answer rests on, and what the brokers told."""
    basis = read_basis(reader)
    return basis, read_told(reader, basis.heard)


def read_told(reader: Reader, heard: Sequence[HeardBroker]) -> list[Told]:
    """All that brokers told, from when to when, under the names that the logs have for them."""
    reader.run(LISTS.format(lists=reader.broker_lists(), short=SHORT_ANSWER))
    rows = reader.rows("SELECT list, any_value(ranges) FROM lists GROUP BY list")
    lists = {list_: _ranges(ranges) for list_, ranges in rows}
    brokers = {(it.cluster, it.broker) for it in heard}
    return [
        Told(key, Origin(row[2]), row[6], row[7], lists[row[8]])
        for row in reader.rows(TOLD)
        for key in _keys(row, brokers)
    ]


def _keys(row: tuple[Any, ...], heard: set[BrokerKey]) -> set[BrokerKey]:
    """What the logs call the broker: a roll call knows it by its host, address and id, and the
    cluster by its id, where logs that were read without --cluster know none."""
    cluster, broker, source, host, port, node_id = row[:6]
    if source == Origin.LOG:
        return {(cluster, broker)}
    called = {broker, host, f"{host}:{port}", str(node_id)} - {None}
    return heard & {(its, name) for its in (cluster, None) for name in called}


def _ranges(pairs: Sequence[Mapping[str, int]]) -> Ranges:
    return {it["api_key"]: Range(it["min_version"], it["max_version"]) for it in pairs}


def common_ranges(told: Sequence[Told]) -> Mapping[str | None, Ranges]:
    """What the brokers of each cluster had in common when they last told.

    A controller's listener has little of what clients use; its answers are in the same logs."""
    last: dict[BrokerKey, Told] = {}
    for it in sorted(told, key=lambda it: (it.origin is Origin.LOG, it.last)):
        if PRODUCE in it.ranges:
            last[it.broker] = it
    clusters = {broker[0] for broker in last}
    return {
        cluster: intersect(_apart(it.ranges for broker, it in last.items() if broker[0] == cluster))
        for cluster in clusters
    }


def _apart(lists: Iterable[Ranges]) -> Iterable[Ranges]:
    """Each list once: brokers that told the same share it."""
    return {id(ranges): ranges for ranges in lists}.values()


def releases_of(told: Sequence[Told]) -> tuple[str, ...]:
    """The lines that fit what brokers last told, in all clusters."""
    last = {it.broker: it for it in sorted(told, key=lambda it: it.last)}
    found: dict[str, None] = {}
    for ranges in _apart(it.ranges for it in last.values()):
        found.update(dict.fromkeys(identify_release(ranges).lines))
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
