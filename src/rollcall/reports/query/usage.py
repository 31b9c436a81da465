"""Who used what: usage added up per client and version, nameless rows given the name they had.

A nameless row takes the one name that was told by the same principal, client id and host within
a day; where two were told, they are candidates. The pipeline never rewrites what a line told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rollcall.catalog import application_rules
from rollcall.reports.query.coverage import days_heard
from rollcall.reports.query.database import Reader
from rollcall.reports.query.unknown_names import check_names
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
WHO = ("cluster", "principal", "client_id", "host")
CLIENT = ("cluster", "principal", "application", "software_name")

# Texts are kept once for each identity, in a tenth of the rows: what they used is numbers. They are
# those of whole months; where these have to be added up, it is done once: `used` has the texts too.
USED = """
CREATE TABLE used AS
SELECT hash({identity}) AS id, api_key, api_version, CAST(sum(requests) AS BIGINT) AS requests,
  min(first_seen) AS first_seen, max(last_seen) AS last_seen, bit_or({slots}) AS days {more}
FROM (SELECT *, date_diff('day', {day}, month) AS days_on FROM {month_usage})
GROUP BY id, api_key, api_version
"""
IDENTITIES = """
CREATE TABLE identities AS
SELECT hash({identity}) AS id, hash({identity}) AS part, {any_identity}, false AS inferred,
  CAST(NULL AS VARCHAR[]) AS other_names
