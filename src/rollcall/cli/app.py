"""The commands put together, and the one place where an error becomes a message and an exit code.

Exit codes: 0 done, 1 it failed, 2 it was called in a wrong way, 130 interrupted. A command that
needs more of them (for scripts) says so in its help.
"""

import io
import os
import sys
from typing import Annotated

import typer

from rollcall import __version__
from rollcall.cli import cluster, pipeline, protocol, report, tables
from rollcall.cli.api_versions import api_versions
from rollcall.cli.brokers import brokers
from rollcall.cli.connections import connections
from rollcall.cli.demo import demo
from rollcall.cli.features import features
from rollcall.cli.generate_logs import generate_logs
from rollcall.cli.identify import identify
from rollcall.cli.output import print_error
from rollcall.cli.wait_restart import wait_restart
from rollcall.errors import RollcallError

FAILED = 1
INTERRUPTED = 130

app = typer.Typer(
    name="rollcall",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,  # it would print local variables, and with them secrets
)
app.command()(demo)
app.add_typer(pipeline.app, name="pipeline")
app.add_typer(protocol.app, name="protocol")
app.add_typer(report.app, name="report")
app.add_typer(tables.app, name="tables")
app.add_typer(cluster.app, name="cluster")
app.command()(brokers)
app.command("api-versions")(api_versions)
app.command()(features)
app.command("wait-restart")(wait_restart)
app.command()(identify)
app.command()(connections)
app.command()(generate_logs)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"rollcall {__version__}")
        raise typer.Exit


@app.callback()
def rollcall(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Who is on a Kafka cluster, and what breaks when it is upgraded."""


def main() -> None:
    """Run the command that `sys.argv` names, and exit."""
    _tolerate_any_text()
    try:
        try:
            app(prog_name="rollcall")
        except RollcallError as error:
            print_error(error)
            sys.exit(FAILED)
        finally:
            sys.stdout.flush()  # when Python ends, a broken pipe can no longer be caught
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # `rollcall ... | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)


def _tolerate_any_text() -> None:
    """Write a character that the terminal's encoding lacks as an escape, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
