"""Clients that misbehave, with the software beside each: the first purpose of KIP-511."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rollcall.reports.complaints import Complaint, Kind, Limits, Trouble, Unit
from rollcall.reports.connections import make_opened, stormed_brokers
from rollcall.reports.hearing import read_basis
from rollcall.reports.question import EVERYTHING, Question
from rollcall.reports.reading import Reader, Tables, open_tables
from rollcall.reports.sightings import IDENTITY, make_sightings
from rollcall.reports.values import ClientKey
from rollcall.tables.totals import CLIENT_MONTHS

METADATA, API_VERSIONS = 3, 18
FLOODING = {Kind.METADATA_FLOOD: METADATA, Kind.API_VERSIONS_FLOOD: API_VERSIONS}

KEY = "cluster, principal, application, software"
PEOPLE = """
CREATE TEMP TABLE people AS
SELECT id, any_value(cluster) AS cluster, any_value(principal) AS principal,
  any_value(application) AS application, any_value(software_name) AS software,
  any_value(host) AS host, list(DISTINCT software_version) AS versions
FROM sightings GROUP BY id
"""
BEHAVIOUR = """
CREATE TEMP TABLE behaviour AS
SELECT people.*, rest.* EXCLUDE (id) FROM (
  SELECT hash({identity}) AS id, api_key, sum(requests) AS requests, sum(answered) AS answered,
    sum(if(api_key = {api_versions}, errors - unsupported, errors)) AS errors,
    sum(throttled) AS throttled, max(per_hour) AS per_hour
  FROM {client_months} GROUP BY id, api_key
) AS rest JOIN people USING (id)
"""
# Of those with the most, the last in order: so that the same tables give the same answer.
TOP = "max({'per_hour': per_hour, 'host': host, 'id': id})"
FLOODS = """
SELECT {key}, flatten(list(versions)), {top} AS top, CAST(sum(requests) AS BIGINT)
FROM behaviour WHERE api_key = {api} GROUP BY {key} HAVING max(per_hour) > {limit}
"""
FLOODED = """
SELECT id, api_key, min(used.broker) FROM (
  SELECT hash({identity}) AS id, api_key, broker,
    requests / greatest(bit_count(hours), 1) AS rate
  FROM {usage}
  WHERE api_key IN ({apis}) AND rate > {limit} AND NOT forwarded AND NOT replica AND {window}
) AS used JOIN behaviour USING (id, api_key) WHERE rate = per_hour GROUP BY id, api_key
"""
SHARES = """
SELECT {key}, flatten(list(versions)), CAST(sum({what}) AS BIGINT), CAST(sum({of}) AS BIGINT),
  max({{'count': {what}, 'api': api_key}}).api
FROM behaviour GROUP BY {key} HAVING sum({what}) >= {count} AND sum({what}) > {share} * sum({of})
"""
STORMS = """
SELECT {key}, {top} AS top, CAST(sum(opened) AS BIGINT)
FROM opened GROUP BY {key} HAVING max(per_hour) > {limit}
"""
ONCE = """
SELECT {key}, CAST(sum(seen_once) AS BIGINT), CAST(sum(opened) AS BIGINT)
FROM opened GROUP BY {key}
HAVING sum(seen_once) >= {count} AND sum(seen_once) > {share} * sum(opened)
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
    make_sightings(reader)
    make_opened(reader)
    reader.run(PEOPLE)
    reader.run(
        BEHAVIOUR.format(
            identity=", ".join(IDENTITY),
            api_versions=API_VERSIONS,
            client_months=reader.totals(CLIENT_MONTHS),
        )
    )
    found = [*_of_connections(reader, limits), *_of_requests(reader, limits)]
    found += _many_versions(reader, limits)
    found.sort(key=_worst_first)
    return Trouble(read_basis(reader), tuple(found))


def _worst_first(it: Complaint) -> tuple[object, ...]:
    names = tuple(name or "" for name in it.client)
    return list(Kind).index(it.kind), -it.severity, -it.count, names


def _of_connections(reader: Reader, limits: Limits) -> Iterator[Complaint]:
    versions = _versions_of(reader)
    storms = STORMS.format(key=KEY, top=TOP, limit=limits.reconnects_per_hour)
    stormy = reader.rows(storms)
    brokers = stormed_brokers(reader, limits.reconnects_per_hour) if stormy else {}
    for *key, top, count in stormy:
        who = ClientKey(*key)
        yield Complaint(
            Kind.RECONNECTS,
            who,
            versions.get(who, ()),
            count,
            top["per_hour"],
            Unit.PER_HOUR,
            limits.reconnects_per_hour,
            host=top["host"],
            broker=brokers.get((top["id"], top["per_hour"])),
        )
    once = ONCE.format(key=KEY, count=limits.once_count, share=limits.once_share)
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
    yield from _floods(reader, limits.requests_per_hour)
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


def _floods(reader: Reader, limit: int) -> Iterator[Complaint]:
    found = {
        (kind, api): reader.rows(FLOODS.format(key=KEY, top=TOP, api=api, limit=limit))
        for kind, api in FLOODING.items()
    }
    brokers = _flooded_brokers(reader, limit) if any(found.values()) else {}
    for (kind, api), rows in found.items():
        for *key, versions, top, count in rows:
            yield Complaint(
                kind,
                ClientKey(*key),
                _distinct(versions),
                count,
                top["per_hour"],
                Unit.PER_HOUR,
                limit,
                host=top["host"],
                broker=brokers.get((top["id"], api)),
                api_key=api,
            )


def _flooded_brokers(reader: Reader, limit: int) -> Mapping[tuple[object, ...], str]:
    """Where the most was seen of each identity and API; totals do not tell."""
    flooded = FLOODED.format(
        identity=", ".join(IDENTITY),
        usage=reader.table("usage"),
        apis=", ".join(map(str, FLOODING.values())),
        limit=limit,
        window=reader.window(),
    )
    return {row[:2]: row[2] for row in reader.rows(flooded)}


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
