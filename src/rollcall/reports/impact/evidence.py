"""Queries about versions that a target refuses: their users, brokers, and later versions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product

from rollcall.reports.impact.broker_limits import BrokerMaximum, BrokerMaximums, BrokerUse
from rollcall.reports.impact.superseded import ANY_API, HostUse
from rollcall.reports.query.database import Reader

ApiVersions = Collection[tuple[int, int]]
"""API keys and versions."""
Application = tuple[str | None, ...]
"""Cluster, principal and application, with any software."""

HOST_USES = """
SELECT cluster, principal, application, api_key,
  list({{host: host, name: software_name, version: software_version,
    api_version: api_version, days: days, selected: selected}}
    ORDER BY host, software_name, software_version, api_version, selected)
FROM (
  SELECT cluster, principal, application, host, software_name, software_version, api_key,
    api_version, selected, bit_or(days) AS days
  FROM all_identities JOIN part_usage USING (part) WHERE api_key IN ({keys}) GROUP BY ALL
)
GROUP BY ALL HAVING bool_or(selected AND (api_key, api_version) IN ({pairs}))
"""
# Most applications have one software version; the query reads the others only.
SOFTWARE_USES = """
SELECT any_value(cluster), any_value(principal), any_value(application),
  list({host: host, name: software_name, version: software_version, days: days,
    selected: selected} ORDER BY host, software_name, software_version, selected)
FROM (
  SELECT hash(cluster, principal, application) AS application_id,
    any_value(cluster) AS cluster, any_value(principal) AS principal,
    any_value(application) AS application,
    host, software_name, software_version, selected, bit_or(days) AS days
  FROM all_identities JOIN part_usage USING (part)
  WHERE hash(cluster, principal, application) IN (
    SELECT hash(cluster, principal, application) AS application_id FROM all_identities
    GROUP BY application_id HAVING count(DISTINCT hash(software_name, software_version)) > 1
  )
  GROUP BY application_id, host, software_name, software_version, selected
)
GROUP BY application_id
"""
BROKER_USES = """
SELECT cluster, principal, application, broker, hour, api_key, api_version
FROM (
  SELECT cluster, principal, client_id, broker, hour, api_key, api_version FROM {usage}
  WHERE NOT forwarded AND NOT replica AND {window} AND {condition}
) AS uses JOIN (
  SELECT DISTINCT cluster AS c, principal AS p, client_id AS i, application FROM all_identities
) AS applications ON cluster IS NOT DISTINCT FROM c AND principal IS NOT DISTINCT FROM p
  AND client_id IS NOT DISTINCT FROM i
GROUP BY ALL
"""
HIGHEST_VERSIONS = """
SELECT cluster, broker, api_key, max(api_version) FROM {usage}
WHERE {window} AND api_key IN ({keys}) GROUP BY ALL
"""


def read_host_uses(
    reader: Reader, refused: ApiVersions
) -> Mapping[Application, Mapping[int, Sequence[HostUse]]]:
    """All uses of an API by applications that used a refused version of it.

    Including clients that the filters do not select: they may supersede a refused version."""
    found: dict[Application, dict[int, Sequence[HostUse]]] = {}
    if not refused:
        return found
    for row in reader.rows(HOST_USES.format(keys=_keys(refused), pairs=_pairs(refused))):
        key = row[3]
        found.setdefault(row[:3], {})[key] = [
            HostUse(
                use["host"],
                use["name"],
                use["version"],
                key,
                use["api_version"],
                use["days"],
                use["selected"],
            )
            for use in row[4]
        ]
    return found


def read_software_uses(reader: Reader) -> Mapping[Application, Sequence[HostUse]]:
    """The days of each software version, of applications that had several."""
    return {
        row[:3]: [
            HostUse(
                use["host"],
                use["name"],
                use["version"],
                ANY_API,
                ANY_API,
                use["days"],
                use["selected"],
            )
            for use in row[3]
        ]
        for row in reader.rows(SOFTWARE_USES)
    }


def read_broker_maximums(
    reader: Reader, refused: ApiVersions, maximums: BrokerMaximums
) -> Mapping[Application, Mapping[tuple[int, int], BrokerMaximum]]:
    """The broker's maximum for each refused version, per application or per cluster.

    Per cluster if no broker of it had so low a maximum. That is the common case, and needs no
    query for the brokers that each application used."""
    found: dict[Application, dict[tuple[int, int], BrokerMaximum]] = {}
    others = set()
    for cluster, (key, version) in product(maximums.clusters, refused):
        lowest, provenance = maximums.lowest(cluster, key)
        if version < lowest:
            found.setdefault((cluster,), {})[key, version] = BrokerMaximum(lowest, provenance)
        else:
            others.add((cluster, (key, version)))
    if others:
        by_application = _per_application(reader, {pair for _, pair in others}, maximums)
        for application, pairs in by_application.items():
            own = {
                pair: maximum for pair, maximum in pairs.items() if (application[0], pair) in others
            }
            found[application] = {**found.get(application[:1], {}), **own}
    return found


def _per_application(
    reader: Reader, versions: ApiVersions, maximums: BrokerMaximums
) -> Mapping[Application, Mapping[tuple[int, int], BrokerMaximum]]:
    terms = {
        "usage": reader.table("usage"),
        "window": reader.window(),
        "keys": _keys(versions),
        "condition": _condition(versions),
    }
    rows = reader.rows(HIGHEST_VERSIONS.format(**terms))
    highest = {((row[0], row[1]), row[2]): row[3] for row in rows}
    uses: dict[Application, dict[tuple[int, int], list[BrokerUse]]] = {}
    for row in reader.rows(BROKER_USES.format(**terms)):
        use = BrokerUse((row[0], row[3]), *row[4:])
        pairs = uses.setdefault(row[:3], {})
        pairs.setdefault((use.api_key, use.api_version), []).append(use)
    return {
        application: {pair: maximums.during(of_pair, highest) for pair, of_pair in pairs.items()}
        for application, pairs in uses.items()
    }


def _keys(versions: ApiVersions) -> str:
    return ", ".join(str(key) for key in sorted({key for key, _ in versions}))


def _pairs(versions: ApiVersions) -> str:
    return ", ".join(f"({key}, {version})" for key, version in sorted(versions))


def _condition(versions: ApiVersions) -> str:
    """SQL condition for these versions.

    The first two lists are redundant, but DuckDB tests them before it reads the other columns."""
    numbers = ", ".join(str(version) for version in sorted({version for _, version in versions}))
    return (
        f"api_key IN ({_keys(versions)}) AND api_version IN ({numbers}) "
        f"AND (api_key, api_version) IN ({_pairs(versions)})"
    )
