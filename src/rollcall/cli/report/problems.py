"""`rollcall report trouble`: who misbehaves."""

from __future__ import annotations

from rollcall import reports
from rollcall.cli.report import details as say
from rollcall.cli.report import summary as words
from rollcall.cli.report.options import AskedOfClients, with_options
from rollcall.cli.report.view import Answer, show
from rollcall.reports import shapes
from rollcall.reports.complaints import Complaint
from rollcall.reports.export import flat_basis, flat_complaint
from rollcall.reports.query.database import open_tables


@with_options
def report_trouble(asked: AskedOfClients) -> None:
    """Tell which clients misbehave: storms, floods, errors, throttling, mixed versions.

    Example: rollcall report trouble --tables tables --since 24h
    """
    reader = open_tables(asked.folder, asked.question)
    report = reports.trouble(reader)
    answer = Answer(
        name="trouble",
        title="Who misbehaves",
        headline=words.of_trouble(report),
        rests_on=words.on_basis(report.basis),
        beside={"basis": flat_basis(report.basis)},
        listed="complaints",
        things=report.complaints,
        flat=flat_complaint,
        fields=shapes.COMPLAINT,
        columns=("trouble", "principal", "application", "software", "what was seen"),
        cells=_cells,
        cluster_of=lambda it: it.client.cluster,
    )
    show(answer, asked, reader)


def _cells(it: Complaint) -> tuple[object, ...]:
    return (
        it.kind,
        it.client.principal,
        it.client.application,
        " ".join(filter(None, (it.client.software, ", ".join(it.versions[:4])))),
        say.complaint(it),
    )
