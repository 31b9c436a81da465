"""API ranges that brokers reported, over time, and the releases that match them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple

from rollcall.catalog import Range, Ranges, identify_release, intersect
from rollcall.reports.query.coverage import Coverage, ObservedBroker, read_coverage
from rollcall.reports.query.database import Reader
from rollcall.tables.columns import FORMS

PRODUCE = 0
ERROR_RESPONSE_APIS = 1
"""An ApiVersions response with an error lists one API, ApiVersions itself."""

BrokerKey = tuple[str | None, str | None]
"""Cluster and broker, as named in the tables."""


class RangesSource(StrEnum):
    """Where a report of API ranges comes from; the values of the column `source`."""

    LOG = "log"
    """An ApiVersions response in the request log."""
    ROLL_CALL = "roll call"


class ReportedRanges(NamedTuple):
    """API ranges that a broker reported from `first` to `last`."""

    broker: BrokerKey
    source: RangesSource
    first: datetime
    last: datetime
    ranges: Ranges


# Few distinct lists are reported, and each is long: fetch each of them once.
RANGE_LISTS = """
CREATE TABLE range_lists AS
SELECT cluster, broker, source, host, port, node_id, first_seen, last_seen, ranges,
  hash(ranges) AS list
FROM {lists} WHERE len(ranges) > {error_apis}
"""
REPORTED = """
SELECT cluster, broker, source, host, port, node_id, first_seen, last_seen, list
FROM range_lists ORDER BY first_seen, last_seen, cluster, broker, source, list
"""
FORMS_OF_BROKERS = """
SELECT cluster, broker, bit_or(forms) FROM observed_hours GROUP BY cluster, broker
"""


def read_brokers(reader: Reader) -> tuple[Coverage, list[ReportedRanges]]:
    """Coverage, and the API ranges that the brokers reported."""
    coverage = read_coverage(reader)
    return coverage, read_reported_ranges(reader, coverage.observed)


def read_reported_ranges(
    reader: Reader, observed: Sequence[ObservedBroker]
) -> list[ReportedRanges]:
    """All reported API ranges, with the brokers named as in the logs."""
    reader.run(RANGE_LISTS.format(lists=reader.broker_lists(), error_apis=ERROR_RESPONSE_APIS))
    rows = reader.rows("SELECT list, any_value(ranges) FROM range_lists GROUP BY list")
    lists = {list_: _ranges(ranges) for list_, ranges in rows}
    brokers = {(broker.cluster, broker.broker) for broker in observed}
    return [
        ReportedRanges(key, RangesSource(row[2]), row[6], row[7], lists[row[8]])
        for row in reader.rows(REPORTED)
        for key in _log_names(row, brokers)
    ]


def _log_names(row: tuple[Any, ...], observed: set[BrokerKey]) -> set[BrokerKey]:
    """The names that the logs have for a broker.

    A roll call names a broker by host, address and id, and its cluster by the cluster id; logs
    that were read without --cluster have no cluster."""
    cluster, broker, source, host, port, node_id = row[:6]
    if source == RangesSource.LOG:
        return {(cluster, broker)}
    names = {broker, host, f"{host}:{port}", str(node_id)} - {None}
    return observed & {(name_of, name) for name_of in (cluster, None) for name in names}


def _ranges(rows: Sequence[Mapping[str, int]]) -> Ranges:
    return {row["api_key"]: Range(row["min_version"], row["max_version"]) for row in rows}


def common_ranges(reported: Sequence[ReportedRanges]) -> Mapping[str | None, Ranges]:
    """Per cluster, the intersection of the ranges that its brokers reported last.

    Controller listeners, which lack Produce, are in the same logs and are ignored."""
    newest: dict[BrokerKey, ReportedRanges] = {}
    for report in sorted(
        reported, key=lambda report: (report.source is RangesSource.LOG, report.last)
    ):
        if PRODUCE in report.ranges:
            newest[report.broker] = report
    clusters = {broker[0] for broker in newest}
    return {
        cluster: intersect(
            _distinct(report.ranges for broker, report in newest.items() if broker[0] == cluster)
        )
        for cluster in clusters
    }


def _distinct(lists: Iterable[Ranges]) -> Iterable[Ranges]:
    """Each list once: brokers that reported the same ranges share one object."""
    return {id(ranges): ranges for ranges in lists}.values()


def release_lines(reported: Sequence[ReportedRanges]) -> tuple[str, ...]:
    """The release lines that match the ranges that brokers reported last, of all clusters."""
    newest = {report.broker: report for report in sorted(reported, key=lambda report: report.last)}
    lines: dict[str, None] = {}
    for ranges in _distinct(report.ranges for report in newest.values()):
        lines.update(dict.fromkeys(identify_release(ranges).lines))
    return tuple(lines)


def oldest_log_forms(reader: Reader) -> Mapping[BrokerKey, str]:
    """The oldest form of the request log that each broker wrote in the window."""
    oldest = {}
    for cluster, broker, forms in reader.rows(FORMS_OF_BROKERS):
        bits = int(forms or 0)
        lowest_bit = (bits & -bits).bit_length() - 1
        oldest[cluster, broker] = FORMS[max(lowest_bit, 0)]
    return oldest
