"""The group of commands `rollcall report`; each is loaded when it is called."""

import typer

from rollcall.cli.lazy import lazy_group

COMMANDS = {
    "clients": (
        "rollcall.cli.report.clients:report_clients",
        "List all clients with their principal, application, software, hosts and requests.",
    ),
    "impact": (
        "rollcall.cli.report.impact:report_impact",
        "List the clients that break when the brokers are upgraded, with evidence and remedies.",
    ),
    "restarts": (
        "rollcall.cli.report.restarts:report_restarts",
        "List when each broker started, rolling restarts and flapping brokers.",
    ),
    "problems": (
        "rollcall.cli.report.problems:report_problems",
        "List clients that misbehave: reconnects, floods, errors, throttling, mixed versions.",
    ),
}

app = typer.Typer(
    cls=lazy_group(COMMANDS),
    no_args_is_help=True,
)


@app.callback()
def report() -> None:
    """Report clients, upgrade impact, broker restarts and client problems.

    Reads the tables without starting Spark.
    """
