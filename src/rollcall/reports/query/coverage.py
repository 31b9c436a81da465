"""What was heard: hours and brokers, the window they make, and the basis of an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from rollcall.reports.query.basis import Basis, HeardBroker, Limit
from rollcall.reports.query.database import Reader
from rollcall.reports.query.unknown_names import check_cluster
from rollcall.tables.columns import FORMS

Called = tuple[str | None, ...]

SLOTS = 120
"""Days of a window that fit the bits of a number; of longer ones, several days share a bit."""
TEXT_FORMS = (1 << FORMS.index("H")) - 1
WITHOUT_NAMES = (1 << FORMS.index("G")) - 1
LEVELS_BELOW_INFO = 0b11
INFO = 0b100

HEARD = """
CREATE TABLE heard AS
SELECT hour, cluster, broker, sum(requests) AS requests, sum(deprecated) AS deprecated,
  sum(replica_requests) AS replica_requests, sum(forwarded_requests) AS forwarded_requests,
  bit_or(hours) AS hours, bit_or(forms) AS forms, min(first_seen) AS first_seen,
  max(last_seen) AS last_seen
FROM {broker_hours} GROUP BY hour, cluster, broker
"""
BROKERS = """
SELECT cluster, broker, sum(requests), sum(bit_count(hours)), sum(deprecated), bit_or(forms)
FROM heard GROUP BY cluster, broker ORDER BY cluster, broker
"""
ALL = """
SELECT min(first_seen), max(last_seen), coalesce(sum(replica_requests), 0),
  coalesce(sum(forwarded_requests), 0), coalesce(bit_or(forms), 0)
FROM heard
"""
DAYS = """
SELECT date_trunc('day', min(hour)), date_trunc('day', max(hour)),
  count(DISTINCT date_trunc('day', hour))
FROM heard
"""
LINES = """
SELECT coalesce(sum(lines), 0), coalesce(sum(rejected), 0),
  coalesce(bool_or(requests > 0 AND levels & $1 = 0 AND levels & $2 <> 0), false)
FROM {files} WHERE {where}
"""
ROLL_CALLED = """
SELECT DISTINCT cluster, broker, host, host || ':' || port, CAST(node_id AS VARCHAR)
FROM {brokers} AS b
WHERE source = 'roll call' AND {where} AND hour = (
  SELECT max(hour) FROM {brokers} AS newest
  WHERE newest.source = 'roll call' AND newest.cluster IS NOT DISTINCT FROM b.cluster)
