"""Report of clients that misbehave, each with its software (the first purpose of KIP-511)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from rollcall.reports.export import PROBLEM, problem_row, to_arrow
from rollcall.reports.query.connections import ORIGIN, prepare_opened, prepare_opened_by
from rollcall.reports.query.coverage import Coverage, prepare_observed_hours, read_coverage
from rollcall.reports.query.database import Reader, Tables, open_tables
from rollcall.reports.query.filters import NO_FILTERS, Filters
from rollcall.reports.query.usage import ClientKey, prepare_usage

METADATA, API_VERSIONS = 3, 18


class ProblemKind(StrEnum):
    RECONNECT_STORM = "reconnect storm"
    SINGLE_REQUEST_CONNECTIONS = "single-request connections"
    METADATA_FLOOD = "Metadata flood"
    API_VERSIONS_FLOOD = "ApiVersions flood"
    ERRORS = "errors"
    THROTTLED = "throttled"
    MANY_VERSIONS = "many versions of one library"


class RateUnit(StrEnum):
    PER_HOUR = "per hour"
    PER_CONNECTION = "per connection"
    SHARE = "share"
    VERSIONS = "versions"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemThresholds:
    """Rates and shares above which a client has a problem. Rates are of one host at one broker.

    A rate is a problem above a fixed maximum that no client needs, or above a multiple of the
    median of all clients."""

    reconnects_per_hour: int = 60
    """The maximum of connections: more are a reconnect storm."""
    requests_per_hour: int = 600
    """The maximum of Metadata or ApiVersions requests, one every 6 seconds: more are a flood."""
    times_median: int = 10
    """A rate above this multiple of the median is a problem too, but only above the next two."""
    min_reconnects_per_hour: int = 6
    """A rarely used connection is opened this often, because brokers and clients close
    connections that are idle for 10 minutes."""
    min_requests: int = 30
    """Per hour, or in all for `api_versions_per_connection`."""
    api_versions_per_connection: int = 5
    """Requests (a client needs one or two), or this multiple of the median if that is higher."""
    single_request_share: float = 0.5
    """Share of connections with a single request, of all connections of a client."""
    single_request_count: int = 20
    single_request_per_hour: int = 5
    """To the same broker. One such connection alone may be the end of a log."""
    error_share: float = 0.05
    error_count: int = 20
    throttled_share: float = 0.01
    throttled_count: int = 10
    versions: int = 3
    """Versions of one library in one application on the same day."""

    def reconnect_limit(self, median: float) -> float:
        relative = max(self.min_reconnects_per_hour, self.times_median * median)
        return min(self.reconnects_per_hour, relative)

    def request_limit(self, median: float) -> float:
        relative = max(self.min_requests, self.times_median * median)
        return min(self.requests_per_hour, relative)

    def per_connection_limit(self, median: float) -> float:
        return self.api_versions_per_connection * max(1, median)


@dataclass(frozen=True, slots=True)
class Problem:
    kind: ProblemKind
    client: ClientKey
    versions: tuple[str, ...]
    count: int
    rate: float
    unit: RateUnit
    limit: float
    of: int | None = None
    """The total of which `rate` is a share."""
    host: str | None = None
    broker: str | None = None
    api_key: int | None = None

    @property
    def severity(self) -> float:
        """The rate as a multiple of the limit."""
        return self.rate / self.limit


@dataclass(frozen=True, slots=True)
class Problems:
    coverage: Coverage
    problems: tuple[Problem, ...]
    """By kind, then by severity."""

    @property
    def clients(self) -> int:
        return len({problem.client for problem in self.problems})

    @property
    def counts(self) -> Mapping[ProblemKind, int]:
        kinds = [problem.kind for problem in self.problems]
        return {kind: kinds.count(kind) for kind in ProblemKind if kind in kinds}

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` with one row per problem."""
        return to_arrow(map(problem_row, self.problems), PROBLEM)


