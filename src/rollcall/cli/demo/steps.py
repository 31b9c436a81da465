"""The steps of `rollcall demo`."""

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

import typer

from rollcall import __version__
from rollcall.broker import (
    ClusterConfig,
    ClusterSupervisor,
    ListenerSettings,
    NodeSettings,
    Software,
)
from rollcall.broker.config import DEFAULT_LISTENERS
from rollcall.cli.brokers.text import moment
from rollcall.cli.demo.runner import DemoRunner, prepare_directory
from rollcall.cli.exit_codes import IMPACT_BREAKS, IMPACT_UNDECIDED, OK, TERMINATED
from rollcall.cli.options.spark import java
from rollcall.cli.terminal.output import print_table
from rollcall.client import AdminClient, parse_bootstrap, roll_call
from rollcall.errors import RollcallError
from rollcall.server import SecurityProtocol

LOGIN_LISTENER = "LOGIN"
USERS = ("orders", "billing", "search", "ops")
RESTARTED = 2
OLDER = 3
OLDER_VERSION = "0.0.9"
TARGET = "4.0.0"
HTML_REPORT = "impact.html"
STEPS = 7
MAX_LINES = 40
"""Lines shown of a long output."""
IMPACT_CODES = (OK, IMPACT_BREAKS, IMPACT_UNDECIDED)


def run_demo(output: Path, lines: str) -> None:
    prepare_directory(output)
    try:
        asyncio.run(_run(output, lines))
    except asyncio.CancelledError:
        raise typer.Exit(TERMINATED) from None


async def _run(directory: Path, lines: str) -> None:
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGHUP):  # asyncio.run handles SIGINT
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    async with DemoRunner(directory, STEPS) as runner:
        request_logs = await _cluster_steps(runner)
        requirement = _missing_requirement()
        if requirement is None:
            await _log_steps(runner, lines, request_logs)
    runner.print("")
    if requirement is None:
        _print_next_steps(runner)
    else:
        runner.print(f"The other steps need {requirement}.")


def _missing_requirement() -> str | None:
    """What Spark needs and this machine lacks."""
    if find_spec("pyspark") is None:
        return "Spark: run pip install 'rollcall[pipeline]' and install Java 17"
    from rollcall.pipeline.spark.jvm import OLDEST_JAVA, java_version

    if (java_version(java()) or 0) < OLDEST_JAVA:
        return f"Java {OLDEST_JAVA} or newer: install openjdk-{OLDEST_JAVA} or set JAVA_HOME"
    return None


async def _cluster_steps(runner: DemoRunner) -> list[Path]:
    """Run the steps on the embedded cluster; return its request logs."""
    passwords = {user: secrets.token_urlsafe(16) for user in USERS}
    runner.step("Start three brokers; broker 3 reports an older version")
    async with ClusterSupervisor(_config(passwords), runner.directory / "cluster") as cluster:
        await runner.run("brokers", _bootstrap(cluster), *_output(runner))
        runner.step("Connect four clients, each with its own user")
        async with _clients(runner, cluster, passwords):
            await runner.run("connections", *(node.http for node in cluster.nodes))
        runner.step(f"Restart broker {RESTARTED}; all brokers report its new start time (KIP-536)")
        await _restart(runner, cluster)
        await runner.run("brokers", _bootstrap(cluster), "--sort", "start", *_output(runner))
        logs = [node.request_log for node in cluster.nodes]
    runner.print("cluster stopped")
    return logs


def _config(passwords: dict[str, str]) -> ClusterConfig:
    login = ListenerSettings(name=LOGIN_LISTENER, security_protocol=SecurityProtocol.SASL_PLAINTEXT)
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


def _output(runner: DemoRunner) -> tuple[object, ...]:
    return "--output", runner.directory / "rolls.jsonl"


@asynccontextmanager
async def _clients(
    runner: DemoRunner, cluster: ClusterSupervisor, passwords: dict[str, str]
) -> AsyncIterator[None]:
    """Connect the clients of `demo.clients`; they stay connected inside the block."""
    async with runner.process("-P", "-m", "rollcall.cli.demo.clients") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        login = {"bootstrap": _bootstrap(cluster, LOGIN_LISTENER), "users": passwords}
        process.stdin.write(json.dumps(login).encode() + b"\n")  # secrets are never arguments
        for _ in USERS:
            line = await process.stdout.readline()
            if not line:
                raise RollcallError("the process of the clients ended")
            _print_client(runner, json.loads(line))
        yield


