"""Report of all clients: software, hosts, connections, requests and API versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from itertools import groupby
from operator import itemgetter
from typing import Any

from rollcall.catalog import LibraryInference, Provenance, Ranges, identify_library, known_libraries
from rollcall.reports.export import CLIENT, client_row, to_arrow
from rollcall.reports.query import usage
from rollcall.reports.query.brokers import common_ranges, read_brokers, release_lines
from rollcall.reports.query.connections import connections_per_client, prepare_opened_by
from rollcall.reports.query.coverage import Coverage, prepare_observed_hours
from rollcall.reports.query.database import Reader, Tables, open_tables
from rollcall.reports.query.filters import NO_FILTERS, Filters
from rollcall.reports.query.usage import ClientKey, VersionUse, prepare_usage

HOSTS_SHOWN = 20
CLIENT_IDS_SHOWN = 5


@dataclass(frozen=True)
class Client:
    """One software name of one application of one principal."""

    cluster: str | None
    principal: str | None
    application: str | None
    software: str | None
    """Its reported name, or the one that the same principal, client id and host reported."""
    uses: tuple[VersionUse, ...] = ()
    inferred_requests: int = 0
    """Requests without a name of their own that got the inferred one."""
    inferences: Mapping[str | None, LibraryInference] | None = None
    """Its library, per software version that it reported."""
    name_candidates: tuple[str, ...] = ()
    """The names that the same principal, client id and host reported, if there are several."""
    hosts: tuple[str, ...] = ()
    """At most 20 of them; `host_count` counts all."""
    host_count: int = 0
    client_ids: tuple[str, ...] = ()
    """At most 5 of them; `client_id_count` counts all."""
    client_id_count: int = 0
    connections: int = 0

    @property
    def key(self) -> ClientKey:
        return ClientKey(self.cluster, self.principal, self.application, self.software)

    @property
    def software_provenance(self) -> Provenance:
        """`inferred` if none of its requests has a reported name."""
        if self.software is None:
            return Provenance.MISSING
        is_reported = self.inferred_requests < self.requests
        return Provenance.REPORTED if is_reported else Provenance.INFERRED

    @cached_property
    def requests(self) -> int:
        return sum([use.requests for use in self.uses])

    @property
    def first(self) -> datetime:
        return min([use.first for use in self.uses])

    @property
    def last(self) -> datetime:
        return max([use.last for use in self.uses])

    @cached_property
    def versions(self) -> tuple[str, ...]:
        """Software versions, ordered by requests."""
        counts: dict[str, int] = {}
        for use in self.uses:
            if use.software_version is not None:
                requests = counts.get(use.software_version, 0) + use.requests
                counts[use.software_version] = requests
        return tuple(sorted(counts, key=lambda version: (-counts[version], version)))

    @cached_property
    def apis(self) -> Mapping[int, tuple[int, int]]:
        """API keys with the lowest and the highest version used."""
        versions: dict[int, list[int]] = {}
        for use in self.uses:
            versions.setdefault(use.api_key, []).append(use.api_version)
        return {key: (min(versions[key]), max(versions[key])) for key in sorted(versions)}

    @cached_property
    def library(self) -> str | None:
        """The library, if there is only one candidate."""
        libraries = {inference.library for inference in (self.inferences or {}).values()}
        return libraries.pop() if len(libraries) == 1 else None

    @property
    def is_identified(self) -> bool:
        return self.software is not None or self.library is not None

    def inference(self, software_version: str | None) -> LibraryInference | None:
        return (self.inferences or {}).get(software_version)


@dataclass(frozen=True, slots=True)
class Clients:
    coverage: Coverage
    running: tuple[str, ...]
    """Release lines that match the ranges that the brokers reported."""
    clients: tuple[Client, ...]
    """Ordered by requests, the highest first."""

    @property
    def software(self) -> Mapping[str, int]:
        """Number of clients per library; an inferred one only if it is the only candidate."""
        counts: dict[str, int] = {}
        for client in self.clients:
            name = client.library or client.software
            if name is not None:
                counts[name] = counts.get(name, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    @property
    def principals(self) -> int:
        return len({(client.cluster, client.principal) for client in self.clients})

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` with one row per client."""
        return to_arrow(map(client_row, self.clients), CLIENT)


def clients(tables: Tables, *, filters: Filters = NO_FILTERS) -> Clients:
    """Every client in the window with its software, hosts, connections, requests and APIs."""
    reader = open_tables(tables, filters)
    prepare_observed_hours(reader)
    opened = reader.in_background(partial(prepare_opened_by, rates=False))
    brokers = reader.in_background(read_brokers)
    prepare_usage(reader)
    opened.result()
    connections = reader.in_background(connections_per_client)
    coverage, reported = brokers.result()
    inventory = read_inventory(reader, common_ranges(reported), connections.result)
    return Clients(
        inventory.complete(coverage),
        release_lines(reported),
        tuple(sorted(inventory.clients, key=lambda client: -client.requests)),
    )


