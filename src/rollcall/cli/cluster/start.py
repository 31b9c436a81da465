"""`rollcall cluster start`: an embedded cluster in the foreground."""

import asyncio
import json
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from rollcall.cli.cluster.view import LiveTable, PlainLines
from rollcall.cli.terminal.output import can_redraw

if TYPE_CHECKING:
    from rollcall.broker import ClusterConfig, ClusterSupervisor, NodeDescription

app = typer.Typer(no_args_is_help=True)

ENDING = (signal.SIGINT, signal.SIGTERM)


class Display(Protocol):
    """How a cluster is shown while it runs."""

    def changed(self, node: "NodeDescription") -> None: ...

    def ready(self, cluster: "ClusterSupervisor") -> None: ...


@app.callback()
def cluster() -> None:
    """Start a cluster of brokers on this machine, to try clients with."""


@app.command()
def start(
    brokers: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many nodes to start; 3 if nothing says otherwise."),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where logs are kept; else in a temporary folder, removed at the end.",
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(metavar="HOST", help="The address to listen on; 127.0.0.1 by default."),
    ] = None,
    base_port: Annotated[
        int | None,
        typer.Option(
            metavar="PORT",
            help="PLAINTEXT of node 1; KIP has 100 more, HTTP 200, node 2 the next one of each. "
            "Else free ones.",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A TOML file with more: listeners, TLS, users, authorizer, racks.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON when all nodes are ready.")
    ] = False,
) -> None:
    """Start a cluster, and keep it running until SIGINT (Ctrl-C) or SIGTERM.

    Every node opens PLAINTEXT, for the Kafka clients of today, and KIP, for the proposals to the
    letter. A node that dies is started again.

    Example: rollcall cluster start --base-port 19092
    """
    from rollcall.broker import parse_config, read_config

    chosen = {"brokers": brokers, "host": host, "base_port": base_port}
    settings = read_config(config, **chosen) if config else parse_config({}, Path(), **chosen)
    with _folder(data_dir) as folder, _display(as_json) as display:
        asyncio.run(_run(settings, folder, display))


@contextmanager
def _folder(given: Path | None) -> Iterator[Path]:
    if given is not None:
        yield given.absolute()
        return
    with tempfile.TemporaryDirectory(prefix="rollcall-") as made:
        yield Path(made)


@contextmanager
def _display(as_json: bool) -> Iterator[Display]:
    if as_json:
        yield JsonLine()
    elif can_redraw(sys.stdout):
        with LiveTable() as table:
            yield table
    else:
        yield PlainLines(sys.stdout)


async def _run(settings: "ClusterConfig", folder: Path, display: Display) -> None:
    running = asyncio.create_task(_serve(settings, folder, display))
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN  # started with nohup
    for number in ENDING if ignored else (*ENDING, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, _once(running.cancel))
    try:
        await running
    except asyncio.CancelledError:
        if not running.cancelled():
            raise


def _once(act: Callable[[], object]) -> Callable[[], None]:
    """The first signal ends the cluster; it then takes a few seconds, however often it is asked."""
    done = False

    def call() -> None:
        nonlocal done
        if not done:
            done = True
            act()

    return call


async def _serve(settings: "ClusterConfig", folder: Path, display: Display) -> None:
    from rollcall.broker import ClusterSupervisor

    async with ClusterSupervisor(settings, folder, display.changed) as cluster:
        display.ready(cluster)
        await cluster.wait()


class JsonLine(PlainLines):
    """One line of JSON for a program; whatever else happens is told on standard error."""

    def __init__(self) -> None:
        super().__init__(sys.stderr, only_trouble=True)

    def ready(self, cluster: "ClusterSupervisor") -> None:
        super().ready(cluster)
        brokers = [
            {
                "id": node.id,
                "pid": node.pid,
                "rack": node.rack,
                "listeners": node.listeners,
                "http": node.http,
                "request_log": str(node.request_log),
            }
            for node in cluster.nodes
        ]
        line = {
            "cluster_id": cluster.cluster_id,
            "controller_id": cluster.controller_id,
            "brokers": brokers,
        }
        print(json.dumps(line), flush=True)
