"""When brokers started, from roll calls: restarts, waves of them, and flapping brokers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import groupby

from rollcall.reports.query.database import Reader, Tables, open_tables
from rollcall.reports.query.filters import EVERYTHING, Question
from rollcall.reports.query.unknown_names import check_cluster
from rollcall.reports.starts import (
    FLAPPING_STARTS,
    UNLISTED,
    BrokerStarts,
    Episode,
    Restarts,
    Seen,
    Start,
    Wave,
)

FLAPPING_GAP = timedelta(hours=2)
WAVE_GAP = timedelta(hours=1)
UNLISTED_FOR = timedelta(hours=1)
"""A broker that roll calls go on without for longer than that is down: the list of a cluster may
leave out those that are."""

IN_ORDER = "PARTITION BY cluster, who ORDER BY first, last, host, port, failure, start_time"
SIGHTINGS = """
WITH hours AS (
  SELECT cluster, coalesce(CAST(node_id AS VARCHAR), concat(host, ':', port)) AS who,
    node_id, host, port, failure, start_time, min(first_seen) AS first, max(last_seen) AS last,
    any_value(software_name) AS name, any_value(software_version) AS version,
    any_value(software_source) AS software_source
  FROM {brokers} WHERE source = 'roll call' AND {where}
  GROUP BY cluster, node_id, host, port, failure, start_time, hour
), states AS (
  SELECT *, row(host, port, failure, start_time, name, version, software_source) AS state
  FROM hours
), steps AS (
  SELECT *, failure IS NOT NULL OR state IS DISTINCT FROM lag(state) OVER ({in_order}) AS is_new
  FROM states
), runs AS (
  SELECT *, count_if(is_new) OVER ({in_order} ROWS UNBOUNDED PRECEDING) AS run FROM steps
)
SELECT cluster, any_value(node_id), any_value(host), any_value(port), any_value(failure),
  any_value(start_time), min(first), max(last), any_value(name), any_value(version),
  any_value(software_source)
FROM runs GROUP BY cluster, who, run
"""
"""The hours for which a broker answered the same are one row: there are thousands of them."""


def restarts(tables: Tables, *, question: Question = EVERYTHING) -> Restarts:
    reader = open_tables(tables, question)
    check_cluster(reader)
    seen = [Seen(*row) for row in reader.rows(_query(reader))]
    return judge_restarts(seen)


def _query(reader: Reader) -> str:
    return SIGHTINGS.format(
        brokers=reader.table("brokers"), where=reader.window(), in_order=IN_ORDER
    )


def judge_restarts(seen: Sequence[Seen]) -> Restarts:
    newest: dict[str | None, datetime] = {}
    for it in seen:
        newest[it.cluster] = max(it.last, newest.get(it.cluster, it.last))
    brokers = [
        _broker(list(rows), newest[who[0]])
        for who, rows in groupby(sorted(seen, key=_in_order), key=_who)
    ]
    telling = [it for it in brokers if it.start is not None]
    telling.sort(key=_started, reverse=True)
    brokers = [*telling, *(it for it in brokers if it.start is None)]
    return Restarts(
        min((it.first for it in seen), default=None),
        max((it.last for it in seen), default=None),
        tuple(brokers),
        tuple(_waves(brokers)),
        _fewest_up(seen, [(it, newest[it.cluster]) for it in brokers if it.failure == UNLISTED]),
    )


def _who(it: Seen | BrokerStarts) -> tuple[str | None, int | str]:
    """Its id, whatever its address was; the address of one that has none."""
    if it.node_id is not None:
        return it.cluster, it.node_id
    return it.cluster, it.address


def _in_order(it: Seen) -> tuple[object, ...]:
    cluster, name = _who(it)
    return cluster or "", isinstance(name, str), name, it.first, it.last


def _started(it: BrokerStarts) -> datetime:
    return it.start.time if it.start else it.last_seen


def _broker(rows: list[Seen], newest: datetime) -> BrokerStarts:
    last = max(rows, key=lambda it: it.last)
    told = [it for it in rows if it.software_version is not None]
    software = told[-1][8:11] if told else (None, None, None)
    return BrokerStarts(
        last.cluster,
        last.node_id,
        last.address,
        *software,
        tuple(_episodes(list(_starts(rows)))),
        last.failure if newest - last.last <= UNLISTED_FOR else UNLISTED,
        last.last,
    )


def _starts(rows: Iterable[Seen]) -> Iterator[Start]:
    """A start time is new when it is another than before, also when it is lower."""
    before: Seen | None = None
    for row in rows:
        if row.start_time is None or row.failure is not None:
            continue
        if before is None or row.start_time != before.start_time:
            moved = before is not None and (row.host, row.port) != (before.host, before.port)
            yield Start(
                row.start_time,
                before.last if before else None,
                row.first,
                before.address if before and moved else None,
                bool(before and before.start_time and row.start_time < before.start_time),
            )
        before = row


def _episodes(starts: Sequence[Start]) -> Iterator[Episode]:
    runs: list[list[Start]] = []
    for start in starts:
        if runs and start.time - runs[-1][-1].time <= FLAPPING_GAP:
            runs[-1].append(start)
        else:
            runs.append([start])
    for run in runs:
        if len(run) >= FLAPPING_STARTS:
            yield Episode(tuple(run))
        else:
            yield from (Episode((start,)) for start in run)


def _waves(brokers: Sequence[BrokerStarts]) -> Iterator[Wave]:
    """Restarts of several brokers, with less than an hour from one to the next."""
    times = sorted(
        (episode.starts[-1].time, -1 if it.node_id is None else it.node_id)
        for it in brokers
        for episode in it.episodes
        if episode.starts[-1].after is not None and not episode.is_flapping
    )
    runs: list[list[tuple[datetime, int]]] = []
    for time, node_id in times:
        if runs and time - runs[-1][-1][0] <= WAVE_GAP:
            runs[-1].append((time, node_id))
        else:
            runs.append([(time, node_id)])
    for run in runs:
        names = tuple(dict.fromkeys("?" if it < 0 else str(it) for _, it in run))
        if len(names) > 1:
            yield Wave(run[0][0], run[-1][0], names)


def _fewest_up(
    seen: Sequence[Seen], unlisted: Sequence[tuple[BrokerStarts, datetime]]
) -> tuple[int, datetime] | None:
    """Brokers that did not answer at the same time, at its worst."""
    down = [(_who(it), it.first, it.last) for it in seen if it.failure is not None]
    down += [(_who(it), newest, newest) for it, newest in unlisted]
    known = len({_who(it) for it in seen})
    worst: tuple[int, datetime] | None = None
    for at in sorted({first for _, first, _ in down}):
        out = {who for who, first, last in down if first <= at <= last}
        if worst is None or known - len(out) < worst[0]:
            worst = known - len(out), at
    return worst
