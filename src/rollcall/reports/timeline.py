"""Library versions per day, for a chart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from rollcall.reports.query.coverage import observed_days
from rollcall.reports.query.database import Tables, open_tables
from rollcall.reports.query.filters import NO_FILTERS, Filters
from rollcall.reports.query.usage import prepare_usage

SERIES_SHOWN = 11
OTHERS = "others"
NO_NAME = "no name reported"

APPLICATIONS_PER_DAY = """
WITH present AS (
  SELECT coalesce(software_name || coalesce(' ' ||
      nullif(regexp_extract(software_version, '[0-9]+([.][0-9]+)?'), ''), ''), $1) AS software,
    cluster, principal, application, bit_or(days) AS days
  FROM selected_identities
    JOIN (SELECT part, bit_or(days) AS days FROM part_usage GROUP BY part) USING (part)
  GROUP BY ALL
)
SELECT software, slot, count(*)
FROM present, range($2) AS slots(slot) WHERE (days >> CAST(slot AS HUGEINT)) & 1 = 1
GROUP BY ALL ORDER BY ALL
"""
SLOTS = "SELECT bit_length(CAST(bit_or(days) AS BIT)) FROM client_usage"


@dataclass(frozen=True, slots=True)
class VersionTimeline:
    days: tuple[datetime, ...]
    series: Mapping[str, tuple[int, ...]]
    """Number of applications per day, per software and minor version, the most common first."""


def version_timeline(tables: Tables, *, filters: Filters = NO_FILTERS) -> VersionTimeline:
    reader = open_tables(tables, filters)
    prepare_usage(reader)
    first, days_per_slot, _ = observed_days(reader)
    if first is None:
        return VersionTimeline((), {})
    ((slots,),) = reader.rows(SLOTS)
    counts: dict[str, dict[int, int]] = {}
    for software, slot, count in reader.rows(APPLICATIONS_PER_DAY, [NO_NAME, int(slots or 0)]):
        counts.setdefault(software, {})[slot] = count
    last = max((slot for by_slot in counts.values() for slot in by_slot), default=0)
    days = tuple(first + timedelta(days=slot * days_per_slot) for slot in range(last + 1))
    return VersionTimeline(days, _series(counts, last + 1))


def _series(counts: Mapping[str, Mapping[int, int]], slots: int) -> Mapping[str, tuple[int, ...]]:
    ranked = sorted(counts, key=lambda name: (-sum(counts[name].values()), name))
    series = {
        name: tuple(counts[name].get(slot, 0) for slot in range(slots))
        for name in ranked[:SERIES_SHOWN]
    }
    if rest := ranked[SERIES_SHOWN:]:
        series[OTHERS] = tuple(
            sum(counts[name].get(slot, 0) for name in rest) for slot in range(slots)
        )
    return series