KEY = "cluster, principal, application, software"
CLIENT_SOFTWARE = """
CREATE TABLE client_software AS
SELECT id, any_value(cluster) AS cluster, any_value(principal) AS principal,
  any_value(application) AS application, any_value(software_name) AS software,
  any_value(host) AS host, any_value(client_id) AS client_id,
  list(DISTINCT software_version) AS versions
FROM selected_identities GROUP BY id
"""
BEHAVIOUR_SUMS = (
    *(
        f"sum({column}) AS {column}"
        for column in ("answered", "errors", "unsupported", "throttled")
    ),
    f"max(peak) FILTER (api_key IN ({METADATA}, {API_VERSIONS})) AS peak",
)
BEHAVIOUR = """
CREATE TABLE behaviour AS
SELECT client_software.*, sums.* EXCLUDE (id) FROM (
  SELECT id, api_key, sum(requests) AS requests, sum(answered) AS answered,
    sum(if(api_key = {api_versions}, errors - unsupported, errors)) AS errors,
    sum(throttled) AS throttled,
    max(peak) FILTER (api_key IN ({metadata}, {api_versions})) AS peak
  FROM used GROUP BY id, api_key
) AS sums JOIN client_software USING (id)
"""
# The maximum of a struct breaks ties, so that the same tables give the same report.
PEAK = "max({'per_hour': peak.per_hour, 'host': host, 'broker': peak.broker})"
MEDIAN_REQUESTS = """
SELECT coalesce(median(per_hour), 0) FROM (
  SELECT max(peak).per_hour AS per_hour FROM used WHERE api_key = {api} GROUP BY id)
"""
# Lines without a broker (before 0.9) add up several brokers: only the fixed maximum applies.
FLOODS = """
SELECT {key}, flatten(list(versions)), {peak} AS top, CAST(sum(requests) AS BIGINT)
FROM behaviour WHERE api_key = {api} GROUP BY {key}
HAVING max(if(peak.broker IS NULL, 0, peak.per_hour)) > {limit} OR max(peak.per_hour) > {most}
"""
# By origin, with and without a name: often only the second request reports the name.
API_VERSIONS_PER_CONNECTION = """
CREATE TABLE api_versions_per_connection AS
SELECT origin, requests, requests / opened AS ratio
FROM (SELECT origin, sum(requests) AS requests
  FROM used JOIN (SELECT DISTINCT id, hash({origin}) AS origin FROM identities) USING (id)
  WHERE api_key = {api} GROUP BY origin)
JOIN (SELECT origin, sum(opened) AS opened FROM opened_by GROUP BY origin) USING (origin)
"""
MEDIAN_PER_CONNECTION = "SELECT coalesce(median(ratio), 0) FROM api_versions_per_connection"
REPEATED_API_VERSIONS = """
SELECT {key}, flatten(list(versions)), max({{'ratio': ratio, 'host': host}}) AS top,
  CAST(sum(requests) AS BIGINT)
FROM (
  SELECT behaviour.*, ratio FROM behaviour
  JOIN api_versions_per_connection AS per_connection ON hash({origin}) = per_connection.origin
  WHERE api_key = {api} AND ratio > {limit} AND per_connection.requests >= {count}
) GROUP BY {key}
"""
SHARES = """
SELECT {key}, flatten(list(versions)), CAST(sum({part}) AS BIGINT), CAST(sum({of}) AS BIGINT),
  max({{'count': {part}, 'api': api_key}}).api
FROM behaviour GROUP BY {key} HAVING sum({part}) >= {count} AND sum({part}) > {share} * sum({of})
"""
RECONNECT_STORMS = """
SELECT {key}, {peak} AS top, CAST(sum(opened) AS BIGINT)
FROM opened GROUP BY {key} HAVING max(peak.per_hour) > {limit}
"""
MEDIAN_RECONNECTS = "SELECT coalesce(median(peak.per_hour), 0) FROM opened_by"
SINGLE_REQUEST_CONNECTIONS = """
SELECT {key}, CAST(sum(seen_once) AS BIGINT), CAST(sum(opened) AS BIGINT)
FROM opened GROUP BY {key}
HAVING sum(seen_once) >= {count} AND sum(seen_once) > {share} * sum(opened)
  AND max(once_per_hour) >= {per_hour}
"""
VERSIONS_PER_CLIENT = "SELECT {key}, flatten(list(versions)) FROM client_software GROUP BY {key}"
VERSIONS = """
SELECT cluster, principal, application, software_name, list({{version: version, days: days}})
FROM (
  SELECT cluster, principal, application, software_name, software_version AS version,
    bit_or(days) AS days
  FROM client_usage WHERE software_name IS NOT NULL AND software_version IS NOT NULL GROUP BY ALL
) GROUP BY ALL HAVING count(*) >= {limit}
"""


