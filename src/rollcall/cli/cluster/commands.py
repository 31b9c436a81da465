"""Arguments, options and help of `rollcall cluster` and `rollcall connections`."""

from pathlib import Path
from typing import Annotated

import typer

from rollcall.cli.options.common import JsonOption, WatchOption, seconds_option

app = typer.Typer(no_args_is_help=True, help="Run an embedded cluster for development and tests.")


@app.callback()
def cluster() -> None:
    """Run an embedded cluster for development and tests."""


@app.command()
def start(
    brokers: Annotated[
        int | None, typer.Option(metavar="N", help="Number of nodes to start (default 3).")
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory for logs (default: a temporary one, removed at the end).",
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(metavar="HOST", help="Address to listen on (default 127.0.0.1)."),
    ] = None,
    base_port: Annotated[
        int | None,
        typer.Option(
            metavar="PORT",
            help="PLAINTEXT port of node 1; KIP uses PORT+100, HTTP PORT+200, each further node "
            "the next port (default: free ports).",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TOML file with listeners, TLS, users, authorizer and racks.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON when all nodes are ready.")
    ] = False,
) -> None:
    """Start a cluster and run it in the foreground until Ctrl-C or SIGTERM.

    Every node has a listener PLAINTEXT for released Kafka clients, and a listener KIP that
    implements the proposals to the letter. A node that crashes is restarted.

    Example: rollcall cluster start --base-port 19092
    """
    from rollcall.cli.cluster.start import start_cluster

    start_cluster(
        {"brokers": brokers, "host": host, "base_port": base_port},
        config_file=config,
        data_dir=data_dir,
        as_json=as_json,
    )


def connections(
    urls: Annotated[
        list[str], typer.Argument(metavar="URL...", help="HTTP addresses of the nodes.")
    ],
    listener: Annotated[
        str | None, typer.Option(metavar="NAME", help="Show only this listener.")
    ] = None,
    principal: Annotated[
        str | None, typer.Option(metavar="NAME", help="Show only this principal.")
    ] = None,
    client_id: Annotated[
        str | None, typer.Option(metavar="ID", help="Show only this client id.")
    ] = None,
    software: Annotated[
        str | None, typer.Option(metavar="NAME", help="Show only this software name.")
    ] = None,
    peer_host: Annotated[
        str | None, typer.Option(metavar="HOST", help="Show only clients from this address.")
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=1,
            show_default=False,
            help="Maximum number of connections per node (default 1000).",
        ),
    ] = 1000,
    watch: WatchOption = None,
    timeout: Annotated[
        float,
        seconds_option("--timeout", help_text="Timeout per node in seconds (default 5)."),
    ] = 5.0,
    as_json: JsonOption = False,
) -> None:
    """List the client connections of embedded nodes with principal, software and requests.

    A node that does not respond is listed with the reason.

    Exit codes: 0 every node responded, 1 no node responded, 2 wrong usage, 3 at least one node did
    not respond.

    Example: rollcall connections http://127.0.0.1:19292 --software librdkafka
    """
    from rollcall.cli.cluster.connections import list_connections

    filters = {
        "listener": listener,
        "principal": principal,
        "client_id": client_id,
        "software_name": software,
        "peer_host": peer_host,
        "limit": limit,
    }
    list_connections(urls, filters, watch=watch, timeout=timeout, as_json=as_json)
