"""`rollcall report clients`: who is on the cluster."""

from __future__ import annotations

from functools import cache

from rollcall import reports
from rollcall.catalog import api_name
from rollcall.cli.report import details as say
from rollcall.cli.report import summary as words
from rollcall.cli.report.options import AskedOfClients, with_options
from rollcall.cli.report.view import CLIENT, Answer, show
from rollcall.reports import shapes
from rollcall.reports.export import flat_basis, flat_client
from rollcall.reports.query.database import open_tables
from rollcall.reports.values import Client


@with_options
def report_clients(asked: AskedOfClients) -> None:
    """List who is on the cluster: principal, application, software, hosts, requests, APIs.

    Example: rollcall report clients --tables tables --software 'librdkafka*'
    """
    reader = open_tables(asked.folder, asked.question)
    report = reports.clients(reader)
    answer = Answer(
        name="clients",
        title="Who is on the cluster",
        headline=words.of_clients(report),
        rests_on=words.on_basis(report.basis),
        beside={"basis": flat_basis(report.basis), "running": list(report.running)},
        listed="clients",
        things=report.clients,
        flat=flat_client,
        fields=shapes.CLIENT,
        columns=(*CLIENT, "connections", "requests", "first seen", "last seen", "APIs"),
        cells=_cells,
        cluster_of=lambda it: it.cluster,
    )
    show(answer, asked, reader)


def _cells(client: Client) -> tuple[object, ...]:
    return (
        client.principal,
        client.application,
        say.software(client),
        client.host_count,
        client.connections,
        client.requests,
        words.minute(client.first),
        words.minute(client.last),
        _apis(tuple(client.apis.items())),
    )


@cache
def _apis(apis: tuple[tuple[int, tuple[int, int]], ...]) -> str:
    """Many clients use the same."""
    return ", ".join(
        f"{api_name(key)} {low}" + (f"-{high}" if high > low else "") for key, (low, high) in apis
    )