ORDER BY 2, 3, 1
"""


def hear(reader: Reader) -> None:
    """The table `heard`: every hour of every broker, and how much."""
    if reader.is_new("heard"):
        check_cluster(reader)
        reader.run(HEARD.format(broker_hours=reader.broker_hours()))


def days_heard(reader: Reader) -> tuple[datetime | None, int, int]:
    """The first day, the days that one bit stands for, and how many days have a line."""
    hear(reader)
    ((first, last, days),) = reader.rows(DAYS)
    span = (last - first).days + 1 if first else 1
    return first, -(-span // SLOTS), days


def read_basis(reader: Reader) -> Basis:
    hear(reader)
    heard = tuple(_brokers(reader))
    known = _roll_called(reader)
    roll = compare(known, heard)
    ((first, last, replica, forwarded, forms),) = reader.rows(ALL)
    lines = _lines(reader)
    return Basis(
        first=first,
        last=last,
        days=days_heard(reader)[2],
        heard=heard,
        brokers_known=roll.known,
        not_heard=roll.not_heard,
        lines=lines[0],
        rejected=lines[1],
        requests=sum(it.requests for it in heard),
        replica_requests=int(replica),
        forwarded_requests=int(forwarded),
        limits=tuple(_limits(heard, known, int(forms), lines)),
    )


def _brokers(reader: Reader) -> Iterator[HeardBroker]:
    form_j = 1 << FORMS.index("J")
    for cluster, broker, requests, hours, deprecated, forms in reader.rows(BROKERS):
        info_only = requests == deprecated and forms == form_j
        yield HeardBroker(cluster, broker, int(requests), int(hours), info_only)


def _lines(reader: Reader) -> tuple[int, int, bool]:
    """Lines, rejected lines, and whether a file held nothing below INFO."""
    sql = LINES.format(files=reader.table("files"), where=reader.cluster())
    ((lines, rejected, info_only),) = reader.rows(sql, [LEVELS_BELOW_INFO, INFO])
    return int(lines), int(rejected), bool(info_only)


def _roll_called(reader: Reader) -> list[Called]:
    """The brokers of the newest roll call of each cluster: the cluster, and all their names."""
    return reader.rows(ROLL_CALLED.format(brokers=reader.table("brokers"), where=reader.cluster()))


def _limits(
    heard: Sequence[HeardBroker],
    known: Sequence[object],
    forms: int,
    lines: tuple[int, int, bool],
) -> Iterator[Limit]:
    yield Limit.RAW_SASL
    if lines[2] or any(it.info_only for it in heard):
        yield Limit.INFO_ONLY
    if forms & WITHOUT_NAMES:
        yield Limit.NO_NAMES
    if forms & TEXT_FORMS:
        yield Limit.FORGEABLE
        yield Limit.NO_ERRORS
    if not known:
        yield Limit.NO_ROLL_CALL
    if lines[1]:
        yield Limit.REJECTS


@dataclass(frozen=True, slots=True)
class Roll:
    """The brokers of the roll calls, beside those that were heard."""

    known: int
    not_heard: tuple[str, ...]


def compare(called: Sequence[Called], heard: Sequence[HeardBroker]) -> Roll:
    """Each cluster by itself; where one has no name, its brokers may be of any."""
    clusters = {cluster for cluster, *_ in called}
    if None in clusters or any(it.cluster is None for it in heard):
        return _compare(called, heard)
    rolls = [
        _compare(
            [row for row in called if row[0] == cluster],
            [it for it in heard if it.cluster == cluster],
        )
        for cluster in sorted(clusters | {it.cluster for it in heard}, key=str)
    ]
    missing = tuple(name for roll in rolls for name in roll.not_heard)
    return Roll(sum(roll.known for roll in rolls), missing)


def _compare(called: Sequence[Called], heard: Sequence[HeardBroker]) -> Roll:
    """A log may name a broker by its address, or as its source was called, and a roll call by the
    host it gives its clients. If no name fits, one heard may be any of the missing. If some do,
    what fits none is another address of a broker, and stands for nobody."""
    if not called:
        return Roll(at_least(it.broker for it in heard), ())
    names = {name for _, *its in called for name in its}
    clusters = {cluster for cluster, *_ in called}
    strange = [it for it in heard if it.broker not in names]
    others = [it for it in strange if it.cluster not in clusters and it.cluster is not None]
    fits = {it.broker for it in heard} & names
    missing = [row for row in called if not fits.intersection(row[1:])]
    titles = [row[3] or row[1] or row[4] or "?" for row in missing]
    ours = [it.broker for it in strange if it not in others]
    strangers = 0 if fits else at_least(ours)
    if strangers:
        titles = [f"one of {', '.join(titles)}"] * max(0, len(titles) - strangers)
    return Roll(len(called) + at_least(it.broker for it in others), tuple(titles))


def at_least(names: Iterable[str | None]) -> int:
    """How many brokers have these names: one of IPv4 and one of IPv6 may be the same broker's, and
    lines that name none (before 0.9) may be any broker's."""
    kinds = Counter("none" if name is None else _kind(name) for name in names)
    named = max(kinds["IPv4"], kinds["IPv6"]) + kinds["name"]
    return named or min(kinds["none"], 1)


def _kind(name: str) -> str:
    host = name.rpartition(":")[0] if name.count(":") == 1 or "]" in name else name
    if ":" in host:
        return "IPv6"
    return "IPv4" if host.replace(".", "").isdigit() else "name"
