"""`rollcall report problems`: list clients that misbehave."""

from __future__ import annotations

from rollcall import reports
from rollcall.cli.report import details, summary
from rollcall.cli.report.options import ClientReportOptions
from rollcall.cli.report.view import ReportView, show
from rollcall.reports import export


def report_problems(options: ClientReportOptions) -> None:
    reader = reports.open_tables(options.directory, options.filters)
    report = reports.problems(reader)
    view = ReportView(
        name="problems",
        title="Client problems",
        headline=summary.problems_headline(report),
        coverage=summary.coverage_lines(report.coverage),
        warnings=summary.warnings(report.coverage),
        json_fields={"coverage": export.coverage_row(report.coverage)},
        listed="problems",
        items=report.problems,
        row=export.problem_row,
        row_columns=export.PROBLEM,
        columns=("problem", "principal", "application", "software", "observed"),
        page_only=("observed",),
        cells=_cells,
        details=_details,
        details_on_page=False,
        cluster_of=lambda problem: problem.client.cluster,
    )
    show(view, options, reader)


def _cells(problem: reports.Problem) -> tuple[object, ...]:
    client, software = problem.client, details.problem_software(problem)
    observed = details.problem(problem)
    return problem.kind, client.principal, client.application, software, observed


def _details(problem: reports.Problem) -> list[str]:
    client = details.client_name(problem.client.principal, problem.client.application)
    return [f"{problem.kind}: {client}", details.problem(problem)]
