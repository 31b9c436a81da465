"""The clients of a cluster: who they are, which software, and what they used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from types import MappingProxyType

from rollcall.catalog import (
    LibraryGuess,
    Ranges,
    identify_library,
    known_libraries,
)
from rollcall.reports.reading import Reader
from rollcall.reports.values import Client, ClientKey, Use

NO_COUNTS: Mapping[ClientKey, int] = MappingProxyType({})
HOSTS_SHOWN = 20
IDS_SHOWN = 5
KEY = ("cluster", "principal", "application", "software_name")
WORDS = {
    "key": ", ".join(KEY),
    "any_key": ", ".join(f"any_value({name}) AS {name}" for name in KEY),
    "in_order": ", ".join(f"{name} NULLS FIRST" for name in KEY),
}

# A client is a number here: to group and sort by four texts takes several times as long.
USES = """
SELECT hash({key}) AS client, any_value(api_key) AS api, any_value(api_version) AS used,
  any_value(software_version) AS of_software, CAST(sum(requests) AS BIGINT),
  min(first_seen), max(last_seen)
FROM sightings GROUP BY client, hash(api_key, api_version, software_version)
ORDER BY client, api, used, of_software
"""
PEOPLE = """
SELECT {any_key}, client, CAST(sum(inferred) AS BIGINT), list(host), list(client_id),
  list(listener), flatten(list(other_names))
FROM (
  SELECT hash({key}) AS client, {any_key}, any_value(host) AS host,
    any_value(client_id) AS client_id, any_value(listener) AS listener,
    any_value(other_names) AS other_names,
    coalesce(sum(requests) FILTER (inferred), 0) AS inferred
  FROM sightings GROUP BY client, hash(host, client_id, listener, other_names)
)
GROUP BY client ORDER BY {in_order}
"""


@dataclass(frozen=True, slots=True)
class Inventory:
    clients: tuple[Client, ...]
    listeners: Mapping[ClientKey, tuple[str, ...]]

    @property
    def unidentified_requests(self) -> int:
        return sum(client.requests for client in self.clients if not client.is_identified)


def read_inventory(
    reader: Reader,
    told: Mapping[str | None, Ranges],
    connections: Mapping[ClientKey, int] = NO_COUNTS,
) -> Inventory:
    """Clients with their libraries; `told` is what the brokers of each cluster have in common."""
    uses = {
        client: tuple(Use(*row[1:]) for row in rows)
        for client, rows in groupby(reader.rows(USES.format(**WORDS)), itemgetter(0))
    }
    identify = Identifier(told)
    clients, listeners = [], {}
    for row in reader.rows(PEOPLE.format(**WORDS)):
        key = ClientKey(*row[:4])
        used = uses[row[4]]
        hosts, ids, listeners[key], others = map(_in_order, row[6:])
        client_ids = ids[:IDS_SHOWN]
        client = Client(
            *key,
            uses=used,
            inferred_requests=row[5],
            guesses=identify.guesses(key, used, client_ids),
            hosts=hosts[:HOSTS_SHOWN],
            host_count=len(hosts),
            client_ids=client_ids,
            client_id_count=len(ids),
            other_names=others,
            connections=connections.get(key, 0),
        )
        clients.append(client)
    return Inventory(tuple(clients), listeners)


def _in_order(names: Iterable[str | None] | None) -> tuple[str, ...]:
    return tuple(sorted({name for name in names or () if name is not None}))


Versions = tuple[tuple[int, tuple[int, ...]], ...]


class Identifier:
    """Asks the catalog which library a client is; many clients are alike, so answers are kept."""

    def __init__(self, told: Mapping[str | None, Ranges]) -> None:
        self._told = told
        self._reported: dict[tuple[str, str | None], LibraryGuess] = {}
        self._inferred: dict[tuple[str | None, str | None, Versions], LibraryGuess] = {}
        self._own_ids = [it for row in known_libraries().values() for it in row.client_ids]

    def guesses(
        self, client: ClientKey, uses: Sequence[Use], client_ids: Sequence[str]
    ) -> Mapping[str | None, LibraryGuess]:
        """The library for each software version that was told."""
        if client.software is None:
            return {None: self._infer(client.cluster, uses, client_ids)}
        versions = dict.fromkeys(use.software_version for use in uses)
        return {version: self._report(client.software, version) for version in versions}

    def _report(self, name: str, version: str | None) -> LibraryGuess:
        if (name, version) not in self._reported:
            self._reported[name, version] = identify_library(name, version)
        return self._reported[name, version]

    def _infer(
        self, cluster: str | None, uses: Sequence[Use], client_ids: Sequence[str]
    ) -> LibraryGuess:
        versions = _versions(uses)
        client_id = next(filter(self._is_default, client_ids), None)
        asked = cluster, client_id, versions
        if asked not in self._inferred:
            self._inferred[asked] = identify_library(
                client_id=client_id,
                api_versions=dict(versions),
                broker_ranges=self._told.get(cluster),
            )
        return self._inferred[asked]

    def _is_default(self, client_id: str) -> bool:
        return any(pattern.fullmatch(client_id) for pattern in self._own_ids)


def _versions(uses: Iterable[Use]) -> Versions:
    return tuple(
        (key, tuple(dict.fromkeys(use.api_version for use in rows)))
        for key, rows in groupby(uses, lambda use: use.api_key)
    )
