"""Usage summed per client, API and version; rows without a software name get an inferred one.

A row without a name gets the one name that the same principal, client id and host reported within
a day. Where they reported several names, these are candidates. The tables keep what the log line
says; names are inferred only here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from rollcall.catalog import application_rules
from rollcall.reports.query.coverage import observed_days
from rollcall.reports.query.database import Reader
from rollcall.reports.query.filters import check_names
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
ORIGIN = ("cluster", "principal", "client_id", "host")
CLIENT = ("cluster", "principal", "application", "software_name")


class ClientKey(NamedTuple):
    cluster: str | None
    principal: str | None
    application: str | None
    software: str | None


class VersionUse(NamedTuple):
    """One version of one API, as one software version of a client used it in the window."""

    api_key: int
    api_version: int
    software_version: str | None
    requests: int
    first: datetime
    last: datetime


# Texts are stored once per identity, a tenth of the rows; usage refers to it by a hash. The texts
# come from whole months. Where these have to be computed, `used` has the texts as well.
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
  CAST(NULL AS VARCHAR[]) AS name_candidates
FROM {rows} WHERE {in_window} GROUP BY hash({identity})
"""
IN_WINDOW = "hash({identity}) IN (SELECT id FROM used)"
PART_USAGE = """
CREATE TABLE part_usage AS
SELECT id AS part, api_key, api_version, requests, first_seen, last_seen, days FROM used
"""
# The day mask of a month as bits of the window: shifted, or each day mapped to its shared bit.
SHIFTED = """if(days_on < 0, CAST(days AS HUGEINT) >> -days_on,
      CAST(days AS HUGEINT) << CAST(days_on AS HUGEINT))"""
SHARED = """list_aggregate(list_transform(list_filter(range(31), lambda d: (days >> d) & 1 = 1),
      lambda d: 1::HUGEINT << CAST((days_on + d) // {width} AS HUGEINT)), 'bit_or')"""

NAMES_NEARBY = """
CREATE TABLE names_nearby AS
WITH present AS (
  SELECT * FROM identities JOIN (SELECT part, bit_or(days) AS days FROM part_usage GROUP BY part)
    USING (part)
), names AS (
  SELECT {origin}, software_name, software_version, bit_or(days) AS days
  FROM present WHERE software_name IS NOT NULL GROUP BY ALL
), nameless AS (
  SELECT id, {origin}, days FROM present WHERE software_name IS NULL
)
SELECT nameless.id, nameless.days, software_name, software_version, names.days AS reported_on,
  names.days | (names.days << 1) | (names.days >> 1) AS near
FROM nameless JOIN names ON {same_origin}
WHERE near & nameless.days <> 0
"""

# Most nameless identities have one name within a day at all times; the others are split by day.
INFER_WHOLE = """
UPDATE identities SET software_name = one.software_name, software_version = one.software_version,
  inferred = true
FROM (
  SELECT id, any_value(software_name) AS software_name,
    any_value(software_version) AS software_version
  FROM names_nearby GROUP BY id HAVING {is_whole}
) AS one
WHERE identities.part = one.id
"""
NEEDS_SPLIT = "SELECT 1 FROM names_nearby GROUP BY id HAVING NOT ({is_whole}) LIMIT 1"
IS_WHOLE = "count(*) = 1 AND bit_or(near) & any_value(days) = any_value(days)"
# Where days share a bit, the next bit may be days away.
IS_WHOLE_SHARED = "count(*) = 1 AND bit_or(reported_on) & any_value(days) = any_value(days)"

BY_DAY = """
CREATE TABLE by_day AS
SELECT hash({identity}) AS id, {any_identity}, api_key, api_version, {slot} AS slot,
  CAST(sum(requests) AS BIGINT) AS requests,
  min(first_seen) AS first_seen, max(last_seen) AS last_seen
FROM {day_usage}
WHERE software_name IS NULL
  AND hash({identity}) IN (SELECT id FROM names_nearby GROUP BY id HAVING NOT ({is_whole}))
GROUP BY id, api_key, api_version, slot
"""
# If a bit is one day, the masks show which names are within a day.
NAMES_OF_DAY = """
SELECT by_day.id, slot, list_sort(list(DISTINCT nearby.software_name)) AS names,
  list_sort(list(DISTINCT nearby.software_version)) AS versions
FROM (SELECT DISTINCT id, slot FROM by_day) AS by_day
  JOIN names_nearby AS nearby
    ON nearby.id = by_day.id AND (nearby.near >> CAST(slot AS HUGEINT)) & 1 = 1
GROUP BY ALL
"""
NAMES_OF_DAY_SHARED = """
SELECT nameless.id, slot, list_sort(list(DISTINCT names.software_name)) AS names,
  list_sort(list(DISTINCT names.software_version)) AS versions
FROM (SELECT DISTINCT id, {origin}, slot FROM by_day) AS nameless
  JOIN (
    SELECT DISTINCT {origin}, software_name, software_version, {slot} AS reported_on
    FROM {day_usage}
    WHERE software_name IS NOT NULL AND hash({origin}) IN (SELECT hash({origin}) FROM by_day)
  ) AS names ON {same_origin} AND abs(slot - reported_on) <= 1
GROUP BY nameless.id, slot
"""
PARTS = """
CREATE TABLE parts AS
SELECT *, hash(id, names, versions) AS part
FROM by_day LEFT JOIN ({names_of_day}) AS named USING (id, slot)
"""
PART_IDENTITIES = """
INSERT INTO identities BY NAME
SELECT part, any_value(id) AS id, {any_without_software},
  any_value(if(len(names) = 1, names[1], NULL)) AS software_name,
  any_value(if(len(names) = 1 AND len(versions) = 1, versions[1], NULL)) AS software_version,
  any_value(coalesce(len(names) = 1, false)) AS inferred,
  any_value(if(len(names) > 1, names, NULL)) AS name_candidates
FROM parts GROUP BY part
"""
USAGE_OF_PARTS = """
INSERT INTO part_usage BY NAME
SELECT part, api_key, api_version, CAST(sum(requests) AS BIGINT) AS requests,
  min(first_seen) AS first_seen, max(last_seen) AS last_seen,
  bit_or(1::HUGEINT << CAST(slot // {width} AS HUGEINT)) AS days
FROM parts GROUP BY part, api_key, api_version
"""

