"""All commands in one Typer application, and the conversion of errors to exit codes.

The modules imported here only declare options; each command imports its implementation inside its
function. `rollcall --help` and `rollcall brokers --help` take 100 ms of CPU that way. Importing all
implementations here would take 700 ms.
"""

import sys
from typing import Annotated, Any

import typer

from rollcall.cli.brokers.commands import api_versions, brokers, features, identify, wait_restart
from rollcall.cli.cluster.commands import app as cluster
from rollcall.cli.cluster.commands import connections
from rollcall.cli.demo.commands import demo
from rollcall.cli.exit_codes import FAILED, INTERRUPTED, USAGE
from rollcall.cli.pipeline.commands import app as pipeline
from rollcall.cli.pipeline.commands import generate_logs
from rollcall.cli.pipeline.tables import app as tables
from rollcall.cli.protocol import app as protocol
from rollcall.cli.report.commands import app as report
from rollcall.cli.terminal.output import (
    DISK_FULL,
    discard_output,
    disk_full_error,
    prepare_streams,
    print_error,
)
from rollcall.cli.terminal.signals import caused_by_interrupt, interrupts_raise
from rollcall.errors import ConfigError, RollcallError

app = typer.Typer(
    name="rollcall",
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    pretty_exceptions_enable=False,  # they show local variables, which may hold secrets
)
COMMANDS: dict[str, Any] = {
    "brokers": brokers,
    "api-versions": api_versions,
    "features": features,
    "wait-restart": wait_restart,
    "identify": identify,
    "pipeline": pipeline,
    "tables": tables,
    "report": report,
    "generate-logs": generate_logs,
    "cluster": cluster,
    "connections": connections,
    "protocol": protocol,
    "demo": demo,
}
for name, command in COMMANDS.items():
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        # without short_help, the list of commands cuts the summary instead of wrapping it
        app.command(name, short_help=command.__doc__.partition("\n")[0])(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        from rollcall import __version__

        print(f"rollcall {__version__}")
        raise typer.Exit


@app.callback()
def rollcall(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Show which clients and brokers a Kafka cluster has, and what breaks when it is upgraded."""


def main() -> None:
    """Run the command in `sys.argv`, then exit."""
    prepare_streams()
    try:
        with interrupts_raise():
            code = _run()
    except KeyboardInterrupt:  # a second one, while the first was handled
        code = INTERRUPTED
    sys.exit(code)


def _run() -> int | str | None:
    try:
        try:
            app(prog_name="rollcall")
        except RollcallError as error:
            if caused_by_interrupt(error):
                raise
            print_error(error)
            return exit_code(error)
        finally:
            sys.stdout.flush()  # here a broken pipe can still be handled
    except SystemExit as error:
        return error.code
    except BrokenPipeError:  # `rollcall ... | head`
        discard_output()
        return FAILED
    except BaseException as error:
        if caused_by_interrupt(error):
            return INTERRUPTED
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            discard_output()
            print_error(disk_full_error(error))
            return FAILED
        raise
    return 0


def exit_code(error: RollcallError) -> int:
    return USAGE if isinstance(error, ConfigError) else FAILED
