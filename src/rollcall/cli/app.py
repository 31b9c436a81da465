"""The commands put together, and the one place where an error becomes a message and an exit code.

Exit codes: 0 done, 1 it failed, 2 it was called in a wrong way (its settings are part of the call),
130 interrupted. A command that needs more of them (for scripts) says so in its help: 3 is that some
brokers or nodes did not answer.
"""

import sys
from typing import Annotated

import typer

from rollcall.cli.exit_codes import FAILED, INTERRUPTED, USAGE
from rollcall.cli.lazy import lazy_group
from rollcall.cli.terminal.output import (
    DISK_FULL,
    discard_output,
    disk_full_error,
    prepare_streams,
    print_error,
)
from rollcall.errors import ConfigError, RollcallError

COMMANDS = {
    "demo": (
        "rollcall.cli.demo.story:demo",
        "Show all of rollcall: a cluster, clients on it, a restart, logs, tables, an upgrade.",
    ),
    "brokers": (
        "rollcall.cli.brokers.roll_call:brokers",
        "Call the roll: what each broker is, since when it runs, and how we know.",
    ),
    "api-versions": (
        "rollcall.cli.brokers.api_versions:api_versions",
        "Show which versions of which APIs the brokers have, and what they have in common.",
    ),
    "features": (
        "rollcall.cli.brokers.features:features",
        "Show which features can be used on the cluster, and what stands in the way of the others.",
    ),
    "wait-restart": (
        "rollcall.cli.brokers.wait_restart:wait_restart",
        "Wait until brokers have restarted: each says so itself, and the others know.",
    ),
    "identify": (
        "rollcall.cli.brokers.identify:identify",
        (
            "Say which release an ApiVersions answer (JSON) fits, and what speaks against the next "
            "best."
        ),
    ),
    "pipeline": ("rollcall.cli.pipeline.commands:app", "Read request logs into tables (on Spark)."),
    "report": (
        "rollcall.cli.report.commands:app",
        "Say who is on the cluster, what breaks at an upgrade, what restarted, and who misbehaves.",
    ),
    "tables": ("rollcall.cli.pipeline.tables:app", "Show the tables that the pipeline wrote."),
    "generate-logs": (
        "rollcall.cli.pipeline.generate_logs:generate_logs",
        "Write request logs of a made-up but lifelike fleet, and the truth about it as JSON.",
    ),
    "cluster": (
        "rollcall.cli.cluster.start:app",
        "Start a cluster of brokers on this machine, to try clients with.",
    ),
    "connections": (
        "rollcall.cli.cluster.connections:connections",
        "Show who is connected to the nodes of `rollcall cluster start`, and with which software.",
    ),
    "protocol": ("rollcall.cli.protocol:app", "Show the messages of the Kafka protocol."),
}

app = typer.Typer(
    name="rollcall",
    cls=lazy_group(COMMANDS),
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,  # it would print local variables, and with them secrets
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from rollcall import __version__

        print(f"rollcall {__version__}")
        raise typer.Exit


@app.callback()
def rollcall(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            metavar="",
            callback=_show_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    """Who is on a Kafka cluster, and what breaks when it is upgraded."""


def main() -> None:
    """Run the command that `sys.argv` names, and exit."""
    prepare_streams()
    try:
        try:
            app(prog_name="rollcall")
        except RollcallError as error:
            print_error(error)
            sys.exit(exit_code(error))
        finally:
            sys.stdout.flush()  # when Python ends, a broken pipe can no longer be caught
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # `rollcall ... | head`: the reader has seen enough
        discard_output()
        sys.exit(FAILED)
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        discard_output()
        print_error(disk_full_error(error))
        sys.exit(FAILED)


def exit_code(error: RollcallError) -> int:
    return USAGE if isinstance(error, ConfigError) else FAILED
