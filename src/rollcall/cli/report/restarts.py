"""`rollcall report restarts`: list when brokers started."""

from __future__ import annotations

from rollcall import reports
from rollcall.cli.report import details, summary
from rollcall.cli.report.options import ReportOptions
from rollcall.cli.report.view import ReportView, show
from rollcall.reports import export


def report_restarts(options: ReportOptions) -> None:
    reader = reports.open_tables(options.directory, options.filters)
    report = reports.restarts(reader)
    view = ReportView(
        name="restarts",
        title="Broker starts",
        headline=summary.restarts_headline(report),
        notes=summary.restart_notes(report),
        coverage=summary.roll_call_lines(report),
        json_fields={},
        listed="brokers",
        items=report.brokers,
        row=export.broker_row,
        row_columns=export.BROKER,
        columns=("broker", "address", "software", "started", "restarts", "notes"),
        page_only=("notes",),
        cells=_cells,
        details=_details,
        details_on_page=False,
        cluster_of=lambda broker: broker.cluster,
        has_clients=False,
    )
    show(view, options, reader)


def _cells(broker: reports.BrokerStarts) -> tuple[object, ...]:
    software = " ".join(filter(None, (broker.software_name, broker.software_version)))
    provenance = f" ({broker.software_provenance})" if broker.software_version else ""
    return (
        None if broker.node_id is None else str(broker.node_id),
        broker.address,
        software + provenance,
        summary.minute(broker.start.reported if broker.start else None),
        broker.restarts,
        "; ".join(details.broker_notes(broker)),
    )


def _details(broker: reports.BrokerStarts) -> list[str]:
    notes = details.broker_notes(broker)
    name = "unknown" if broker.node_id is None else broker.node_id
    return [f"broker {name} ({broker.address})", *notes] if notes else []
