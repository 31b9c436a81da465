"""The options that all commands that ask brokers have."""

from pathlib import Path
from typing import Annotated

import typer

from rollcall.cli.options.common import seconds_option
from rollcall.cli.options.settings import SASL_PASSWORD

BootstrapArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="BOOTSTRAP",
        show_default=False,
        help="Brokers to begin with, as host:port,host:port; unless the settings name them.",
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        envvar="ROLLCALL_CONFIG",
        help="Settings for TLS and SASL: a TOML file, or a Java client's .properties. "
        f"The password may be in {SASL_PASSWORD}.",
    ),
]
SecondsOption = Annotated[
    float | None,
    seconds_option("--timeout", help_text="Seconds that each broker has; 10 by default."),
]
ReleaseOption = Annotated[
    str | None,
    typer.Option(
        metavar="RELEASE",
        help="What a broker without ApiVersions (before 0.10) is taken for, such as 0.9.0.",
    ),
]
