"""The highest version that a broker had when a client used another: below it, the client chose.

It comes from the broker's own ApiVersions answer in the log, else from a roll call, else from a
release that was given, else from a floor: the highest version anyone used there, and what the
oldest release has that writes this form of the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from rollcall.catalog import Ranges, Release, accepted_ranges, log_format


class Origin(StrEnum):
    """How the broker's maximum is known."""

    LOG = "log"
    ROLL_CALL = "roll call"
    CONFIGURED = "configured"
    FLOOR = "floor"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The broker's maximum beside a refused version of a client."""

    maximum: int | None = None
    """The highest of all brokers and hours in which the version was used."""
    origin: Origin = Origin.NONE
    is_reached: bool = False
    """Wherever it was used, it was the broker's highest."""


class Told(NamedTuple):
    """What a broker told, and from when to when."""

    broker: BrokerKey
    origin: Origin
    time: datetime
    last: datetime
    ranges: Ranges


BrokerKey = tuple[str | None, str | None]
"""Cluster and broker, as the tables name them."""


class Used(NamedTuple):
    broker: BrokerKey
    hour: datetime
    api_key: int
    api_version: int


@dataclass(frozen=True)
class Ceilings:
    told: Mapping[BrokerKey, Mapping[Origin, list[Told]]]
    floors: Mapping[BrokerKey, str]
    """The oldest form of the request log that each broker wrote."""
    release: Release | None = None

    @classmethod
    def build(
        cls, told: Iterable[Told], floors: Mapping[BrokerKey, str], release: Release | None
    ) -> Ceilings:
        by_broker: dict[BrokerKey, dict[Origin, list[Told]]] = {}
        for it in sorted(told, key=lambda it: it.time):
            by_broker.setdefault(it.broker, {}).setdefault(it.origin, []).append(it)
        return cls(by_broker, floors, release)

    @property
    def clusters(self) -> set[str | None]:
        return {cluster for cluster, _ in self.floors}

    def lowest(self, cluster: str | None, api_key: int) -> tuple[int, Origin]:
        """No broker heard of the cluster had a lower maximum at any time; -1 when nothing is
        known of one."""
        lows = [self._lowest_of(it, api_key) for it in self.floors if it[0] == cluster]
        return min(lows, key=lambda low: low[0], default=(-1, Origin.NONE))

    def _lowest_of(self, broker: BrokerKey, api_key: int) -> tuple[int, Origin]:
        for entries in self._by_origin(broker):
            found = [it for it in entries if api_key in it.ranges]
            if found:
                return min(it.ranges[api_key].high for it in found), found[0].origin
        return self._floor(broker, api_key)

    def of(self, used: Iterable[Used], highest: Mapping[tuple[BrokerKey, int], int]) -> Ceiling:
        """Of one version that one client used; `highest` is the most anyone used there."""
        best, reached = Ceiling(is_reached=True), True
        for it in used:
            maximum, origin = self._at(it, highest.get((it.broker, it.api_key), -1))
            if best.maximum is None or maximum > best.maximum:
                best = Ceiling(maximum, origin)
            reached = reached and it.api_version >= maximum
        return Ceiling(best.maximum, best.origin, reached)

    def _at(self, used: Used, highest: int) -> tuple[int, Origin]:
        for entries in self._by_origin(used.broker):
            having = [it for it in entries if used.api_key in it.ranges]
            if having:
                told = _in_effect(having, used.hour)
                return min(it.ranges[used.api_key].high for it in told), told[0].origin
        maximum, origin = self._floor(used.broker, used.api_key)
        return (maximum, origin) if maximum >= highest else (highest, Origin.FLOOR)

    def _by_origin(self, broker: BrokerKey) -> Iterable[list[Told]]:
        entries = self.told.get(broker, {})
        return (entries[origin] for origin in (Origin.LOG, Origin.ROLL_CALL) if origin in entries)

    def _floor(self, broker: BrokerKey, api_key: int) -> tuple[int, Origin]:
        if self.release is not None:
            range_ = accepted_ranges(self.release).get(api_key)
            return (range_.high if range_ else -1), Origin.CONFIGURED
        form = self.floors.get(broker)
        range_ = accepted_ranges(log_format(form).since).get(api_key) if form else None
        return (range_.high if range_ else -1), Origin.FLOOR


def _in_effect(entries: list[Told], hour: datetime) -> list[Told]:
    """What was told last before that hour, and during it; when nothing was, the first after.

    A row at midnight may stand for the whole day."""
    span = timedelta(hours=1) if hour.hour else timedelta(days=1)
    told = [it for it in entries if it.time < hour + span and it.last >= hour]
    if not any(it.time < hour for it in told):
        before = [it for it in entries if it.last < hour]
        told += sorted(before, key=lambda it: it.last)[-1:]
    return told or entries[:1]
