"""Options that the commands of the pipeline share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollcall.errors import ConfigError

if TYPE_CHECKING:
    from rollcall.pipeline.aggregates import RecordType

UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}

TablesOption = Annotated[
    str, typer.Option("--tables", metavar="DIR", help="Directory of the tables.")
]
LogsArgument = Annotated[
    list[str], typer.Argument(metavar="LOGS...", help="Files, directories or glob patterns.")
]
ClusterOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Name of the cluster that wrote the logs.")
]
BrokerOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Name of the broker that wrote the logs (default: the local address in each line).",
    ),
]
TimeZoneOption = Annotated[
    str,
    typer.Option(
        metavar="ZONE",
        show_default=False,
        help="Time zone of the log timestamps, for example Europe/Berlin (default UTC).",
    ),
]
LayoutOption = Annotated[
    str | None,
    typer.Option(metavar="PATTERN", help="log4j pattern of the log (default: Kafka's)."),
]
InterBrokerOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LISTENER|PRINCIPAL",
        help="Listener or principal that the brokers use among themselves (repeatable).",
    ),
]
RejectsOption = Annotated[
    bool, typer.Option("--allow-rejects", help="Continue when most lines cannot be parsed.")
]


def record_type_of(
    time_zone: str, layout: str | None, inter_broker: Sequence[str] | None
) -> RecordType:
    """The record type of request logs with these options."""
    from rollcall.pipeline.aggregates import request_logs
    from rollcall.pipeline.parsing import SourceSettings

    settings: dict[str, Any] = {"layout": layout} if layout is not None else {}
    return request_logs(
        SourceSettings(time_zone=time_zone, inter_broker=tuple(inter_broker or ()), **settings)
    )


def parse_count(text: str) -> int:
    """`5000`, `250k`, `1M`, `2G`."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)", text.strip().lower())
    if match is None:
        raise ConfigError(
            f"--lines {text!r} is not a number of lines", hint="use for example 5000, 250k or 1M"
        )
    return round(float(match[1]) * UNITS[match[2]])


def parse_hour(text: str) -> datetime:
    """Without a time zone, as in log timestamps."""
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H")  # noqa: DTZ007
    except ValueError:
        raise ConfigError(
            f"--start {text!r} is not an hour", hint="use a form such as 2026-11-01T10"
        ) from None
