"""What breaks at an upgrade: every client held against a target release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rollcall.catalog import Release, line_of
from rollcall.reports.basis import Basis
from rollcall.reports.brokers import ceilings, common_ranges, read_told, releases_of
from rollcall.reports.ceilings import Ceiling, Ceilings, Used
from rollcall.reports.flat import flat_impact, to_arrow
from rollcall.reports.history import Sighting
from rollcall.reports.inventory import read_inventory
from rollcall.reports.owners import NOBODY_SAID, Owners
from rollcall.reports.question import EVERYTHING, Question
from rollcall.reports.reading import Reader, open_tables
from rollcall.reports.remedies import Remedy, remedies
from rollcall.reports.sightings import IDENTITY, make_sightings
from rollcall.reports.values import Client
from rollcall.reports.verdicts import Judge, Judgement, Verdict
from rollcall.tables.folder import Snapshot

MIN_DAYS = 7
MANY = 20
"""A host with more principals or software names than this looks like a proxy."""
Pairs = Collection[tuple[int, int]]
Times = tuple[Any, ...]
"""First and last."""
Application = tuple[str | None, str | None, str | None]
"""Cluster, principal and application: a client whatever its software was."""

PROXIES = """
SELECT host FROM seen WHERE host IS NOT NULL GROUP BY host
HAVING count(DISTINCT principal) > $1 OR count(DISTINCT software_name) > $1 ORDER BY host
"""
HISTORY = """
SELECT cluster, principal, application, api_key,
  list({{host: host, name: software_name, version: software_version,
    api_version: api_version, days: days}})
FROM (
  SELECT cluster, principal, application, host, software_name, software_version, api_key,
    api_version, bit_or(days) AS days
  FROM sightings WHERE api_key IN ({keys}) GROUP BY ALL
)
GROUP BY ALL HAVING bool_or((api_key, api_version) IN ({pairs}))
"""
TIMES = """
WITH times AS (
  SELECT hash({identity}) AS id, api_key, api_version, min(first_seen) AS f, max(last_seen) AS l
  FROM {usage} WHERE NOT forwarded AND NOT replica AND {window}
    AND (api_key, api_version) IN ({pairs}) GROUP BY ALL
)
SELECT cluster, principal, application, software_name, software_version, api_key, api_version,
  min(f), max(l)
FROM sightings JOIN times USING (id, api_key, api_version) GROUP BY ALL
"""
PLACES = """
SELECT cluster, principal, application, broker, hour, api_key, api_version
FROM (
  SELECT cluster, principal, client_id, broker, hour, api_key, api_version FROM {usage}
  WHERE NOT forwarded AND NOT replica AND {window} AND (api_key, api_version) IN ({pairs})
) AS places JOIN (
  SELECT DISTINCT cluster AS c, principal AS p, client_id AS i, application FROM sightings
) AS applications ON cluster IS NOT DISTINCT FROM c AND principal IS NOT DISTINCT FROM p
  AND client_id IS NOT DISTINCT FROM i
GROUP BY ALL
"""
HIGHEST = """
SELECT cluster, broker, api_key, max(api_version) FROM {usage}
WHERE {window} AND api_key IN ({keys}) GROUP BY ALL
"""


@dataclass(frozen=True, slots=True)
class ClientImpact:
    judgement: Judgement
    owner: str | None
    remedies: tuple[Remedy, ...] = ()

    @property
    def verdict(self) -> Verdict:
        return self.judgement.verdict


@dataclass(frozen=True, slots=True)
class Impact:
    target: Release
    running: tuple[str, ...]
    """The release that was given, or the lines that fit what the brokers tell."""
    basis: Basis
    clients: tuple[ClientImpact, ...]
    """The worst first."""
    proxies: tuple[str, ...] = ()
    min_days: int = MIN_DAYS

    @property
    def counts(self) -> Mapping[Verdict, int]:
        found = Counter(it.verdict for it in self.clients)
        return {verdict: found[verdict] for verdict in Verdict}

    @property
    def breaking_owners(self) -> tuple[str | None, ...]:
        return tuple(dict.fromkeys(it.owner for it in self.clients if it.verdict is Verdict.BREAKS))

    @property
    def is_thin(self) -> bool:
        return self.basis.is_thin(self.min_days)

    @property
    def exit_code(self) -> int:
        """1 something breaks; 3 at risk, undecided or too little heard; 0 otherwise."""
        if self.counts[Verdict.BREAKS]:
            return 1
        undecided = self.counts[Verdict.AT_RISK] + self.counts[Verdict.UNKNOWN]
        return 3 if undecided or self.is_thin else 0

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`, a row each."""
        return to_arrow(map(flat_impact, self.clients))


