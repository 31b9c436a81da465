"""Coverage of a report: window, observed and known brokers, line counts, limits of the logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from rollcall.reports.query.database import Reader
from rollcall.reports.query.filters import check_cluster
from rollcall.tables.columns import FORMS


class CoverageLimit(StrEnum):
    """Something the logs do not show."""

    RAW_SASL = "raw-sasl"
    """SASL without a handshake and everything before authentication is never logged."""
    INFO_ONLY = "info-only"
    """Logs at INFO hold deprecated requests only (3.9.1 and later): the inventory is incomplete."""
    NO_NAMES = "no-names"
    """Brokers before 2.5 do not log software names."""
    FORGEABLE = "forgeable"
    """Text formats hold client ids unescaped: a client can forge the identity in a line."""
    NO_ERRORS = "no-errors"
    """Text formats hold no error codes that could be counted."""
    NO_ROLL_CALL = "no-roll-call"
    """Without a roll call the number of brokers is unknown."""
    REJECTS = "rejects"
    """Some lines could not be parsed."""


@dataclass(frozen=True, slots=True)
class ObservedBroker:
    """A broker with log lines in the window, under the name that the log has for it."""

    cluster: str | None
    broker: str | None
    requests: int
    hours: int
    """Hours with at least one line."""
    info_only: bool = False


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the cluster and of the window the logs cover."""

    first: datetime | None = None
    last: datetime | None = None
    days: int = 0
    """Days with at least one line."""
    observed: tuple[ObservedBroker, ...] = ()
    """One per name in the logs: a broker with two addresses occurs twice."""
    brokers_known: int = 0
    """Brokers of the newest roll calls. Without a roll call, the lowest number of brokers that
    explains the names in the logs: an IPv4 and an IPv6 address may belong to one broker."""
    not_observed: tuple[str, ...] = ()
    """Brokers of a roll call without a line in the window."""
    lines: int = 0
    """Of all files read, inside or outside the window."""
    rejected: int = 0
    requests: int = 0
    replica_requests: int = 0
    forwarded_requests: int = 0
    unidentified_requests: int | None = None
    """Of clients whose library was neither reported nor inferred; None if not counted."""
    listed_requests: int | None = None
    """Of the clients in the report; None if not counted."""
    limits: tuple[CoverageLimit, ...] = ()

    @property
    def brokers_observed(self) -> int:
        return self.brokers_known - len(self.not_observed)

    @property
    def client_requests(self) -> int:
        return self.requests - self.replica_requests - self.forwarded_requests

    @property
    def unidentified_share(self) -> float | None:
        """Share of the listed requests."""
        if self.unidentified_requests is None or not self.listed_requests:
            return None
        return self.unidentified_requests / self.listed_requests

    def is_thin(self, min_days: int) -> bool:
        """Whether a client that was not observed may still exist."""
        info_only = CoverageLimit.INFO_ONLY in self.limits
        return self.days < min_days or bool(self.not_observed) or info_only


KnownBroker = tuple[str | None, ...]
"""A broker of a roll call: its cluster, then all its names."""

DAY_SLOTS = 120
"""Days that fit into the bit mask of a HUGEINT; in a longer window several days share a bit."""
TEXT_FORMS = (1 << FORMS.index("H")) - 1
FORMS_WITHOUT_NAMES = (1 << FORMS.index("G")) - 1
LEVELS_BELOW_INFO = 0b11
INFO = 0b100

OBSERVED_HOURS = """
CREATE TABLE observed_hours AS
SELECT hour, cluster, broker, sum(requests) AS requests, sum(deprecated) AS deprecated,
  sum(replica_requests) AS replica_requests, sum(forwarded_requests) AS forwarded_requests,
  bit_or(hours) AS hours, bit_or(forms) AS forms, min(first_seen) AS first_seen,
  max(last_seen) AS last_seen
FROM {broker_hours} GROUP BY hour, cluster, broker
"""
BROKERS = """
SELECT cluster, broker, sum(requests), sum(bit_count(hours)), sum(deprecated), bit_or(forms)
FROM observed_hours GROUP BY cluster, broker ORDER BY cluster, broker
"""
WINDOW = """
SELECT min(first_seen), max(last_seen), coalesce(sum(replica_requests), 0),
  coalesce(sum(forwarded_requests), 0), coalesce(bit_or(forms), 0)
FROM observed_hours
"""
DAYS = """
SELECT date_trunc('day', min(hour)), date_trunc('day', max(hour)),
  count(DISTINCT date_trunc('day', hour))
FROM observed_hours
"""
LINES = """
SELECT coalesce(sum(lines), 0), coalesce(sum(rejected), 0),
  coalesce(bool_or(requests > 0 AND levels & $1 = 0 AND levels & $2 <> 0), false)
FROM {files} WHERE {where}
"""
NEWEST_ROLL_CALL = """
SELECT DISTINCT cluster, broker, host, host || ':' || port, CAST(node_id AS VARCHAR)
FROM {brokers} AS b
WHERE source = 'roll call' AND {where} AND hour = (
  SELECT max(hour) FROM {brokers} AS newest
  WHERE newest.source = 'roll call' AND newest.cluster IS NOT DISTINCT FROM b.cluster)
ORDER BY 2, 3, 1
"""


def prepare_observed_hours(reader: Reader) -> None:
    """Create the table `observed_hours`: requests per hour and broker."""
    if reader.is_new("observed_hours"):
        check_cluster(reader)
        reader.run(OBSERVED_HOURS.format(broker_hours=reader.broker_hours()))


