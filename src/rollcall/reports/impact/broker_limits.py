"""The maximum version that a broker offered when a client used a lower or an equal one.

It comes from the first of these that is known: an ApiVersions response of the broker in the log; a
roll call; a configured release; a floor, which is the highest version that any client used there or
the maximum of the oldest release that writes this form of the request log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from rollcall.catalog import Release, accepted_ranges, log_format
from rollcall.reports.query.brokers import BrokerKey, RangesSource, ReportedRanges


class MaximumProvenance(StrEnum):
    """How a broker's maximum is known."""

    LOG = "log"
    ROLL_CALL = "roll call"
    CONFIGURED = "configured"
    FLOOR = "floor"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class BrokerMaximum:
    """The maximum version that brokers offered for an API while a client used some version."""

    version: int | None = None
    """The highest of all brokers and hours in which the client used its version."""
    provenance: MaximumProvenance = MaximumProvenance.UNKNOWN
    is_reached: bool = False
    """The client's version was the maximum on every broker and in every hour."""


class BrokerUse(NamedTuple):
    """A version that a client used on a broker in an hour."""

    broker: BrokerKey
    hour: datetime
    api_key: int
    api_version: int


@dataclass(frozen=True)
class BrokerMaximums:
    reported: Mapping[BrokerKey, Mapping[RangesSource, list[ReportedRanges]]]
    log_forms: Mapping[BrokerKey, str]
    """The oldest form of the request log that each broker wrote."""
    release: Release | None = None
    """The configured release."""

    @classmethod
    def build(
        cls,
        reported: Iterable[ReportedRanges],
        log_forms: Mapping[BrokerKey, str],
        release: Release | None,
    ) -> BrokerMaximums:
        by_broker: dict[BrokerKey, dict[RangesSource, list[ReportedRanges]]] = {}
        for report in sorted(reported, key=lambda report: report.first):
            by_source = by_broker.setdefault(report.broker, {})
            by_source.setdefault(report.source, []).append(report)
        return cls(by_broker, log_forms, release)

    @property
    def clusters(self) -> set[str | None]:
        return {cluster for cluster, _ in self.log_forms}

    def lowest(self, cluster: str | None, api_key: int) -> tuple[int, MaximumProvenance]:
        """The lowest maximum of all brokers of a cluster at any time; -1 if unknown for one."""
        lows = [self._lowest_of(key, api_key) for key in self.log_forms if key[0] == cluster]
        return min(lows, key=lambda low: low[0], default=(-1, MaximumProvenance.UNKNOWN))

    def _lowest_of(self, broker: BrokerKey, api_key: int) -> tuple[int, MaximumProvenance]:
        reports = self._reports(broker, api_key)
        return _maximum(reports, api_key) if reports else self._floor(broker, api_key)

    def during(
        self, uses: Iterable[BrokerUse], highest: Mapping[tuple[BrokerKey, int], int]
    ) -> BrokerMaximum:
        """The maximum while one client used one version.

        `highest` is the highest version that any client used, per broker and API."""
        version, provenance, is_reached = None, MaximumProvenance.UNKNOWN, True
        for use in uses:
            maximum, known_from = self._at(use, highest.get((use.broker, use.api_key), -1))
            if version is None or maximum > version:
                version, provenance = maximum, known_from
            is_reached = is_reached and use.api_version >= maximum
        return BrokerMaximum(version, provenance, is_reached)

    def _at(self, use: BrokerUse, highest: int) -> tuple[int, MaximumProvenance]:
        if reports := self._reports(use.broker, use.api_key):
            return _maximum(_in_effect(reports, use.hour), use.api_key)
        maximum, provenance = self._floor(use.broker, use.api_key)
        return (maximum, provenance) if maximum >= highest else (highest, MaximumProvenance.FLOOR)

    def _reports(self, broker: BrokerKey, api_key: int) -> list[ReportedRanges]:
        """The reports of a broker that list an API: of the log, otherwise of roll calls."""
        by_source = self.reported.get(broker, {})
        for source in (RangesSource.LOG, RangesSource.ROLL_CALL):
            reports = [report for report in by_source.get(source, ()) if api_key in report.ranges]
            if reports:
                return reports
        return []

    def _floor(self, broker: BrokerKey, api_key: int) -> tuple[int, MaximumProvenance]:
        provenance = (
            MaximumProvenance.FLOOR if self.release is None else MaximumProvenance.CONFIGURED
        )
        release, form = self.release, self.log_forms.get(broker)
        if release is None and form is not None:
            release = log_format(form).since
        range_ = accepted_ranges(release).get(api_key) if release is not None else None
        return (range_.high if range_ else -1), provenance


def _maximum(reports: list[ReportedRanges], api_key: int) -> tuple[int, MaximumProvenance]:
    """The lowest maximum in some reports, with the provenance of the first one."""
    lowest = min(report.ranges[api_key].high for report in reports)
    return lowest, MaximumProvenance(reports[0].source)


def _in_effect(reports: list[ReportedRanges], hour: datetime) -> list[ReportedRanges]:
    """The last report before an hour and all reports in it; without any, the first one after it.

    A row at midnight may cover the whole day."""
    span = timedelta(hours=1) if hour.hour else timedelta(days=1)
    found = [report for report in reports if report.first < hour + span and report.last >= hour]
    if not any(report.first < hour for report in found):
        before = [report for report in reports if report.last < hour]
        found += sorted(before, key=lambda report: report.last)[-1:]
    return found or reports[:1]
