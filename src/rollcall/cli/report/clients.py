"""`rollcall report clients`: list all clients."""

from __future__ import annotations

from functools import cache

from rollcall import reports
from rollcall.catalog import api_name
from rollcall.cli.report import details, summary
from rollcall.cli.report.options import ClientReportOptions
from rollcall.cli.report.view import CLIENT_COLUMNS, ReportView, show
from rollcall.reports import export


def report_clients(options: ClientReportOptions) -> None:
    reader = reports.open_tables(options.directory, options.filters)
    report = reports.clients(reader)
    view = ReportView(
        name="clients",
        title="Clients",
        headline=summary.clients_headline(report),
        coverage=summary.coverage_lines(report.coverage),
        warnings=summary.warnings(report.coverage),
        json_fields={
            "coverage": export.coverage_row(report.coverage),
            "running": list(report.running),
        },
        listed="clients",
        items=report.clients,
        row=export.client_row,
        row_columns=export.CLIENT,
        columns=(*CLIENT_COLUMNS, "connections", "requests", "first seen", "last seen", "APIs"),
        page_only=("connections", "first seen", "APIs"),
        cells=_cells,
        cluster_of=lambda client: client.cluster,
    )
    show(view, options, reader)


def _cells(client: reports.Client) -> tuple[object, ...]:
    return (
        client.principal,
        client.application,
        details.software(client),
        client.host_count,
        client.connections,
        client.requests,
        summary.minute(client.first),
        summary.minute(client.last),
        _apis(tuple(client.apis.items())),
    )


@cache
def _apis(apis: tuple[tuple[int, tuple[int, int]], ...]) -> str:
    """Cached: many clients use the same versions."""
    return ", ".join(
        f"{api_name(key)} {low}" + (f"-{high}" if high > low else "") for key, (low, high) in apis
    )
