"""`rollcall cluster start`: run an embedded cluster in the foreground."""

import asyncio
import json
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from rollcall.broker import (
    ClusterConfig,
    ClusterSupervisor,
    NodeDescription,
    parse_config,
    read_config,
)
from rollcall.cli.cluster.view import LiveTable, PlainLines
from rollcall.cli.terminal.output import can_redraw


class Display(Protocol):
    """How the cluster is shown while it runs."""

    def changed(self, node: NodeDescription) -> None: ...

    def ready(self, cluster: ClusterSupervisor) -> None: ...


def start_cluster(
    options: Mapping[str, Any], *, config_file: Path | None, data_dir: Path | None, as_json: bool
) -> None:
    """Run the cluster until SIGINT, SIGTERM or SIGHUP. Options override the configuration file."""
    if config_file is not None:
        config = read_config(config_file, **options)
    else:
        config = parse_config({}, Path(), **options)
    with _directory(data_dir) as directory, _display(as_json) as display:
        asyncio.run(_run(config, directory, display))


@contextmanager
def _directory(given: Path | None) -> Iterator[Path]:
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


async def _run(config: ClusterConfig, directory: Path, display: Display) -> None:
    serving = asyncio.create_task(_serve(config, directory, display))
    stopping = False

    def stop() -> None:
        """Stopping takes a few seconds; further signals do not disturb it."""
        nonlocal stopping
        if not stopping:
            stopping = True
            serving.cancel()

    signals = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # ignored under nohup
        signals.append(signal.SIGHUP)
    for number in signals:
        asyncio.get_running_loop().add_signal_handler(number, stop)
    try:
        await serving
    except asyncio.CancelledError:
        if not serving.cancelled():
            raise


async def _serve(config: ClusterConfig, directory: Path, display: Display) -> None:
    async with ClusterSupervisor(config, directory, display.changed) as cluster:
        display.ready(cluster)
        await cluster.wait()


class JsonLine(PlainLines):
    """One line of JSON on standard output when ready; crashes and restarts on standard error."""

    def __init__(self) -> None:
        super().__init__(sys.stderr, only_failures=True)

    def ready(self, cluster: ClusterSupervisor) -> None:
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