def problems(
    tables: Tables,
    *,
    filters: Filters = NO_FILTERS,
    thresholds: ProblemThresholds = ProblemThresholds(),  # noqa: B008 - it is frozen
) -> Problems:
    reader = open_tables(tables, filters)
    prepare_observed_hours(reader)
    opened = reader.in_background(prepare_opened_by)
    coverage = reader.in_background(read_coverage)
    prepare_usage(reader, *BEHAVIOUR_SUMS)
    reader.run(CLIENT_SOFTWARE)
    reader.run(BEHAVIOUR.format(metadata=METADATA, api_versions=API_VERSIONS))
    opened.result()
    prepare_opened(reader)
    found = [problem for detect in DETECTORS for problem in detect(reader, thresholds)]
    found.sort(key=_order)
    return Problems(coverage.result(), tuple(found))


def _order(problem: Problem) -> tuple[object, ...]:
    names = tuple(name or "" for name in problem.client)
    return list(ProblemKind).index(problem.kind), -problem.severity, -problem.count, names


def _reconnect_storms(reader: Reader, thresholds: ProblemThresholds) -> Iterator[Problem]:
    versions = _versions_per_client(reader)
    limit = thresholds.reconnect_limit(_median(reader, MEDIAN_RECONNECTS))
    for *key, top, count in reader.rows(RECONNECT_STORMS.format(key=KEY, peak=PEAK, limit=limit)):
        client = ClientKey(*key)
        yield Problem(
            ProblemKind.RECONNECT_STORM,
            client,
            versions.get(client, ()),
            count,
            top["per_hour"],
            RateUnit.PER_HOUR,
            limit,
            host=top["host"],
            broker=top["broker"],
        )


def _single_request_connections(reader: Reader, thresholds: ProblemThresholds) -> Iterator[Problem]:
    versions = _versions_per_client(reader)
    share = thresholds.single_request_share
    sql = SINGLE_REQUEST_CONNECTIONS.format(
        key=KEY,
        count=thresholds.single_request_count,
        share=share,
        per_hour=thresholds.single_request_per_hour,
    )
    for *key, count, of in reader.rows(sql):
        client = ClientKey(*key)
        yield Problem(
            ProblemKind.SINGLE_REQUEST_CONNECTIONS,
            client,
            versions.get(client, ()),
            count,
            count / of,
            RateUnit.SHARE,
            share,
            of,
        )


def _metadata_floods(reader: Reader, thresholds: ProblemThresholds) -> Iterator[Problem]:
    return _floods(reader, thresholds, ProblemKind.METADATA_FLOOD, METADATA)


def _api_versions_floods(reader: Reader, thresholds: ProblemThresholds) -> Iterator[Problem]:
    """Floods by the hour, then those of other clients by the connection."""
    floods = list(_floods(reader, thresholds, ProblemKind.API_VERSIONS_FLOOD, API_VERSIONS))
    yield from floods
    clients = {problem.client for problem in floods}
    for problem in _repeated_api_versions(reader, thresholds):
        if problem.client not in clients:
            yield problem


