"""The clients of a cluster: who they are, which software, and what they used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

from rollcall.catalog import (
    LibraryInference,
    Ranges,
    identify_library,
    known_libraries,
)
from rollcall.reports.query.basis import Basis
from rollcall.reports.query.database import Reader
from rollcall.reports.query.usage import CLIENT
from rollcall.reports.values import Client, ClientKey, Use

HOSTS_SHOWN = 20
IDS_SHOWN = 5
# A client is a number here: to group and sort by four texts takes several times as long.
USES = """
SELECT client, api_key, api_version, software_version, CAST(sum(requests) AS BIGINT),
  min(first_seen), max(last_seen)
FROM seen JOIN (SELECT part, client, software_version FROM chosen) USING (part)
GROUP BY ALL ORDER BY client, api_key, api_version, software_version
"""
PEOPLE = """
SELECT {any_key}, client,
  CAST(coalesce(sum(requests), 0) AS BIGINT), list(host), list(client_id), list(listener),
  flatten(list(other_names))
FROM chosen LEFT JOIN (
  SELECT part, sum(requests) AS requests
  FROM seen WHERE part IN (SELECT part FROM chosen WHERE inferred) GROUP BY part
) USING (part)
GROUP BY client ORDER BY {in_order}
"""


@dataclass(frozen=True, slots=True)
class Inventory:
    clients: tuple[Client, ...]
    listeners: Mapping[ClientKey, tuple[str, ...]]
    client_ids: Mapping[ClientKey, tuple[str, ...]]
    """All of them; a client shows some."""

    def on(self, basis: Basis) -> Basis:
        """The basis, with how much of what is listed nobody could identify."""
        unknown = sum(client.requests for client in self.clients if not client.is_identified)
        listed = sum(client.requests for client in self.clients)
        return replace(basis, unidentified_requests=unknown, listed_requests=listed)


def read_inventory(
    reader: Reader,
    told: Mapping[str | None, Ranges],
    connections: Callable[[], Mapping[ClientKey, int]] = dict,
) -> Inventory:
    """Clients with their libraries; `told` is what the brokers of each cluster have in common,
    `connections` is asked when all else is read."""
    uses = {
        client: tuple(Use(*row[1:]) for row in rows)
        for client, rows in groupby(reader.rows(USES), itemgetter(0))
    }
    identify = Identifier(told)
    clients, listeners, all_ids = [], {}, {}
    people, opened = reader.rows(_people()), connections()
    for row in people:
        key = ClientKey(*row[:4])
        used = uses[row[4]]
        hosts, ids, listeners[key], others = map(_in_order, row[6:])
        client_ids, all_ids[key] = ids[:IDS_SHOWN], ids
        client = Client(
            *key,
            uses=used,
            inferred_requests=row[5],
            inferences=identify.inferences(key, used, client_ids),
            hosts=hosts[:HOSTS_SHOWN],
            host_count=len(hosts),
            client_ids=client_ids,
            client_id_count=len(ids),
            other_names=others,
            connections=opened.get(key, 0),
        )
        clients.append(client)
    return Inventory(tuple(clients), listeners, all_ids)


def _people() -> str:
    return PEOPLE.format(
        any_key=", ".join(f"any_value({name}) AS {name}" for name in CLIENT),
        in_order=", ".join(f"{name} NULLS FIRST" for name in CLIENT),
    )


def _in_order(names: Iterable[str | None] | None) -> tuple[str, ...]:
    return tuple(sorted({name for name in names or () if name is not None}))


Versions = tuple[tuple[int, tuple[int, ...]], ...]


class Identifier:
    """Asks the catalog which library a client is; many clients are alike, so answers are kept."""

    def __init__(self, told: Mapping[str | None, Ranges]) -> None:
        self._told = told
        self._reported: dict[tuple[str, str | None], LibraryInference] = {}
        self._inferred: dict[tuple[str | None, str | None, Versions], LibraryInference] = {}
        self._own_ids = [it for row in known_libraries().values() for it in row.client_ids]

    def inferences(
        self, client: ClientKey, uses: Sequence[Use], client_ids: Sequence[str]
    ) -> Mapping[str | None, LibraryInference]:
        """The library for each software version that was told."""
        if client.software is None:
            return {None: self._infer(client.cluster, uses, client_ids)}
        versions = dict.fromkeys([use.software_version for use in uses])
        return {version: self._report(client.software, version) for version in versions}

    def _report(self, name: str, version: str | None) -> LibraryInference:
        if (name, version) not in self._reported:
            self._reported[name, version] = identify_library(name, version)
        return self._reported[name, version]

    def _infer(
        self, cluster: str | None, uses: Sequence[Use], client_ids: Sequence[str]
    ) -> LibraryInference:
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
