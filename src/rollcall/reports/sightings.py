"""Who used what: usage added up per client and version, nameless rows given the name they had.

A nameless row takes the one name that was told by the same principal, client id and host within
a day; where two were told, they are candidates. The pipeline never rewrites what a line told.
"""

from __future__ import annotations

from rollcall.catalog import application_rules
from rollcall.reports.hearing import days_heard
from rollcall.reports.known import check_names
from rollcall.reports.reading import Reader
from rollcall.tables.views import text

IDENTITY = (
    "cluster",
    "listener",
    "principal",
    "client_id",
    "host",
    "software_name",
    "software_version",
)
ANY_IDENTITY = ", ".join(f"any_value({name}) AS {name}" for name in IDENTITY)
WHO = ("cluster", "principal", "client_id", "host")

USED = """
SELECT hash({identity}) AS id, *
FROM (
  SELECT {any_identity}, any_value(api_key) AS api_key, any_value(api_version) AS api_version,
    CAST(sum(requests) AS BIGINT) AS requests, min(first_seen) AS first_seen,
    max(last_seen) AS last_seen, bit_or({slots}) AS days {more}
  FROM (SELECT *, date_diff('day', {day}, month) AS days_on FROM {month_usage})
  GROUP BY hash({identity}, api_key, api_version)
)
"""
SEEN = """
CREATE TEMP TABLE seen AS
SELECT id, {identity}, api_key, api_version, requests, first_seen, last_seen, days,
  false AS inferred, CAST(NULL AS VARCHAR[]) AS other_names
FROM {used}
"""
# The days of a month as bits of the window: moved along, or each to the bit it shares.
MOVED = """if(days_on < 0, CAST(days AS HUGEINT) >> -days_on,
      CAST(days AS HUGEINT) << CAST(days_on AS HUGEINT))"""
SHARED = """list_aggregate(list_transform(list_filter(range(31), lambda d: (days >> d) & 1 = 1),
      lambda d: 1::HUGEINT << CAST((days_on + d) // {width} AS HUGEINT)), 'bit_or')"""

TOLD = """
CREATE TEMP TABLE told AS
WITH names AS (
  SELECT {who}, software_name, software_version, bit_or(days) AS days
  FROM seen WHERE software_name IS NOT NULL GROUP BY ALL
), nameless AS (
  SELECT id, {who}, bit_or(days) AS days FROM seen WHERE software_name IS NULL GROUP BY ALL
)
SELECT nameless.id, nameless.days, software_name, software_version,
  names.days | (names.days << 1) | (names.days >> 1) AS near
FROM nameless JOIN names ON {same}
WHERE near & nameless.days <> 0
"""

# Most nameless rows had one name near all the time; the others are looked at day by day.
WHOLE = """
UPDATE seen SET software_name = one.software_name, software_version = one.software_version,
  inferred = true
FROM (
  SELECT id, any_value(software_name) AS software_name,
    any_value(software_version) AS software_version
  FROM told GROUP BY id HAVING {is_whole}
) AS one
WHERE seen.id = one.id
"""
IN_PART = "SELECT 1 FROM told GROUP BY id HAVING NOT ({is_whole}) LIMIT 1"
IS_WHOLE = "count(*) = 1 AND bit_or(near) & any_value(days) = any_value(days)"