def impact(
    tables: Path | str | Snapshot,
    target: str | Release,
    *,
    question: Question = EVERYTHING,
    broker_release: str | Release | None = None,
    owners: Owners = NOBODY_SAID,
    proxies: Collection[str] = (),
    min_days: int = MIN_DAYS,
) -> Impact:
    """Judge every client that the tables know; `broker_release` is what the brokers run now."""
    wanted, running = _release(target), _release(broker_release) if broker_release else None
    line_of(wanted)  # a target nobody knows is told before anything is read
    reader = open_tables(tables, question)
    make_sightings(reader, exact_times=False)
    basis = reader.basis()
    told = read_told(reader, basis.heard)
    inventory = read_inventory(reader, common_ranges(told))
    judge = Judge(wanted)
    pairs = {(use.api_key, use.api_version) for it in inventory.clients for use in it.uses}
    refused = {pair for pair in pairs if judge.refuses(*pair)}
    times = _read_times(reader, {pair for pair in pairs if not judge.accepts(*pair)})
    history = _read_history(reader, refused)
    below, reached = _read_ceilings(reader, refused, ceilings(reader, told, running))
    suspected = {row[0] for row in reader.rows(PROXIES, [MANY])}
    judged = []
    for client in inventory.clients:
        who = client.cluster, client.principal, client.application
        judgement = judge.judge(
            _with_times(client, times),
            history.get(who, {}),
            {**below, **reached[who]} if who in reached else below,
            inventory.listeners[client.key],
        )
        what_to_do = remedies(judgement, wanted, proxies, suspected)
        judged.append(ClientImpact(judgement, owners.of(client), what_to_do))
    judged.sort(key=lambda it: (it.verdict.rank, it.owner or "", -it.judgement.client.requests))
    return Impact(
        wanted,
        (str(running),) if running else releases_of(told),
        replace(basis, unidentified_requests=inventory.unidentified_requests),
        tuple(judged),
        tuple(sorted({*proxies, *suspected})),
        min_days,
    )


def _read_times(reader: Reader, pairs: Pairs) -> Mapping[tuple[object, ...], Times]:
    """The exact times of what is not simply accepted: few rows, so that the rest stays cheap."""
    if not pairs:
        return {}
    words = {"usage": reader.table("usage"), "window": reader.window(), "pairs": _pairs(pairs)}
    words["identity"] = ", ".join(IDENTITY)
    return {row[:7]: row[7:] for row in reader.rows(TIMES.format(**words))}


def _with_times(client: Client, times: Mapping[tuple[object, ...], Times]) -> Client:
    if not times:
        return client
    who = client.cluster, client.principal, client.application, client.software
    found = {
        use: times.get((*who, use.software_version, use.api_key, use.api_version))
        for use in client.uses
    }
    if not any(found.values()):
        return client
    exact = (
        use._replace(first=time[0], last=time[1]) if time else use for use, time in found.items()
    )
    return replace(client, uses=tuple(exact))


def _read_history(
    reader: Reader, refused: Pairs
) -> Mapping[Application, Mapping[int, Sequence[Sighting]]]:
    """All that was seen of an API, from applications with a refused version of it."""
    found: dict[Application, dict[int, Sequence[Sighting]]] = {}
    if not refused:
        return found
    for row in reader.rows(HISTORY.format(keys=_keys(refused), pairs=_pairs(refused))):
        key = row[3]
        found.setdefault(row[:3], {})[key] = [
            Sighting(it["host"], it["name"], it["version"], key, it["api_version"], it["days"])
            for it in row[4]
        ]
    return found


def _read_ceilings(
    reader: Reader, refused: Pairs, limits: Ceilings
) -> tuple[
    Mapping[tuple[int, int], Ceiling], Mapping[Application, Mapping[tuple[int, int], Ceiling]]
]:
    """For most, no broker had so low a maximum; only for the others it matters who was where."""
    below, others = {}, set()
    for key, version in refused:
        lowest, origin = limits.lowest(key)
        if version < lowest:
            below[key, version] = Ceiling(lowest, origin)
        else:
            others.add((key, version))
    if not others:
        return below, {}
    words = {
        "usage": reader.table("usage"),
        "window": reader.window(),
        "keys": _keys(others),
        "pairs": _pairs(others),
    }
    highest = {((row[0], row[1]), row[2]): row[3] for row in reader.rows(HIGHEST.format(**words))}
    used: dict[Application, dict[tuple[int, int], list[Used]]] = {}
    for row in reader.rows(PLACES.format(**words)):
        place = Used((row[0], row[3]), *row[4:])
        pairs = used.setdefault(row[:3], {})
        pairs.setdefault((place.api_key, place.api_version), []).append(place)
    return below, {
        who: {pair: limits.of(places, highest) for pair, places in pairs.items()}
        for who, pairs in used.items()
    }


def _keys(pairs: Pairs) -> str:
    return ", ".join(str(key) for key in sorted({key for key, _ in pairs}))


def _pairs(pairs: Pairs) -> str:
    return ", ".join(f"({key}, {version})" for key, version in sorted(pairs))


def _release(text: str | Release) -> Release:
    return text if isinstance(text, Release) else Release.parse(text)