# Grouping by a hash of the client is several times faster than grouping by its four texts.
USES = """
SELECT client, api_key, api_version, software_version, CAST(sum(requests) AS BIGINT),
  min(first_seen), max(last_seen)
FROM part_usage
  JOIN (SELECT part, client, software_version FROM selected_identities) USING (part)
GROUP BY ALL ORDER BY client, api_key, api_version, software_version
"""
CLIENTS = """
SELECT {any_key}, client,
  CAST(coalesce(sum(requests), 0) AS BIGINT), list(host), list(client_id), list(listener),
  flatten(list(name_candidates))
FROM selected_identities LEFT JOIN (
  SELECT part, sum(requests) AS requests FROM part_usage
  WHERE part IN (SELECT part FROM selected_identities WHERE inferred) GROUP BY part
) USING (part)
GROUP BY client ORDER BY {order}
"""


@dataclass(frozen=True, slots=True)
class Inventory:
    """The clients, with what `impact` needs in addition."""

    clients: tuple[Client, ...]
    listeners: Mapping[ClientKey, tuple[str, ...]]
    client_ids: Mapping[ClientKey, tuple[str, ...]]
    """All client ids; `Client.client_ids` has the first 5."""

    def complete(self, coverage: Coverage) -> Coverage:
        """The coverage with the numbers of listed and of unidentified requests."""
        unknown = sum(client.requests for client in self.clients if not client.is_identified)
        listed = sum(client.requests for client in self.clients)
        return replace(coverage, unidentified_requests=unknown, listed_requests=listed)


def read_inventory(
    reader: Reader,
    broker_ranges: Mapping[str | None, Ranges],
    connections: Callable[[], Mapping[ClientKey, int]] = dict,
) -> Inventory:
    """Clients with their libraries.

    `broker_ranges` has the ranges that all brokers of a cluster support. `connections` is called
    after the queries, so that it can wait for a background query."""
    uses = {
        client: tuple(VersionUse(*row[1:]) for row in rows)
        for client, rows in groupby(reader.rows(USES), itemgetter(0))
    }
    identifier = Identifier(broker_ranges)
    clients, listeners, all_ids = [], {}, {}
    rows, opened = reader.rows(_clients_query()), connections()
    for row in rows:
        key, client_uses = ClientKey(*row[:4]), uses[row[4]]
        hosts, ids, listeners[key], candidates = map(_distinct, row[6:])
        shown_ids, all_ids[key] = ids[:CLIENT_IDS_SHOWN], ids
        client = Client(
            *key,
            uses=client_uses,
            inferred_requests=row[5],
            inferences=identifier.inferences(key, client_uses, shown_ids),
            hosts=hosts[:HOSTS_SHOWN],
            host_count=len(hosts),
            client_ids=shown_ids,
            client_id_count=len(ids),
            name_candidates=candidates,
            connections=opened.get(key, 0),
        )
        clients.append(client)
    return Inventory(tuple(clients), listeners, all_ids)


def _clients_query() -> str:
    return CLIENTS.format(
        any_key=", ".join(f"any_value({column}) AS {column}" for column in usage.CLIENT),
        order=", ".join(f"{column} NULLS FIRST" for column in usage.CLIENT),
    )


def _distinct(names: Iterable[str | None] | None) -> tuple[str, ...]:
    return tuple(sorted({name for name in names or () if name is not None}))


Versions = tuple[tuple[int, tuple[int, ...]], ...]


class Identifier:
    """The catalog's library identification with a cache: many clients are alike."""

    def __init__(self, broker_ranges: Mapping[str | None, Ranges]) -> None:
        self._broker_ranges = broker_ranges
        self._reported: dict[tuple[str, str | None], LibraryInference] = {}
        self._inferred: dict[tuple[str | None, str | None, Versions], LibraryInference] = {}
        self._default_ids = [
            pattern for library in known_libraries().values() for pattern in library.client_ids
        ]

    def inferences(
        self, client: ClientKey, uses: Sequence[VersionUse], client_ids: Sequence[str]
    ) -> Mapping[str | None, LibraryInference]:
        """The library per software version."""
        if client.software is None:
            return {None: self._infer(client.cluster, uses, client_ids)}
        versions = dict.fromkeys([use.software_version for use in uses])
        return {version: self._report(client.software, version) for version in versions}

    def _report(self, name: str, version: str | None) -> LibraryInference:
        if (name, version) not in self._reported:
            self._reported[name, version] = identify_library(name, version)
        return self._reported[name, version]

    def _infer(
        self, cluster: str | None, uses: Sequence[VersionUse], client_ids: Sequence[str]
    ) -> LibraryInference:
        versions = _versions(uses)
        client_id = next(filter(self._is_default, client_ids), None)
        key = cluster, client_id, versions
        if key not in self._inferred:
            self._inferred[key] = identify_library(
                client_id=client_id,
                api_versions=dict(versions),
                broker_ranges=self._broker_ranges.get(cluster),
            )
        return self._inferred[key]

    def _is_default(self, client_id: str) -> bool:
        """Whether a library uses this client id by default."""
        return any(pattern.fullmatch(client_id) for pattern in self._default_ids)


def _versions(uses: Iterable[VersionUse]) -> Versions:
    return tuple(
        (key, tuple(dict.fromkeys(use.api_version for use in rows)))
        for key, rows in groupby(uses, lambda use: use.api_key)
    )
