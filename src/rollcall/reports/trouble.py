"""Clients that misbehave, with the software beside each: the first purpose of KIP-511."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rollcall.reports.complaints import Complaint, Kind, Limits, Trouble, Unit
from rollcall.reports.connections import make_opened
from rollcall.reports.question import EVERYTHING, Question
from rollcall.reports.reading import Reader, Tables, open_tables
from rollcall.reports.sightings import IDENTITY, make_sightings
from rollcall.reports.values import ClientKey

METADATA, API_VERSIONS = 3, 18


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
    sum(throttled) AS throttled,
    arg_max(broker, requests / greatest(bit_count(hours), 1)) AS broker,
    max(requests / greatest(bit_count(hours), 1)) AS per_hour
  FROM {usage} WHERE NOT forwarded AND NOT replica AND {window}
  GROUP BY id, api_key
) AS rest JOIN people USING (id)
"""
FLOODS = """
SELECT {key}, flatten(list(versions)), max(per_hour), arg_max(host, per_hour),
  arg_max(broker, per_hour), CAST(sum(requests) AS BIGINT)
FROM behaviour WHERE api_key = {api} GROUP BY {key} HAVING max(per_hour) > {limit}
"""
SHARES = """
SELECT {key}, flatten(list(versions)), CAST(sum({what}) AS BIGINT), CAST(sum({of}) AS BIGINT),
  arg_max(api_key, {what})
FROM behaviour GROUP BY {key} HAVING sum({what}) >= {count} AND sum({what}) > {share} * sum({of})
"""
STORMS = """
SELECT {key}, max(per_hour), arg_max(host, per_hour), arg_max(broker, per_hour),
  CAST(sum(opened) AS BIGINT)
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
    make_sightings(reader, exact_times=False)
    make_opened(reader)
    reader.run(PEOPLE)
    reader.run(
        BEHAVIOUR.format(
            identity=", ".join(IDENTITY),
            api_versions=API_VERSIONS,
            usage=reader.table("usage"),
            window=reader.window(),
        )
    )
    found = [*_of_connections(reader, limits), *_of_requests(reader, limits)]
    found += _many_versions(reader, limits)
    found.sort(key=lambda it: (list(Kind).index(it.kind), -it.severity))
    return Trouble(reader.basis(), tuple(found))


def _of_connections(reader: Reader, limits: Limits) -> Iterator[Complaint]:
    versions = _versions_of(reader)
    storms = STORMS.format(key=KEY, limit=limits.reconnects_per_hour)
    for *key, rate, host, broker, count in reader.rows(storms):
        who = ClientKey(*key)
        yield Complaint(
            Kind.RECONNECTS,
            who,
            versions.get(who, ()),
            count,
            rate,
            Unit.PER_HOUR,
            limits.reconnects_per_hour,
            host=host,
            broker=broker,
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
    for kind, api in ((Kind.METADATA_FLOOD, METADATA), (Kind.API_VERSIONS_FLOOD, API_VERSIONS)):
        floods = FLOODS.format(key=KEY, api=api, limit=limits.requests_per_hour)
        for *key, versions, rate, host, broker, count in reader.rows(floods):
            yield Complaint(
                kind,
                ClientKey(*key),
                _distinct(versions),
                count,
                rate,
                Unit.PER_HOUR,
                limits.requests_per_hour,
                host=host,
                broker=broker,
                api_key=api,
            )
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