BY_DAY = """
CREATE TEMP TABLE by_day AS
SELECT hash({identity}) AS id, {any_identity}, api_key, api_version, {slot} AS slot,
  CAST(sum(requests) AS BIGINT) AS requests,
  min(first_seen) AS first_seen, max(last_seen) AS last_seen
FROM {day_usage}
WHERE software_name IS NULL
  AND hash({identity}) IN (SELECT id FROM told GROUP BY id HAVING NOT ({is_whole}))
GROUP BY id, api_key, api_version, slot
"""
NAMES_OF_DAY = """
SELECT by_day.id, slot, list_sort(list(DISTINCT told.software_name)) AS names,
  list_sort(list(DISTINCT told.software_version)) AS versions
FROM (SELECT DISTINCT id, slot FROM by_day) AS by_day
  JOIN told ON told.id = by_day.id AND (told.near >> CAST(slot AS HUGEINT)) & 1 = 1
GROUP BY ALL
"""
SPLIT = """
INSERT INTO seen BY NAME
SELECT by_day.id, {kept}, if(len(names) = 1, names[1], NULL) AS software_name,
  if(len(names) = 1 AND len(versions) = 1, versions[1], NULL) AS software_version,
  coalesce(len(names) = 1, false) AS inferred, if(len(names) > 1, names, NULL) AS other_names,
  api_key, api_version, CAST(sum(requests) AS BIGINT) AS requests,
  min(first_seen) AS first_seen, max(last_seen) AS last_seen,
  bit_or(1::HUGEINT << CAST(slot AS HUGEINT)) AS days
FROM by_day LEFT JOIN ({names_of_day}) AS named USING (id, slot)
GROUP BY by_day.id, {kept}, names, versions, api_key, api_version
"""

APPLICATIONS = """
CREATE TEMP TABLE sightings AS
SELECT seen.*, application
FROM (SELECT * FROM seen WHERE {whose}) AS seen LEFT JOIN (
  SELECT client_id AS raw_id, {application} AS application
  FROM (SELECT DISTINCT client_id FROM seen)
) AS applications ON client_id = raw_id
"""


def make_used(reader: Reader, *more: str) -> None:
    """The temporary table `used`: what was told, added up; and what else is wanted of it."""
    reader.run(f"CREATE TEMP TABLE used AS {_used(reader, *more)}")
    reader.is_new("used")


def _used(reader: Reader, *more: str) -> str:
    day, width = _first_day(reader)
    return USED.format(
        identity=", ".join(IDENTITY),
        any_identity=ANY_IDENTITY,
        day=day,
        slots=MOVED if width == 1 else SHARED.format(width=width),
        month_usage=reader.month_usage(),
        more="".join(f", {it}" for it in more),
    )


def _first_day(reader: Reader) -> tuple[str, int]:
    """The day of the first bit, and the days that one bit stands for."""
    first, width, _ = days_heard(reader)
    return (f"TIMESTAMP '{first:%Y-%m-%d}'" if first else "TIMESTAMP '1970-01-01'"), width


def make_sightings(reader: Reader) -> None:
    """The temporary table `sightings`, from which everything about clients is asked."""
    if not reader.is_new("sightings"):
        return
    day, width = _first_day(reader)
    words = {
        "used": f"({_used(reader)})" if reader.is_new("used") else "used",
        "identity": ", ".join(IDENTITY),
        "any_identity": ANY_IDENTITY,
        "kept": ", ".join(IDENTITY[:-2]),
        "who": ", ".join(WHO),
        "same": " AND ".join(f"nameless.{n} IS NOT DISTINCT FROM names.{n}" for n in WHO),
        "slot": f"(date_diff('day', {day}, day) // {width})",
        "day_usage": reader.day_usage(),
        "is_whole": IS_WHOLE,
        "names_of_day": NAMES_OF_DAY,
    }
    reader.run(SEEN.format(**words))
    reader.run(TOLD.format(**words))
    if reader.rows(IN_PART.format(**words)):
        reader.run(BY_DAY.format(**words))
        reader.run("DELETE FROM seen WHERE id IN (SELECT id FROM by_day)")
        reader.run(SPLIT.format(**words))
    reader.run(WHOLE.format(**words))
    check_names(reader)
    reader.run(
        APPLICATIONS.format(application=_application(reader.question.raw_ids), whose=reader.whose())
    )


def _application(raw: bool) -> str:
    """The rules of the catalog as one expression, for each client id once."""
    found = "client_id"
    for rule in () if raw else application_rules():
        found = f"regexp_replace({found}, {text(rule.find)}, {text(rule.put)}, 'g')"
    return found