def _print_client(runner: DemoRunner, result: dict[str, str | None]) -> None:
    if result["error"] is None:
        runner.print(f"{result['name']} connected as User:{result['user']}")
    else:
        runner.print(f"{result['name']} skipped: {result['error']}")


async def _restart(runner: DemoRunner, cluster: ClusterSupervisor) -> None:
    before = await _start_times(cluster)
    bootstrap = _bootstrap(cluster)
    arguments = ("wait-restart", bootstrap, "--broker", RESTARTED, "--timeout", 60)
    async with runner.start(*arguments, piped=True) as process:
        assert process.stdout is not None
        is_first = True
        async for line in process.stdout:
            runner.print(line.decode().rstrip())
            if is_first:  # the command has recorded the present start time
                is_first = False
                _terminate_node(cluster)
        if await process.wait():
            raise RollcallError(f"broker {RESTARTED} did not restart")
    after = await _start_times(cluster)
    runner.print("")
    print_table(
        ("queried broker", f"start of broker {RESTARTED} before", "after"),
        [(broker, moment(before.get(broker, 0)), moment(after[broker])) for broker in after],
        right=("queried broker",),
    )


def _terminate_node(cluster: ClusterSupervisor) -> None:
    pid = cluster.describe(RESTARTED).pid
    if pid is not None:
        os.kill(pid, signal.SIGTERM)  # the supervisor restarts it


async def _start_times(cluster: ClusterSupervisor) -> dict[int, int]:
    """Start time of the restarted broker, as each broker reports it."""
    async with AdminClient(parse_bootstrap(_bootstrap(cluster))) as client:
        calls = await roll_call(client)
    return {row.node.id: row.start_times().get(RESTARTED, 0) for row in calls.rows}


async def _log_steps(runner: DemoRunner, lines: str, request_logs: list[Path]) -> None:
    """From request logs to tables to reports."""
    fleet, tables = runner.directory / "fleet", runner.directory / "tables"
    target = ("--tables", tables, "--cluster")
    runner.step("Generate request logs of a synthetic fleet")
    await runner.run("generate-logs", "--output", fleet, "--lines", lines, "--format", "J")
    runner.step("Read the logs of fleet and cluster, and the roll calls, on Spark")
    await runner.run_all(
        ("pipeline", "run", fleet, *target, "fleet"),
        ("pipeline", "run", *request_logs, *target, "demo"),
        ("pipeline", "brokers", runner.directory / "rolls.jsonl", *target, "demo"),
    )
    runner.step("Report the clients of the cluster and the restarts of its brokers")
    await runner.run("report", "clients", *target, "demo")
    await runner.run("report", "restarts", *target, "demo")
    runner.step(f"Report which clients of the fleet break at {TARGET}")
    impact = ("report", "impact", *target, "fleet", "--target", TARGET)
    await runner.run(*impact, codes=IMPACT_CODES, max_lines=MAX_LINES)
    await runner.run(*impact, "--html", runner.directory / HTML_REPORT, codes=IMPACT_CODES)


def _print_next_steps(runner: DemoRunner) -> None:
    tables, page, rollcall = runner.directory / "tables", runner.directory / HTML_REPORT, _program()
    runner.print(f"Done in {runner.seconds:.0f} s; all processes stopped. Try next:")
    for command, purpose in (
        (f"{_opener()} {page}", "the impact report as HTML"),
        (f"{rollcall} report problems --tables {tables}", "clients that misbehave"),
        (f"{rollcall} tables list --tables {tables}", "the tables behind the reports"),
        (f"{rollcall} cluster start", "an embedded cluster for your own clients"),
        (f"{rollcall} brokers YOUR_BROKER:9092", "the brokers of your own cluster"),
    ):
        runner.print(f"  # {purpose}")
        runner.print(f"  {command}")


def _opener() -> str:
    return "open" if sys.platform == "darwin" else "xdg-open"


def _program() -> str:
    """The command as the user called it: after `make demo` it is not on the PATH."""
    program = Path(sys.argv[0])
    return str(program) if program.name == "rollcall" and not which("rollcall") else "rollcall"
