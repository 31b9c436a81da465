"""`rollcall demo`: all of rollcall on this machine, in about a minute."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Annotated

import typer

from rollcall import __version__
from rollcall.cli.brokers.text import moment
from rollcall.cli.demo.stage import Stage, make_folder
from rollcall.cli.exit_codes import TERMINATED
from rollcall.cli.options.spark import java
from rollcall.cli.pipeline.generate_logs import parse_count
from rollcall.cli.terminal.output import print_table
from rollcall.client import AdminClient, parse_bootstrap, roll_call
from rollcall.errors import RollcallError

if TYPE_CHECKING:
    from rollcall.broker import ClusterConfig, ClusterSupervisor

LOGIN = "LOGIN"
USERS = ("orders", "billing", "search", "ops")
RESTARTED = 2
OLDER = 3
OLDER_VERSION = "0.0.9"
TARGET = "4.0.0"
PAGE = "impact.html"
ACTS = 7
SHOWN = 40
"""So many lines of a long answer."""
VERDICTS = (0, 1, 3)
"""How `report impact` ends: nothing, something, perhaps something breaks."""


def demo(
    output: Annotated[
        Path, typer.Option(metavar="DIR", help="The folder for all that is written.")
    ] = Path("build/demo"),
    lines: Annotated[
        str, typer.Option(metavar="50k", help="How many lines of request log to make up.")
    ] = "50k",
) -> None:
    """Show all of rollcall: a cluster, clients on it, a restart, logs, tables, an upgrade.

    Real clients join a cluster of three brokers on this machine; then Spark reads its request log
    and that of a made-up fleet. Nothing is left running, and nothing is written outside of DIR.

    Example: rollcall demo --lines 200k
    """
    parse_count(lines)  # what makes no sense is told now, and not when it is needed
    make_folder(output)
    try:
        asyncio.run(_play(output, lines))
    except asyncio.CancelledError:
        raise typer.Exit(TERMINATED) from None


async def _play(folder: Path, lines: str) -> None:
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGHUP):  # SIGINT does the same by itself
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    async with Stage(folder, ACTS) as stage:
        request_logs = await _cluster_acts(stage)
        lack = _lack()
        if lack is None:
            await _log_acts(stage, lines, request_logs)
    stage.say("")
    if lack is None:
        _say_what_next(stage)
    else:
        stage.say(f"The rest needs {lack}.")


def _lack() -> str | None:
    """What keeps Spark from starting, if anything does."""
    if find_spec("pyspark") is None:
        return "Spark: pip install 'rollcall[pipeline]', and Java 17"
    from rollcall.pipeline.spark.jvm import OLDEST_JAVA, java_version

    if (java_version(java()) or 0) < OLDEST_JAVA:
        return f"Java {OLDEST_JAVA} or newer: install openjdk-{OLDEST_JAVA}, or set JAVA_HOME"
    return None


async def _cluster_acts(stage: Stage) -> list[Path]:
    """From the start of the cluster to its end; its request logs."""
    from rollcall.broker import ClusterSupervisor

    passwords = {user: secrets.token_urlsafe(16) for user in USERS}
    stage.act("A cluster of three brokers; broker 3 says that it is older")
    async with ClusterSupervisor(_config(passwords), stage.folder / "cluster") as cluster:
        await stage.run("brokers", _bootstrap(cluster), *_kept(stage))
        stage.act("Clients join it, each with a login of its own")
        async with _guests(stage, cluster, passwords):
            await stage.run("connections", *(node.http for node in cluster.nodes))
        stage.act(f"Broker {RESTARTED} restarts, and every broker gets to know (KIP-536)")
        await _restart(stage, cluster)
        await stage.run("brokers", _bootstrap(cluster), "--sort", "start", *_kept(stage))
        logs = [node.request_log for node in cluster.nodes]
    stage.say("The cluster has ended.")
    return logs


def _config(passwords: dict[str, str]) -> ClusterConfig:
    from rollcall.broker import ClusterConfig, ListenerSettings, NodeSettings, Software
    from rollcall.broker.config import DEFAULT_LISTENERS
    from rollcall.server import SecurityProtocol

    login = ListenerSettings(name=LOGIN, security_protocol=SecurityProtocol.SASL_PLAINTEXT)
    return ClusterConfig(
        listeners=(*DEFAULT_LISTENERS, login),
        users=passwords,
        software=Software(version=__version__),
        nodes={
            1: NodeSettings(rack="east"),
            2: NodeSettings(rack="west"),
            OLDER: NodeSettings(rack="west", software=Software(version=OLDER_VERSION)),
        },
    )


def _bootstrap(cluster: ClusterSupervisor, listener: str = "PLAINTEXT") -> str:
    return cluster.nodes[0].listeners[listener]


def _kept(stage: Stage) -> tuple[object, ...]:
    return "--output", stage.folder / "rolls.jsonl"


@asynccontextmanager
async def _guests(
    stage: Stage, cluster: ClusterSupervisor, passwords: dict[str, str]
) -> AsyncIterator[None]:
    async with stage.process("-P", "-m", "rollcall.cli.demo.clients") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        told = {"bootstrap": _bootstrap(cluster, LOGIN), "users": passwords}
        process.stdin.write(json.dumps(told).encode() + b"\n")
        for _ in USERS:
            line = await process.stdout.readline()
            if not line:
                raise RollcallError("the process of the clients has died")
            _show_guest(stage, json.loads(line))
        yield


def _show_guest(stage: Stage, news: dict[str, str | None]) -> None:
    if news["trouble"] is None:
        stage.say(f"  {news['name']} is in, as User:{news['user']}, client id {news['client_id']}")
    else:
        stage.say(f"  {news['name']} is left out: {news['trouble']}")


async def _restart(stage: Stage, cluster: ClusterSupervisor) -> None:
    before = await _start_times(cluster)
    bootstrap = _bootstrap(cluster)
    arguments = ("wait-restart", bootstrap, "--broker", RESTARTED, "--timeout", 60)
    async with stage.start(*arguments, piped=True) as process:
        assert process.stdout is not None
        waiting = True
        async for line in process.stdout:
            stage.say(line.decode().rstrip())
            if waiting:  # it has seen the start time before
                waiting = False
                _end_node(cluster)
        if await process.wait():
            raise RollcallError(f"broker {RESTARTED} did not come back")
    after = await _start_times(cluster)
    stage.say("")
    print_table(
        ("broker asked", f"broker {RESTARTED} started, before", "and after"),
        [(asked, moment(before.get(asked, 0)), moment(after[asked])) for asked in after],
        right=("broker asked",),
    )
    stage.say("")


def _end_node(cluster: ClusterSupervisor) -> None:
    pid = cluster.describe(RESTARTED).pid
    if pid is not None:
        os.kill(pid, signal.SIGTERM)  # whoever keeps the node starts it again


async def _start_times(cluster: ClusterSupervisor) -> dict[int, int]:
    """What each broker says of the one that restarts."""
    async with AdminClient(parse_bootstrap(_bootstrap(cluster))) as client:
        calls = await roll_call(client)
    return {row.node.id: row.start_times().get(RESTARTED, 0) for row in calls.rows}


async def _log_acts(stage: Stage, lines: str, request_logs: list[Path]) -> None:
    """Request logs to tables to answers."""
    fleet, tables = stage.folder / "fleet", stage.folder / "tables"
    into = ("--tables", tables, "--cluster")
    stage.act("Request logs of a made-up fleet")
    await stage.run("generate-logs", "--output", fleet, "--lines", lines, "--form", "J")
    stage.act("Spark reads the logs of fleet and cluster, and the roll calls")
    await stage.run_all(
        ("pipeline", "run", fleet, *into, "fleet"),
        ("pipeline", "run", *request_logs, *into, "demo"),
        ("pipeline", "brokers", stage.folder / "rolls.jsonl", *into, "demo"),
    )
    of_demo, of_fleet = ("--tables", tables, "--cluster", "demo"), (*into, "fleet")
    stage.act("Who was on the cluster, and when did its brokers start")
    await stage.run("report", "clients", *of_demo)
    await stage.run("report", "restarts", *of_demo)
    stage.act(f"What breaks in the fleet when its brokers are upgraded to {TARGET}")
    impact = ("report", "impact", *of_fleet, "--target", TARGET)
    await stage.run(*impact, may_end=VERDICTS, only=SHOWN)
    await stage.run(*impact, "--html", stage.folder / PAGE, may_end=VERDICTS)


def _say_what_next(stage: Stage) -> None:
    tables, page, rollcall = stage.folder / "tables", stage.folder / PAGE, _program()
    stage.say(f"Done in {stage.seconds:.0f} s, and nothing is left running. Try next:")
    for command, why in (
        (f"{_opener()} {page}", "what breaks, as one page that can be mailed"),
        (f"{rollcall} report problems --tables {tables}", "who misbehaves"),
        (f"{rollcall} tables list --tables {tables}", "what the answers rest on"),
        (f"{rollcall} cluster start", "a cluster to point your own clients at"),
        (f"{rollcall} brokers YOUR_BROKER:9092", "the roll call of your own cluster"),
    ):
        stage.say(f"  # {why}")
        stage.say(f"  {command}")


def _opener() -> str:
    return "open" if sys.platform == "darwin" else "xdg-open"


def _program() -> str:
    """How the reader calls us: `make demo` leaves nothing on the PATH."""
    called = Path(sys.argv[0])
    return str(called) if called.name == "rollcall" and not which("rollcall") else "rollcall"
