"""The options of `rollcall pipeline`, each declared once."""

from typing import Annotated

import typer

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
