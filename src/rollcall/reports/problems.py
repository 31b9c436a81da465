"""Clients that misbehave, with the software beside each: the first purpose of KIP-511."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rollcall.reports.complaints import Complaint, Kind, Limits, Trouble, Unit
from rollcall.reports.query.connections import WHO, count_opened, make_opened
from rollcall.reports.query.coverage import hear, read_basis
from rollcall.reports.query.database import Reader, Tables, open_tables
from rollcall.reports.query.filters import EVERYTHING, Question
from rollcall.reports.query.usage import make_sightings
from rollcall.reports.values import ClientKey

METADATA, API_VERSIONS = 3, 18
FLOODING = {Kind.METADATA_FLOOD: METADATA, Kind.API_VERSIONS_FLOOD: API_VERSIONS}

KEY = "cluster, principal, application, software"
PEOPLE = """
CREATE TABLE people AS
SELECT id, any_value(cluster) AS cluster, any_value(principal) AS principal,
  any_value(application) AS application, any_value(software_name) AS software,
  any_value(host) AS host, any_value(client_id) AS client_id,
  list(DISTINCT software_version) AS versions
FROM chosen GROUP BY id
"""
BEHAVED = (
    *(f"sum({name}) AS {name}" for name in ("answered", "errors", "unsupported", "throttled")),
    f"max(peak) FILTER (api_key IN ({METADATA}, {API_VERSIONS})) AS peak",
)
BEHAVIOUR = """
CREATE TABLE behaviour AS
SELECT people.*, rest.* EXCLUDE (id) FROM (
  SELECT id, api_key, sum(requests) AS requests, sum(answered) AS answered,
    sum(if(api_key = {api_versions}, errors - unsupported, errors)) AS errors,
    sum(throttled) AS throttled,
    max(peak) FILTER (api_key IN ({metadata}, {api_versions})) AS peak
  FROM used GROUP BY id, api_key
) AS rest JOIN people USING (id)
"""
# Lines that name no broker (before 0.9) are of several: unusual says nothing there.
# Of those with the most, the last in order: so that the same tables give the same answer.
TOP = "max({'per_hour': peak.per_hour, 'host': host, 'broker': peak.broker})"
USUAL_REQUESTS = """
SELECT coalesce(median(per_hour), 0) FROM (
  SELECT max(peak).per_hour AS per_hour FROM used WHERE api_key = {api} GROUP BY id)
"""
FLOODS = """
SELECT {key}, flatten(list(versions)), {top} AS top, CAST(sum(requests) AS BIGINT)
FROM behaviour WHERE api_key = {api} GROUP BY {key}
HAVING max(if(peak.broker IS NULL, 0, peak.per_hour)) > {limit} OR max(peak.per_hour) > {most}
"""
# Who asks, whatever name it told: a name is often told by the second request only.
ASKING = """
CREATE TABLE asking AS
SELECT who, asked, asked / opened AS ratio
FROM (SELECT who, sum(requests) AS asked
  FROM used JOIN (SELECT DISTINCT id, hash({whose}) AS who FROM identities) USING (id)
  WHERE api_key = {api} GROUP BY who)
JOIN (SELECT who, sum(opened) AS opened FROM opened_by GROUP BY who) USING (who)
"""
USUAL_ASKING = "SELECT coalesce(median(ratio), 0) FROM asking"
ASKS_AGAIN = """
SELECT {key}, flatten(list(versions)), max({{'ratio': ratio, 'host': host}}) AS top,
  CAST(sum(requests) AS BIGINT)
FROM (
  SELECT behaviour.*, ratio FROM behaviour
  JOIN asking ON hash({whose}) = who
  WHERE api_key = {api} AND ratio > {limit} AND asked >= {count}
) GROUP BY {key}
"""
SHARES = """
SELECT {key}, flatten(list(versions)), CAST(sum({what}) AS BIGINT), CAST(sum({of}) AS BIGINT),
  max({{'count': {what}, 'api': api_key}}).api
FROM behaviour GROUP BY {key} HAVING sum({what}) >= {count} AND sum({what}) > {share} * sum({of})
"""
STORMS = """
SELECT {key}, {top} AS top, CAST(sum(opened) AS BIGINT)
FROM opened GROUP BY {key} HAVING max(peak.per_hour) > {limit}
"""
USUAL_RECONNECTS = "SELECT coalesce(median(peak.per_hour), 0) FROM opened_by"
ONCE = """
SELECT {key}, CAST(sum(seen_once) AS BIGINT), CAST(sum(opened) AS BIGINT)
FROM opened GROUP BY {key}
HAVING sum(seen_once) >= {count} AND sum(seen_once) > {share} * sum(opened)
  AND max(once_per_hour) >= {per_hour}
