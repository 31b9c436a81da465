"""The options that commands of several kinds have, each declared once."""

from typing import Annotated, Any

import typer

SHORTEST, LONGEST = 0.05, 366 * 86400.0
"""In seconds: to a year, which is less than any clock of the system takes."""


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not SHORTEST <= seconds <= LONGEST:
        raise typer.BadParameter(f"{text!r} is no number of seconds, from {SHORTEST} to a year")
    return seconds


def seconds_option(*names: str, help_text: str) -> Any:
    return typer.Option(*names, metavar="S", parser=_seconds, help=help_text)


JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
WatchOption = Annotated[float | None, seconds_option(help_text="Again every so many seconds.")]
