"""Options that several groups of commands share, each declared once."""

from typing import Annotated, Any

import typer

MIN_SECONDS, MAX_SECONDS = 0.05, 366 * 86400.0
"""A year is less than the maximum of the system's timers."""


def _parse_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise typer.BadParameter(
            f"{text!r} is not a valid number of seconds ({MIN_SECONDS} to {MAX_SECONDS:.0f})"
        )
    return seconds


def seconds_option(*names: str, help_text: str) -> Any:
    return typer.Option(
        *names, metavar="SECONDS", parser=_parse_seconds, show_default=False, help=help_text
    )


JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
WatchOption = Annotated[
    float | None, seconds_option("--watch", help_text="Repeat every SECONDS seconds until Ctrl-C.")
]