"""
VERSIONS_OF = "SELECT {key}, flatten(list(versions)) FROM people GROUP BY {key}"
VERSIONS = """
SELECT cluster, principal, application, software_name, list({{version: version, days: days}})
FROM (
  SELECT cluster, principal, application, software_name, software_version AS version,
    bit_or(days) AS days
  FROM sightings WHERE software_name IS NOT NULL AND software_version IS NOT NULL GROUP BY ALL
) GROUP BY ALL HAVING count(*) >= {limit}
"""


def trouble(
    tables: Tables,
    *,
    question: Question = EVERYTHING,
    limits: Limits = Limits(),  # noqa: B008 - it is frozen
) -> Trouble:
    reader = open_tables(tables, question)
    hear(reader)
    opened = reader.beside(count_opened)
    basis = reader.beside(read_basis)
    make_sightings(reader, *BEHAVED)
    reader.run(PEOPLE)
    reader.run(BEHAVIOUR.format(metadata=METADATA, api_versions=API_VERSIONS))
    opened.result()
    make_opened(reader)
    found = [*_of_connections(reader, limits), *_of_requests(reader, limits)]
    found += _many_versions(reader, limits)
    found.sort(key=_worst_first)
    return Trouble(basis.result(), tuple(found))


def _worst_first(it: Complaint) -> tuple[object, ...]:
    names = tuple(name or "" for name in it.client)
    return list(Kind).index(it.kind), -it.severity, -it.count, names


def _of_connections(reader: Reader, limits: Limits) -> Iterator[Complaint]:
    versions = _versions_of(reader)
    limit = limits.reconnects(_usual(reader, USUAL_RECONNECTS))
    for *key, top, count in reader.rows(STORMS.format(key=KEY, top=TOP, limit=limit)):
        who = ClientKey(*key)
        yield Complaint(
            Kind.RECONNECTS,
            who,
            versions.get(who, ()),
            count,
            top["per_hour"],
            Unit.PER_HOUR,
            limit,
            host=top["host"],
            broker=top["broker"],
        )
    once = ONCE.format(
        key=KEY,
        count=limits.once_count,
        share=limits.once_share,
        per_hour=limits.once_per_hour,
    )
    for *key, count, of in reader.rows(once):
        who = ClientKey(*key)
        yield Complaint(
            Kind.ASKS_ONCE,
            who,
            versions.get(who, ()),
            count,
            count / of,
            Unit.SHARE,
            limits.once_share,
            of,
        )


def _of_requests(reader: Reader, limits: Limits) -> Iterator[Complaint]:
    floods = list(_floods(reader, limits))
    yield from floods
    told = {it.client for it in floods if it.kind is Kind.API_VERSIONS_FLOOD}
    yield from (it for it in _asks_again(reader, limits) if it.client not in told)
    for kind, what, of, least, share in (
        (Kind.ERRORS, "errors", "answered", limits.error_count, limits.error_share),
        (Kind.THROTTLED, "throttled", "requests", limits.throttled_count, limits.throttled_share),
    ):
        shares = SHARES.format(key=KEY, what=what, of=of, count=least, share=share)
        for *key, versions, count, total, api in reader.rows(shares):
            yield Complaint(
                kind,
                ClientKey(*key),
                _distinct(versions),
                count,
                count / total,
                Unit.SHARE,
                share,
                total,
                api_key=api,
            )


def _floods(reader: Reader, limits: Limits) -> Iterator[Complaint]:
    for kind, api in FLOODING.items():
        limit = limits.requests(_usual(reader, USUAL_REQUESTS.format(api=api)))
        floods = FLOODS.format(
            key=KEY, top=TOP, api=api, limit=limit, most=limits.requests_per_hour
        )
        for *key, versions, top, count in reader.rows(floods):
            yield Complaint(
                kind,
                ClientKey(*key),
                _distinct(versions),
                count,
                top["per_hour"],
                Unit.PER_HOUR,
                limit,
                host=top["host"],
                broker=top["broker"],
                api_key=api,
            )


def _asks_again(reader: Reader, limits: Limits) -> Iterator[Complaint]:
    """ApiVersions again and again on one connection: slow, and still good for nothing."""
    reader.run(ASKING.format(api=API_VERSIONS, whose=WHO))
    limit = limits.per_connection(_usual(reader, USUAL_ASKING))
    least = limits.least_requests
    asks = ASKS_AGAIN.format(key=KEY, whose=WHO, api=API_VERSIONS, limit=limit, count=least)
    for *key, versions, top, count in reader.rows(asks):
        yield Complaint(
            Kind.API_VERSIONS_FLOOD,
            ClientKey(*key),
            _distinct(versions),
            count,
            top["ratio"],
            Unit.PER_CONNECTION,
            limit,
            host=top["host"],
            api_key=API_VERSIONS,
        )


def _usual(reader: Reader, sql: str) -> float:
    ((usual,),) = reader.rows(sql)
    return float(usual)


def _many_versions(reader: Reader, limits: Limits) -> Iterator[Complaint]:
    for *key, versions in reader.rows(VERSIONS.format(limit=limits.versions)):
        together = _most_on_one_day({it["version"]: it["days"] for it in versions})
        if len(together) >= limits.versions:
            count = len(together)
            yield Complaint(
                Kind.MANY_VERSIONS,
                ClientKey(*key),
                together,
                count,
                count,
                Unit.VERSIONS,
                limits.versions,
            )


def _most_on_one_day(days: Mapping[str, int]) -> tuple[str, ...]:
    best: tuple[str, ...] = ()
    for day in range(max(mask.bit_length() for mask in days.values())):
        there = tuple(sorted(version for version, mask in days.items() if mask >> day & 1))
        best = max(best, there, key=len)
    return best


def _versions_of(reader: Reader) -> Mapping[ClientKey, tuple[str, ...]]:
    rows = reader.rows(VERSIONS_OF.format(key=KEY))
    return {ClientKey(*row[:4]): _distinct(row[4]) for row in rows}


def _distinct(versions: list[str | None]) -> tuple[str, ...]:
    return tuple(sorted({version for version in versions if version is not None}))