def observed_days(reader: Reader) -> tuple[datetime | None, int, int]:
    """The first day, the number of days per bit of a day mask, the number of days with a line."""
    prepare_observed_hours(reader)
    ((first, last, days),) = reader.rows(DAYS)
    span = (last - first).days + 1 if first else 1
    return first, -(-span // DAY_SLOTS), days


def read_coverage(reader: Reader) -> Coverage:
    prepare_observed_hours(reader)
    observed = tuple(_observed_brokers(reader))
    known = _newest_roll_call(reader)
    comparison = compare_brokers(known, observed)
    ((first, last, replica, forwarded, forms),) = reader.rows(WINDOW)
    lines, rejected, info_file = _count_lines(reader)
    info_only = info_file or any(broker.info_only for broker in observed)
    return Coverage(
        first=first,
        last=last,
        days=observed_days(reader)[2],
        observed=observed,
        brokers_known=comparison.known,
        not_observed=comparison.not_observed,
        lines=lines,
        rejected=rejected,
        requests=sum(broker.requests for broker in observed),
        replica_requests=int(replica),
        forwarded_requests=int(forwarded),
        limits=tuple(
            limit
            for limit, applies in (
                (CoverageLimit.RAW_SASL, True),
                (CoverageLimit.INFO_ONLY, info_only),
                (CoverageLimit.NO_NAMES, int(forms) & FORMS_WITHOUT_NAMES),
                (CoverageLimit.FORGEABLE, int(forms) & TEXT_FORMS),
                (CoverageLimit.NO_ERRORS, int(forms) & TEXT_FORMS),
                (CoverageLimit.NO_ROLL_CALL, not known),
                (CoverageLimit.REJECTS, rejected),
            )
            if applies
        ),
    )


def _observed_brokers(reader: Reader) -> Iterator[ObservedBroker]:
    json_form = 1 << FORMS.index("J")
    for cluster, broker, requests, hours, deprecated, forms in reader.rows(BROKERS):
        info_only = requests == deprecated and forms == json_form
        yield ObservedBroker(cluster, broker, int(requests), int(hours), info_only)


def _count_lines(reader: Reader) -> tuple[int, int, bool]:
    """Lines, rejected lines, and whether a file holds nothing below INFO."""
    sql = LINES.format(files=reader.table("files"), where=reader.cluster())
    ((lines, rejected, info_only),) = reader.rows(sql, [LEVELS_BELOW_INFO, INFO])
    return int(lines), int(rejected), bool(info_only)


def _newest_roll_call(reader: Reader) -> list[KnownBroker]:
    """The brokers of the newest roll call of each cluster."""
    sql = NEWEST_ROLL_CALL.format(brokers=reader.table("brokers"), where=reader.cluster())
    return reader.rows(sql)


@dataclass(frozen=True, slots=True)
class BrokerComparison:
    """The brokers of the roll calls compared with those in the logs."""

    known: int
    not_observed: tuple[str, ...]


def compare_brokers(
    known: Sequence[KnownBroker], observed: Sequence[ObservedBroker]
) -> BrokerComparison:
    """Compare per cluster. Brokers of a cluster without a name may belong to any cluster."""
    clusters = {cluster for cluster, *_ in known}
    if None in clusters or any(broker.cluster is None for broker in observed):
        return _compare(known, observed)
    comparisons = [
        _compare(
            [row for row in known if row[0] == cluster],
            [broker for broker in observed if broker.cluster == cluster],
        )
        for cluster in sorted(clusters | {broker.cluster for broker in observed}, key=str)
    ]
    missing = tuple(name for comparison in comparisons for name in comparison.not_observed)
    return BrokerComparison(sum(comparison.known for comparison in comparisons), missing)


def _compare(known: Sequence[KnownBroker], observed: Sequence[ObservedBroker]) -> BrokerComparison:
    """Match brokers by name.

    A log may name a broker by its address or by its source, a roll call by its advertised host. If
    no name matches, each broker in the logs may be any of the missing ones. If some match, a name
    that does not is another address of a known broker and does not count."""
    if not known:
        return BrokerComparison(least_brokers(broker.broker for broker in observed), ())
    names = {name for _, *own in known for name in own}
    clusters = {cluster for cluster, *_ in known}
    unmatched = [broker for broker in observed if broker.broker not in names]
    foreign = [
        broker
        for broker in unmatched
        if broker.cluster not in clusters and broker.cluster is not None
    ]
    matched = {broker.broker for broker in observed} & names
    missing = [row for row in known if not matched.intersection(row[1:])]
    titles = [row[3] or row[1] or row[4] or "?" for row in missing]
    own = [broker.broker for broker in unmatched if broker not in foreign]
    if not matched and (others := least_brokers(own)):
        titles = [f"one of {', '.join(titles)}"] * max(0, len(titles) - others)
    return BrokerComparison(
        len(known) + least_brokers(broker.broker for broker in foreign), tuple(titles)
    )


def least_brokers(names: Iterable[str | None]) -> int:
    """The lowest number of brokers that can have these names.

    An IPv4 and an IPv6 address may belong to one broker. Lines without a broker (before 0.9) may
    come from any broker."""
    kinds = Counter("none" if name is None else _kind(name) for name in names)
    named = max(kinds["IPv4"], kinds["IPv6"]) + kinds["name"]
    return named or min(kinds["none"], 1)


def _kind(name: str) -> str:
    host = name.rpartition(":")[0] if name.count(":") == 1 or "]" in name else name
    if ":" in host:
        return "IPv6"
    return "IPv4" if host.replace(".", "").isdigit() else "name"
