"""The clients of a cluster: who they are, which software, and what they used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
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
KEY = "cluster, principal, application, software_name"
WORDS = {
    "key": KEY,
    "in_order": ", ".join(f"{name} NULLS FIRST" for name in KEY.split(", ")),
    "hosts": HOSTS_SHOWN,
    "ids": IDS_SHOWN,
}

USES = """
SELECT {key}, api_key, api_version, software_version,
  CAST(sum(requests) AS BIGINT), min(first_seen), max(last_seen)
FROM sightings GROUP BY ALL ORDER BY {in_order}, api_key, api_version, software_version
"""
PEOPLE = """
SELECT {key}, CAST(coalesce(sum(requests) FILTER (inferred), 0) AS BIGINT),
  list_sort(list(DISTINCT host) FILTER (host IS NOT NULL))[1:{hosts}], count(DISTINCT host),
  list_sort(list(DISTINCT client_id) FILTER (client_id IS NOT NULL))[1:{ids}],
  count(DISTINCT client_id),
  list_sort(list(DISTINCT listener)),
  list_sort(list_distinct(flatten(list(other_names) FILTER (other_names IS NOT NULL))))
FROM sightings GROUP BY ALL ORDER BY {in_order}
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
        ClientKey(*key): tuple(Use(*row[4:]) for row in rows)
        for key, rows in groupby(reader.rows(USES.format(**WORDS)), lambda row: row[:4])
    }
    identify = Identifier(told)
    clients, listeners = [], {}
    for row in reader.rows(PEOPLE.format(**WORDS)):
        key = ClientKey(*row[:4])
        listeners[key] = tuple(row[9] or ())
        client_ids = tuple(row[7] or ())
        client = Client(
            *key,
            uses=uses[key],
            inferred_requests=row[4],
            guesses=identify.guesses(key, uses[key], client_ids),
            hosts=tuple(row[5] or ()),
            host_count=row[6],
            client_ids=client_ids,
            client_id_count=row[8],
            other_names=tuple(row[10] or ()),
            connections=connections.get(key, 0),
        )
        clients.append(client)
    return Inventory(tuple(clients), listeners)


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
