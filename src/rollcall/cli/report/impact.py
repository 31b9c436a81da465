"""`rollcall report impact`: list the clients that break when the brokers are upgraded."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import typer

from rollcall import reports
from rollcall.catalog import Release, release_line
from rollcall.cli.report import details, summary
from rollcall.cli.report.options import ClientReportOptions
from rollcall.cli.report.view import CLIENT_COLUMNS, ReportView, show
from rollcall.cli.terminal.output import DISK_FULL, discard_output, disk_full_error
from rollcall.errors import ConfigError, RollcallError
from rollcall.reports import ClientImpact, Impact, Verdict, export


@contextmanager
def failures_as_usage_errors() -> Iterator[None]:
    """Make every failure exit with 2: exit code 1 means that a client breaks."""
    try:
        yield
    except RollcallError as error:
        raise ConfigError(error.message, hint=error.hint) from error
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        discard_output()
        full = disk_full_error(error)
        raise ConfigError(full.message, hint=full.hint) from error


@failures_as_usage_errors()
def report_impact(
    options: ClientReportOptions,
    *,
    target: str,
    running: str | None,
    owners: Path | None,
    proxies: Sequence[str],
    min_days: int,
    show_all: bool,
) -> None:
    for release in filter(None, (target, running)):
        release_line(release)  # fails on an unknown release before the tables are read
    reader = reports.open_tables(options.directory, options.filters)
    report = reports.impact(
        reader,
        target,
        broker_release=running,
        owners=reports.read_owners(owners) if owners else reports.Owners(),
        proxies=proxies,
        min_days=min_days,
    )
    view = ReportView(
        name="impact",
        title=f"Upgrade to {report.target}",
        headline=summary.impact_headline(report),
        notes=summary.owner_lines(report),
        coverage=summary.coverage_lines(report.coverage),
        warnings=summary.warnings(report.coverage, report.min_days),
        json_fields=_json_fields(report),
        listed="clients",
        items=report.clients,
        row=export.impact_row,
        row_columns=export.IMPACT,
        columns=(
            "verdict",
            *(["owner"] if report.has_owners else []),
            *CLIENT_COLUMNS,
            "decided by",
            "requests",
        ),
        page_only=("hosts", "requests"),
        cells=partial(_cells, has_owners=report.has_owners),
        cluster_of=lambda client: client.judgement.client.cluster,
        details=partial(_details, target=report.target),
        is_shown=lambda client: show_all or client.verdict is not Verdict.SAFE,
    )
    try:
        show(view, options, reader)
        sys.stdout.flush()
    except BrokenPipeError:  # such as `| head`: the exit code still counts
        discard_output()
    raise typer.Exit(report.exit_code)


def _json_fields(report: Impact) -> dict[str, object]:
    return {
        "target": str(report.target),
        "running": list(report.running),
        "exit_code": report.exit_code,
        "counts": {str(verdict): count for verdict, count in report.counts.items()},
        "owners": [
            {"owner": owner, **{str(verdict): count for verdict, count in counts.items()}}
            for owner, counts in report.by_owner.items()
        ],
        "proxies": list(report.proxies),
        "coverage": export.coverage_row(report.coverage),
    }


def _cells(impact: ClientImpact, *, has_owners: bool) -> tuple[object, ...]:
    client = impact.judgement.client
    return (
        impact.verdict,
        *([impact.owner] if has_owners else []),
        client.principal,
        client.application,
        details.software(client),
        client.host_count,
        details.deciding(impact),
        client.requests,
    )


def _details(impact: ClientImpact, *, target: Release) -> list[str]:
    judgement, client = impact.judgement, impact.judgement.client
    deciding = [finding for finding in judgement.findings if finding.verdict is impact.verdict]
    lines = [details.evidence(finding, target) for finding in deciding]
    lines += [f"-> {details.remedy(remedy, client)}" for remedy in impact.remedies]
    lines += [f"note: {note}" for note in details.notes(impact, target) if note not in lines]
    name = details.client_name(client.principal, client.application)
    return [f"{impact.verdict}: {name}, {details.software(client)}", *lines] if lines else []
