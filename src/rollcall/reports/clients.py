"""Who is on the cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from rollcall.reports.export import flat_client, to_arrow
from rollcall.reports.inventory import read_inventory
from rollcall.reports.query.basis import Basis
from rollcall.reports.query.brokers import common_ranges, read_heard, releases_of
from rollcall.reports.query.connections import connections_of_clients, count_opened
from rollcall.reports.query.coverage import hear
from rollcall.reports.query.database import Tables, open_tables
from rollcall.reports.query.filters import EVERYTHING, Question
from rollcall.reports.query.usage import make_sightings
from rollcall.reports.shapes import CLIENT
from rollcall.reports.values import Client


@dataclass(frozen=True, slots=True)
class Clients:
    basis: Basis
    running: tuple[str, ...]
    """The lines that fit what the brokers tell."""
    clients: tuple[Client, ...]
    """Those with most requests first."""

    @property
    def software(self) -> Mapping[str, int]:
        """How many clients there are of each library; of inferred ones, only where one is left."""
        found: dict[str, int] = {}
        for client in self.clients:
            name = client.library or client.software
            if name is not None:
                found[name] = found.get(name, 0) + 1
        return dict(sorted(found.items(), key=lambda it: (-it[1], it[0])))

    @property
    def principals(self) -> int:
        return len({(client.cluster, client.principal) for client in self.clients})

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`, a row each."""
        return to_arrow(map(flat_client, self.clients), CLIENT)


def clients(tables: Tables, *, question: Question = EVERYTHING) -> Clients:
    """Every client in the window: its software, hosts, connections, requests and APIs."""
    reader = open_tables(tables, question)
    hear(reader)
    opened = reader.beside(partial(count_opened, rates=False))
    heard = reader.beside(read_heard)
    make_sightings(reader)
    opened.result()
    connections = reader.beside(connections_of_clients)
    basis, told = heard.result()
    inventory = read_inventory(reader, common_ranges(told), connections.result)
    return Clients(
        inventory.on(basis),
        releases_of(told),
        tuple(sorted(inventory.clients, key=lambda it: -it.requests)),
    )