FROM {told} WHERE {in_window} GROUP BY hash({identity})
"""
IN_WINDOW = "hash({identity}) IN (SELECT id FROM used)"
SEEN = """
CREATE TABLE seen AS
SELECT id AS part, api_key, api_version, requests, first_seen, last_seen, days FROM used
"""
# The days of a month as bits of the window: moved along, or each to the bit it shares.
MOVED = """if(days_on < 0, CAST(days AS HUGEINT) >> -days_on,
      CAST(days AS HUGEINT) << CAST(days_on AS HUGEINT))"""
SHARED = """list_aggregate(list_transform(list_filter(range(31), lambda d: (days >> d) & 1 = 1),
      lambda d: 1::HUGEINT << CAST((days_on + d) // {width} AS HUGEINT)), 'bit_or')"""

TOLD = """
CREATE TABLE told AS
WITH present AS (
  SELECT * FROM identities JOIN (SELECT part, bit_or(days) AS days FROM seen GROUP BY part)
    USING (part)
), names AS (
  SELECT {who}, software_name, software_version, bit_or(days) AS days
  FROM present WHERE software_name IS NOT NULL GROUP BY ALL
), nameless AS (
  SELECT id, {who}, days FROM present WHERE software_name IS NULL
)
SELECT nameless.id, nameless.days, software_name, software_version, names.days AS told_on,
  names.days | (names.days << 1) | (names.days >> 1) AS near
FROM nameless JOIN names ON {same}
WHERE near & nameless.days <> 0
"""

# Most nameless rows had one name near all the time; the others are looked at day by day.
WHOLE = """
UPDATE identities SET software_name = one.software_name, software_version = one.software_version,
  inferred = true
FROM (
  SELECT id, any_value(software_name) AS software_name,
    any_value(software_version) AS software_version
  FROM told GROUP BY id HAVING {is_whole}
) AS one
WHERE identities.part = one.id
"""
IN_PART = "SELECT 1 FROM told GROUP BY id HAVING NOT ({is_whole}) LIMIT 1"
IS_WHOLE = "count(*) = 1 AND bit_or(near) & any_value(days) = any_value(days)"
# Where days share a bit, the next bit may be days away.
IS_WHOLE_SHARED = "count(*) = 1 AND bit_or(told_on) & any_value(days) = any_value(days)"

BY_DAY = """
CREATE TABLE by_day AS
SELECT hash({identity}) AS id, {any_identity}, api_key, api_version, {slot} AS slot,
  CAST(sum(requests) AS BIGINT) AS requests,
  min(first_seen) AS first_seen, max(last_seen) AS last_seen
FROM {day_usage}
WHERE software_name IS NULL
  AND hash({identity}) IN (SELECT id FROM told GROUP BY id HAVING NOT ({is_whole}))
GROUP BY id, api_key, api_version, slot
"""
# The bits tell which names were near, as long as a bit is a day.
NAMES_OF_DAY = """
SELECT by_day.id, slot, list_sort(list(DISTINCT told.software_name)) AS names,
  list_sort(list(DISTINCT told.software_version)) AS versions
FROM (SELECT DISTINCT id, slot FROM by_day) AS by_day
  JOIN told ON told.id = by_day.id AND (told.near >> CAST(slot AS HUGEINT)) & 1 = 1
GROUP BY ALL
"""
NAMES_OF_VERY_DAY = """
SELECT nameless.id, slot, list_sort(list(DISTINCT names.software_name)) AS names,
  list_sort(list(DISTINCT names.software_version)) AS versions
FROM (SELECT DISTINCT id, {who}, slot FROM by_day) AS nameless
  JOIN (
    SELECT DISTINCT {who}, software_name, software_version, {slot} AS told_on FROM {day_usage}
    WHERE software_name IS NOT NULL AND hash({who}) IN (SELECT hash({who}) FROM by_day)
  ) AS names ON {same} AND abs(slot - told_on) <= 1
GROUP BY nameless.id, slot
"""
PARTS = """
CREATE TABLE parts AS
SELECT *, hash(id, names, versions) AS part
FROM by_day LEFT JOIN ({names_of_day}) AS named USING (id, slot)
"""
NAMED_PARTS = """
INSERT INTO identities BY NAME
SELECT part, any_value(id) AS id, {any_kept},
  any_value(if(len(names) = 1, names[1], NULL)) AS software_name,
  any_value(if(len(names) = 1 AND len(versions) = 1, versions[1], NULL)) AS software_version,
  any_value(coalesce(len(names) = 1, false)) AS inferred,
  any_value(if(len(names) > 1, names, NULL)) AS other_names
FROM parts GROUP BY part
"""
SEEN_PARTS = """
INSERT INTO seen BY NAME
SELECT part, api_key, api_version, CAST(sum(requests) AS BIGINT) AS requests,
  min(first_seen) AS first_seen, max(last_seen) AS last_seen,
  bit_or(1::HUGEINT << CAST(slot // {width} AS HUGEINT)) AS days
FROM parts GROUP BY part, api_key, api_version
"""

EVERYBODY = """
CREATE TABLE everybody AS
SELECT *, hash({client}) AS client, coalesce({whose}, false) AS asked_for
FROM identities LEFT JOIN (
  SELECT client_id AS raw_id, {application} AS application
  FROM (SELECT DISTINCT client_id FROM identities)
) AS applications ON client_id = raw_id
"""
CHOSEN = "CREATE VIEW chosen AS SELECT * EXCLUDE (asked_for) FROM everybody WHERE asked_for"
SIGHTINGS = "CREATE VIEW sightings AS SELECT * FROM chosen JOIN seen USING (part)"


def make_sightings(reader: Reader, *more: str) -> None:
    """What everything about clients is asked of, once made:

    used        what was told by everybody, added up; and what `more` is wanted of it
    identities  everybody, nameless ones with the names they had: in parts where they had several
    seen        what each part of an identity used
    everybody   the identities with their applications, and whether they were asked for
    chosen      those that were
    sightings   these, and what they used
    """
    if not reader.is_new("sightings"):
        return
    words = _words(reader)
    months = reader.months()
    wanted = more if months else (*more, words["any_identity"])
    reader.run(USED.format(**words, more="".join(f", {it}" for it in wanted)))
    in_window = IN_WINDOW.format(**words) if months and reader.cuts_months else "true"
    reader.run(IDENTITIES.format(**words, told=months or "used", in_window=in_window))
    reader.run(SEEN)
    reader.run(TOLD.format(**words))
    if reader.rows(IN_PART.format(**words)):
        _take_apart(reader, words)
    reader.run(WHOLE.format(**words))
    check_names(reader)
    application = _application(reader.question.raw_ids)
    reader.run(
        EVERYBODY.format(client=", ".join(CLIENT), whose=reader.whose(), application=application)
    )
    reader.run(CHOSEN)
    reader.run(SIGHTINGS)


def _take_apart(reader: Reader, words: Mapping[str, str]) -> None:
    days = reader.day_usage()
    reader.run(BY_DAY.format(**words, day_usage=days))
    names = NAMES_OF_DAY if words["width"] == "1" else NAMES_OF_VERY_DAY
    reader.run(PARTS.format(names_of_day=names.format(**words, day_usage=days)))
    reader.run("DELETE FROM identities WHERE part IN (SELECT id FROM by_day)")
    reader.run("DELETE FROM seen WHERE part IN (SELECT id FROM by_day)")
    reader.run(NAMED_PARTS.format(**words))
    reader.run(SEEN_PARTS.format(**words))


def _words(reader: Reader) -> Mapping[str, str]:
    first, width, _ = days_heard(reader)
    day = f"TIMESTAMP '{first:%Y-%m-%d}'" if first else "TIMESTAMP '1970-01-01'"
    return {
        "month_usage": reader.month_usage(),
        "identity": ", ".join(IDENTITY),
        "any_identity": _any(IDENTITY),
        "any_kept": _any(IDENTITY[:-2]),
        "who": ", ".join(WHO),
        "same": " AND ".join(f"nameless.{n} IS NOT DISTINCT FROM names.{n}" for n in WHO),
        "day": day,
        "slots": MOVED if width == 1 else SHARED.format(width=width),
        "slot": f"date_diff('day', {day}, day)",
        "width": str(width),
        "is_whole": IS_WHOLE if width == 1 else IS_WHOLE_SHARED,
    }


def _any(names: Sequence[str]) -> str:
    return ", ".join(f"any_value({name}) AS {name}" for name in names)


def _application(raw: bool) -> str:
    """The rules of the catalog as one expression, for each client id once."""
    found = "client_id"
    for rule in () if raw else application_rules():
        found = f"regexp_replace({found}, {text(rule.pattern)}, {text(rule.replacement)}, 'g')"
    return found
