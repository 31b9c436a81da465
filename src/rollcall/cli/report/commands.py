"""Arguments, options and help of `rollcall report`.

The reports are imported inside the functions: DuckDB and the catalog take 150 ms.
"""

from pathlib import Path
from typing import Annotated

import typer

from rollcall.cli.report.options import ClientReportOptions, ReportOptions, with_options

app = typer.Typer(no_args_is_help=True)

MIN_DAYS = 7
"""Equal to the default of `rollcall.reports.impact`, which is not imported here."""


@app.callback()
def report() -> None:
    """Report clients, upgrade impact, broker restarts and client problems.

    Reads the tables without starting Spark.
    """


@app.command()
@with_options
def clients(options: ClientReportOptions) -> None:
    """List all clients with their principal, application, software, hosts and requests.

    JSON, CSV and HTML also have connections, first times and API versions.

    Example: rollcall report clients --tables tables --software 'librdkafka*'
    """
    from rollcall.cli.report.clients import report_clients

    report_clients(options)


@app.command()
@with_options
def impact(
    options: ClientReportOptions,
    target: Annotated[
        str, typer.Option(metavar="RELEASE", help="Release to upgrade to, such as 4.0.1.")
    ],
    running: Annotated[
        str | None,
        typer.Option(
            "--from",
            "--broker-release",
            metavar="RELEASE",
            help="Release that the brokers run (default: inferred).",
        ),
    ] = None,
    owners: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV file with the columns principal, client_id and owner "
            "(default: the principal is the owner).",
        ),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(metavar="HOST", help="Host of a proxy with many clients; repeatable."),
    ] = None,
    min_days: Annotated[
        int,
        typer.Option(
            metavar="DAYS",
            min=0,
            show_default=False,
            help="Days of logs needed for exit code 0 (default 7).",
        ),
    ] = MIN_DAYS,
    show_all: Annotated[bool, typer.Option("--all", help="List safe clients as well.")] = False,
) -> None:
    """List the clients that break when the brokers are upgraded, with evidence and remedies.

    Exit codes: 0 no client breaks; 1 a client breaks; 2 the report failed; 3 a client is at risk or
    unknown, or the logs do not cover enough days or brokers.

    Example: rollcall report impact --tables tables --target 4.0.1
    """
    from rollcall.cli.report.impact import report_impact

    report_impact(
        options,
        target=target,
        running=running,
        owners=owners,
        proxies=proxy or (),
        min_days=min_days,
        show_all=show_all,
    )


@app.command()
@with_options
def restarts(options: ReportOptions) -> None:
    """List when each broker started, rolling restarts and flapping brokers.

    Example: rollcall report restarts --tables tables --since 7d
    """
    from rollcall.cli.report.restarts import report_restarts

    report_restarts(options)


@app.command()
@with_options
def problems(options: ClientReportOptions) -> None:
    """List clients that misbehave: reconnects, floods, errors, throttling, mixed versions.

    Example: rollcall report problems --tables tables --since 24h
    """
    from rollcall.cli.report.problems import report_problems

    report_problems(options)
