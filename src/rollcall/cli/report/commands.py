"""`rollcall report`: who is on the cluster, what breaks, who restarted, who misbehaves."""

import typer

from rollcall.cli.lazy import lazy_group

COMMANDS = {
    "clients": (
        "rollcall.cli.report.clients:report_clients",
        "List who is on the cluster: principal, application, software, hosts, requests, APIs.",
    ),
    "impact": (
        "rollcall.cli.report.impact:report_impact",
        "Tell which clients break when the brokers are upgraded, why, and what to do about it.",
    ),
    "restarts": (
        "rollcall.cli.report.restarts:report_restarts",
        "Tell when each broker started, which were up together, and which are flapping.",
    ),
    "trouble": (
        "rollcall.cli.report.problems:report_trouble",
        "Tell which clients misbehave: storms, floods, errors, throttling, mixed versions.",
    ),
}

app = typer.Typer(
    cls=lazy_group(COMMANDS),
    no_args_is_help=True,
)


@app.callback()
def report() -> None:
    """Say who is on the cluster, what breaks at an upgrade, what restarted, and who misbehaves.

    From the tables, without starting Spark.
    """
