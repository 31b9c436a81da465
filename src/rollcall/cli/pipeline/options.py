"""The options of `rollcall pipeline`, each declared once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rollcall.pipeline.aggregates import RecordType

LogsArgument = Annotated[
    list[str], typer.Argument(metavar="LOGS...", help="Files, folders or patterns.")
]
ClusterOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="The cluster that the logs are of.")
]
BrokerOption = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The broker, if not the local address of a connection."),
]
TimeZoneOption = Annotated[
    str, typer.Option(metavar="ZONE", help="The zone of the brokers' clocks, as Europe/Berlin.")
]
LayoutOption = Annotated[
    str | None,
    typer.Option(metavar="PATTERN", help="The log4j pattern of the log, if not Kafka's."),
]
InterBrokerOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LISTENER|PRINCIPAL", help="Used by the cluster's own brokers; may be repeated."
    ),
]
RejectsOption = Annotated[
    bool, typer.Option("--allow-rejects", help="Go on when most lines cannot be read.")
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
