"""The options that commands of several kinds have, each declared once."""

from typing import Annotated

import typer

LONGEST = 366 * 86400.0
"""In seconds: a year, and less than any clock of the system takes."""

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
WatchOption = Annotated[
    float | None,
    typer.Option(min=0.1, max=LONGEST, metavar="S", help="Again every so many seconds."),
]
