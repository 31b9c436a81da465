"""What is read of versions that a target refuses: who used them, when, where, and what after."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product

from rollcall.reports.impact.broker_limits import Ceiling, Ceilings, Used
from rollcall.reports.impact.superseded import ANY, Sighting
from rollcall.reports.query.database import Reader

Pairs = Collection[tuple[int, int]]
Application = tuple[str | None, ...]
"""Cluster, principal and application: a client whatever its software was."""

HISTORY = """
SELECT cluster, principal, application, api_key,
  list({{host: host, name: software_name, version: software_version,
    api_version: api_version, days: days, asked_for: asked_for}}
    ORDER BY host, software_name, software_version, api_version, asked_for)
FROM (
  SELECT cluster, principal, application, host, software_name, software_version, api_key,
    api_version, asked_for, bit_or(days) AS days
  FROM everybody JOIN seen USING (part) WHERE api_key IN ({keys}) GROUP BY ALL
)
GROUP BY ALL HAVING bool_or(asked_for AND (api_key, api_version) IN ({pairs}))
"""
# Most applications have one software, and only the others are looked at.
VERSIONS = """
SELECT any_value(cluster), any_value(principal), any_value(application),
  list({host: host, name: software_name, version: software_version, days: days,
    asked_for: asked_for} ORDER BY host, software_name, software_version, asked_for)
FROM (
  SELECT hash(cluster, principal, application) AS who, any_value(cluster) AS cluster,
    any_value(principal) AS principal, any_value(application) AS application,
    host, software_name, software_version, asked_for, bit_or(days) AS days
  FROM everybody JOIN seen USING (part)
  WHERE hash(cluster, principal, application) IN (
    SELECT hash(cluster, principal, application) AS who FROM everybody
    GROUP BY who HAVING count(DISTINCT hash(software_name, software_version)) > 1
  )
  GROUP BY who, host, software_name, software_version, asked_for
)
GROUP BY who
"""
PLACES = """
SELECT cluster, principal, application, broker, hour, api_key, api_version
FROM (
  SELECT cluster, principal, client_id, broker, hour, api_key, api_version FROM {usage}
  WHERE NOT forwarded AND NOT replica AND {window} AND {chosen}
) AS places JOIN (
  SELECT DISTINCT cluster AS c, principal AS p, client_id AS i, application FROM everybody
) AS applications ON cluster IS NOT DISTINCT FROM c AND principal IS NOT DISTINCT FROM p
  AND client_id IS NOT DISTINCT FROM i
GROUP BY ALL
"""
REST = ("api_version", "days", "asked_for")
HIGHEST = """
SELECT cluster, broker, api_key, max(api_version) FROM {usage}
WHERE {window} AND api_key IN ({keys}) GROUP BY ALL
"""


def read_history(
    reader: Reader, refused: Pairs
) -> Mapping[Application, Mapping[int, Sequence[Sighting]]]:
    """All that was seen of an API, from applications with a refused version of it; of those who
    were not asked for, too, as they may be what an old version gave way to."""
    found: dict[Application, dict[int, Sequence[Sighting]]] = {}
    if not refused:
        return found
    for row in reader.rows(HISTORY.format(keys=_keys(refused), pairs=_pairs(refused))):
        key = row[3]
        found.setdefault(row[:3], {})[key] = [
            Sighting(it["host"], it["name"], it["version"], key, *map(it.get, REST))
            for it in row[4]
        ]
    return found


def read_versions(reader: Reader) -> Mapping[Application, Sequence[Sighting]]:
    """When which software was seen, whatever it used, of applications that had several."""
    return {
        row[:3]: [
            Sighting(it["host"], it["name"], it["version"], ANY, ANY, it["days"], it["asked_for"])
            for it in row[3]
        ]
        for row in reader.rows(VERSIONS)
    }


def read_ceilings(
    reader: Reader, refused: Pairs, limits: Ceilings
) -> Mapping[Application, Mapping[tuple[int, int], Ceiling]]:
    """By application, or by cluster where that is enough: for most, no broker of their cluster
    had so low a maximum, and only for the others it matters who was where."""
    found: dict[Application, dict[tuple[int, int], Ceiling]] = {}
    others = set()
    for cluster, (key, version) in product(limits.clusters, refused):
        lowest, origin = limits.lowest(cluster, key)
        if version < lowest:
            found.setdefault((cluster,), {})[key, version] = Ceiling(lowest, origin)
        else:
            others.add((cluster, (key, version)))
    if others:
        for who, pairs in _reached(reader, {pair for _, pair in others}, limits).items():
            own = {pair: it for pair, it in pairs.items() if (who[0], pair) in others}
            found[who] = {**found.get(who[:1], {}), **own}
    return found


def _reached(
    reader: Reader, chosen: Pairs, limits: Ceilings
) -> Mapping[Application, Mapping[tuple[int, int], Ceiling]]:
    """Of versions that may be their brokers' highest: what each application met."""
    words = {
        "usage": reader.table("usage"),
        "window": reader.window(),
        "keys": _keys(chosen),
        "chosen": _chosen(chosen),
    }
    highest = {((row[0], row[1]), row[2]): row[3] for row in reader.rows(HIGHEST.format(**words))}
    used: dict[Application, dict[tuple[int, int], list[Used]]] = {}
    for row in reader.rows(PLACES.format(**words)):
        place = Used((row[0], row[3]), *row[4:])
        pairs = used.setdefault(row[:3], {})
        pairs.setdefault((place.api_key, place.api_version), []).append(place)
    return {
        who: {pair: limits.of(places, highest) for pair, places in pairs.items()}
        for who, pairs in used.items()
    }


def _keys(pairs: Pairs) -> str:
    return ", ".join(str(key) for key in sorted({key for key, _ in pairs}))


def _pairs(pairs: Pairs) -> str:
    return ", ".join(f"({key}, {version})" for key, version in sorted(pairs))


def _chosen(pairs: Pairs) -> str:
    """The plain lists say nothing new, but unlike the pairs they are tested before the rest of
    a row is read."""
    versions = ", ".join(str(version) for version in sorted({version for _, version in pairs}))
    return (
        f"api_key IN ({_keys(pairs)}) AND api_version IN ({versions}) "
        f"AND (api_key, api_version) IN ({_pairs(pairs)})"
    )
