"""Which library versions were on the cluster, day by day: for a chart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from rollcall.reports.query.coverage import days_heard
from rollcall.reports.query.database import Tables, open_tables
from rollcall.reports.query.filters import EVERYTHING, Question
from rollcall.reports.query.usage import make_sightings

SHOWN = 11
OTHERS = "others"
NAMELESS = "no name told"

BY_DAY = """
WITH present AS (
  SELECT coalesce(software_name || coalesce(' ' ||
      nullif(regexp_extract(software_version, '[0-9]+([.][0-9]+)?'), ''), ''), $1) AS software,
    cluster, principal, application, bit_or(days) AS days
  FROM chosen JOIN (SELECT part, bit_or(days) AS days FROM seen GROUP BY part) USING (part)
  GROUP BY ALL
)
SELECT software, slot, count(*)
FROM present, range($2) AS slots(slot) WHERE (days >> CAST(slot AS HUGEINT)) & 1 = 1
GROUP BY ALL ORDER BY ALL
"""


@dataclass(frozen=True, slots=True)
class OverTime:
    days: tuple[datetime, ...]
    series: Mapping[str, tuple[int, ...]]
    """Applications on each day, for each software and version; the commonest first."""


def versions_over_time(tables: Tables, *, question: Question = EVERYTHING) -> OverTime:
    reader = open_tables(tables, question)
    make_sightings(reader)
    first, width, _ = days_heard(reader)
    if first is None:
        return OverTime((), {})
    ((slots,),) = reader.rows("SELECT bit_length(CAST(bit_or(days) AS BIT)) FROM sightings")
    found: dict[str, dict[int, int]] = {}
    for software, slot, count in reader.rows(BY_DAY, [NAMELESS, int(slots or 0)]):
        found.setdefault(software, {})[slot] = count
    last = max((slot for counts in found.values() for slot in counts), default=0)
    days = tuple(first + timedelta(days=slot * width) for slot in range(last + 1))
    return OverTime(days, _shown(found, last + 1))


def _shown(found: Mapping[str, Mapping[int, int]], slots: int) -> Mapping[str, tuple[int, ...]]:
    ranked = sorted(found, key=lambda name: (-sum(found[name].values()), name))
    series = {
        name: tuple(found[name].get(slot, 0) for slot in range(slots)) for name in ranked[:SHOWN]
    }
    if rest := ranked[SHOWN:]:
        series[OTHERS] = tuple(
            sum(found[name].get(slot, 0) for name in rest) for slot in range(slots)
        )
    return series
