"""Arguments, options and help of `rollcall demo`."""

from pathlib import Path
from typing import Annotated

import typer

from rollcall.cli.pipeline.options import parse_count


def demo(
    output: Annotated[
        Path,
        typer.Option(
            metavar="DIR", show_default=False, help="Directory for all files (default build/demo)."
        ),
    ] = Path("build/demo"),
    lines: Annotated[
        str,
        typer.Option(
            metavar="N",
            show_default=False,
            help="Number of request log lines to generate (default 50k).",
        ),
    ] = "50k",
) -> None:
    """Run a tour of all features on this machine (about a minute).

    Real clients connect to an embedded cluster of three brokers. Then Spark reads the request logs
    of this cluster and of a synthetic fleet. The demo stops all its processes and writes only to
    DIR.

    Example: rollcall demo --lines 200k
    """
    parse_count(lines)  # reject a wrong number before the cluster starts
    from rollcall.cli.demo.steps import run_demo

    run_demo(output, lines)