def _floods(
    reader: Reader, thresholds: ProblemThresholds, kind: ProblemKind, api: int
) -> Iterator[Problem]:
    limit = thresholds.request_limit(_median(reader, MEDIAN_REQUESTS.format(api=api)))
    most = thresholds.requests_per_hour
    sql = FLOODS.format(key=KEY, peak=PEAK, api=api, limit=limit, most=most)
    for *key, versions, top, count in reader.rows(sql):
        yield Problem(
            kind,
            ClientKey(*key),
            _distinct(versions),
            count,
            top["per_hour"],
            RateUnit.PER_HOUR,
            limit,
            host=top["host"],
            broker=top["broker"],
            api_key=api,
        )


def _repeated_api_versions(reader: Reader, thresholds: ProblemThresholds) -> Iterator[Problem]:
    """ApiVersions several times per connection, at any rate per hour."""
    reader.run(API_VERSIONS_PER_CONNECTION.format(origin=ORIGIN, api=API_VERSIONS))
    limit = thresholds.per_connection_limit(_median(reader, MEDIAN_PER_CONNECTION))
    sql = REPEATED_API_VERSIONS.format(
        key=KEY, origin=ORIGIN, api=API_VERSIONS, limit=limit, count=thresholds.min_requests
    )
    for *key, versions, top, count in reader.rows(sql):
        yield Problem(
            ProblemKind.API_VERSIONS_FLOOD,
            ClientKey(*key),
            _distinct(versions),
            count,
            top["ratio"],
            RateUnit.PER_CONNECTION,
            limit,
            host=top["host"],
            api_key=API_VERSIONS,
        )


def _shares(reader: Reader, thresholds: ProblemThresholds) -> Iterator[Problem]:
    """Errors among the responses, throttled ones among the requests."""
    errors = thresholds.error_count, thresholds.error_share
    throttled = thresholds.throttled_count, thresholds.throttled_share
    for kind, part, of, (least, share) in (
        (ProblemKind.ERRORS, "errors", "answered", errors),
        (ProblemKind.THROTTLED, "throttled", "requests", throttled),
    ):
        sql = SHARES.format(key=KEY, part=part, of=of, count=least, share=share)
        for *key, versions, count, total, api in reader.rows(sql):
            yield Problem(
                kind,
                ClientKey(*key),
                _distinct(versions),
                count,
                count / total,
                RateUnit.SHARE,
                share,
                total,
                api_key=api,
            )


def _many_versions(reader: Reader, thresholds: ProblemThresholds) -> Iterator[Problem]:
    for *key, rows in reader.rows(VERSIONS.format(limit=thresholds.versions)):
        versions = most_on_one_day({row["version"]: row["days"] for row in rows})
        count = len(versions)
        if count >= thresholds.versions:
            limit = thresholds.versions
            kind, unit = ProblemKind.MANY_VERSIONS, RateUnit.VERSIONS
            yield Problem(kind, ClientKey(*key), versions, count, count, unit, limit)


DETECTORS: tuple[Callable[[Reader, ProblemThresholds], Iterator[Problem]], ...] = (
    _reconnect_storms,
    _single_request_connections,
    _metadata_floods,
    _api_versions_floods,
    _shares,
    _many_versions,
)


def most_on_one_day(days: Mapping[str, int]) -> tuple[str, ...]:
    """The versions of the day with the most; `days` has a day mask per version."""
    best: tuple[str, ...] = ()
    for day in range(max(mask.bit_length() for mask in days.values())):
        present = tuple(sorted(version for version, mask in days.items() if mask >> day & 1))
        best = max(best, present, key=len)
    return best


def _median(reader: Reader, sql: str) -> float:
    ((median,),) = reader.rows(sql)
    return float(median)


def _versions_per_client(reader: Reader) -> Mapping[ClientKey, tuple[str, ...]]:
    rows = reader.rows(VERSIONS_PER_CLIENT.format(key=KEY))
    return {ClientKey(*row[:4]): _distinct(row[4]) for row in rows}


def _distinct(versions: list[str | None]) -> tuple[str, ...]:
    return tuple(sorted({version for version in versions if version is not None}))