ALL_IDENTITIES = """
CREATE TABLE all_identities AS
SELECT *, hash({client}) AS client, coalesce({names}, false) AS selected
FROM identities LEFT JOIN (
  SELECT client_id AS raw_id, {application} AS application
  FROM (SELECT DISTINCT client_id FROM identities)
) AS applications ON client_id = raw_id
"""
SELECTED = """
CREATE VIEW selected_identities AS SELECT * EXCLUDE (selected) FROM all_identities WHERE selected
"""
CLIENT_USAGE = """
CREATE VIEW client_usage AS SELECT * FROM selected_identities JOIN part_usage USING (part)
"""


def prepare_usage(reader: Reader, *more_sums: str) -> None:
    """Create the tables that the queries about clients read:

    used                 usage per identity as logged, with `more_sums` as further columns
    identities           identities with inferred names; one row per part where it had several names
    part_usage           usage per part of an identity
    all_identities       identities with their application, and whether the filters select them
    selected_identities  those that the filters select
    client_usage         the selected ones with their usage
    """
    if not reader.is_new("client_usage"):
        return
    terms = _sql_terms(reader)
    months = reader.whole_months()
    sums = more_sums if months else (*more_sums, terms["any_identity"])
    reader.run(USED.format(**terms, more="".join(f", {column}" for column in sums)))
    in_window = IN_WINDOW.format(**terms) if months and reader.has_partial_months else "true"
    reader.run(IDENTITIES.format(**terms, rows=months or "used", in_window=in_window))
    reader.run(PART_USAGE)
    reader.run(NAMES_NEARBY.format(**terms))
    if reader.rows(NEEDS_SPLIT.format(**terms)):
        _split_by_day(reader, terms)
    reader.run(INFER_WHOLE.format(**terms))
    check_names(reader)
    application = _application(raw=reader.filters.raw_ids)
    reader.run(
        ALL_IDENTITIES.format(
            client=", ".join(CLIENT), names=reader.names(), application=application
        )
    )
    reader.run(SELECTED)
    reader.run(CLIENT_USAGE)


def _split_by_day(reader: Reader, terms: Mapping[str, str]) -> None:
    """Split nameless identities into parts that had the same names within a day."""
    days = reader.day_usage()
    reader.run(BY_DAY.format(**terms, day_usage=days))
    names = NAMES_OF_DAY if terms["width"] == "1" else NAMES_OF_DAY_SHARED
    reader.run(PARTS.format(names_of_day=names.format(**terms, day_usage=days)))
    reader.run("DELETE FROM identities WHERE part IN (SELECT id FROM by_day)")
    reader.run("DELETE FROM part_usage WHERE part IN (SELECT id FROM by_day)")
    reader.run(PART_IDENTITIES.format(**terms))
    reader.run(USAGE_OF_PARTS.format(**terms))


def _sql_terms(reader: Reader) -> Mapping[str, str]:
    first, width, _ = observed_days(reader)
    day = f"TIMESTAMP '{first:%Y-%m-%d}'" if first else "TIMESTAMP '1970-01-01'"
    return {
        "month_usage": reader.month_usage(),
        "identity": ", ".join(IDENTITY),
        "any_identity": _any_value(IDENTITY),
        "any_without_software": _any_value(IDENTITY[:-2]),
        "origin": ", ".join(ORIGIN),
        "same_origin": " AND ".join(
            f"nameless.{column} IS NOT DISTINCT FROM names.{column}" for column in ORIGIN
        ),
        "day": day,
        "slots": SHIFTED if width == 1 else SHARED.format(width=width),
        "slot": f"date_diff('day', {day}, day)",
        "width": str(width),
        "is_whole": IS_WHOLE if width == 1 else IS_WHOLE_SHARED,
    }


def _any_value(columns: Sequence[str]) -> str:
    return ", ".join(f"any_value({column}) AS {column}" for column in columns)


def _application(*, raw: bool) -> str:
    """SQL for the application of a client id: the catalog's rules, or the id itself."""
    expression = "client_id"
    for rule in () if raw else application_rules():
        expression = (
            f"regexp_replace({expression}, {text(rule.pattern)}, {text(rule.replacement)}, 'g')"
        )
    return expression
