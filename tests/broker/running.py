"""A cluster started with `rollcall cluster start`, and helpers to query it."""

import asyncio
import json
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.request import urlopen

from rollcall.client import Address, BrokerConnection, open_connection
from rollcall.protocol import Message
from tests.client.scripted import PATIENT

ROLLCALL = (sys.executable, "-m", "rollcall")
START_SECONDS = 60.0
PATIENCE = 60.0

T = TypeVar("T")


@dataclass
class RunningCluster:
    """The process of `rollcall cluster start --json`, and the JSON that it printed."""

    process: "subprocess.Popen[str]"
    description: dict[str, Any]

    @property
    def brokers(self) -> list[dict[str, Any]]:
        return list(self.description["brokers"])

    def broker(self, broker_id: int) -> dict[str, Any]:
        return next(b for b in self.brokers if b["id"] == broker_id)

    def address(self, broker_id: int, listener: str = "PLAINTEXT") -> Address:
        return Address.parse(self.broker(broker_id)["listeners"][listener])

    def bootstrap(self, listener: str = "PLAINTEXT") -> str:
        return ",".join(b["listeners"][listener] for b in self.brokers)

    def connections(self) -> list[dict[str, Any]]:
        return [
            row
            for broker in self.brokers
            for row in json.loads(get(f"{broker['http']}/connections"))["connections"]
        ]

    def metrics(self) -> str:
        return "".join(get(f"{broker['http']}/metrics") for broker in self.brokers)

    def request_log(self) -> str:
        logs = (Path(broker["request_log"]) for broker in self.brokers)
        return "".join(log.read_text(encoding="utf-8") for log in logs if log.exists())

    def pid_of(self, broker_id: int) -> int:
        """Current process id of a node, 0 while it is down."""
        pids = [
            pid for pid, line in child_processes(self.process.pid) if f"node-{broker_id}" in line
        ]
        return pids[0] if pids else 0


def get(url: str) -> str:
    with urlopen(url, timeout=PATIENCE) as response:
        return str(response.read().decode())


@contextmanager
def running_cluster(*arguments: str) -> Iterator[RunningCluster]:
    """A cluster that is ready; stopped, or killed, at the end of the block."""
    process = subprocess.Popen(
        [*ROLLCALL, "cluster", "start", "--json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = _first_line(process)
        if not line:
            raise AssertionError(f"the cluster did not start: {process.communicate()[1]}")
        yield RunningCluster(process, json.loads(line))
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=2 * PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def _first_line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: lines.put(process.stdout.readline()), daemon=True).start()
    try:
        return lines.get(timeout=START_SECONDS)
    except queue.Empty:
        return ""


def child_processes(parent: int) -> list[tuple[int, str]]:
    """Process ids and command lines of the children of a process."""
    children = []
    for directory in Path("/proc").iterdir():
        if not directory.name.isdigit():
            continue
        try:
            stat = (directory / "stat").read_text(encoding="utf-8")
            command = (directory / "cmdline").read_text(encoding="utf-8").replace("\0", " ")
        except OSError:
            continue
        state, parent_id = stat.rpartition(")")[2].split()[:2]
        if int(parent_id) == parent and state != "Z":
            children.append((int(directory.name), command))
    return sorted(children)


def is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def eventually(condition: Callable[[], T], seconds: float = PATIENCE) -> T:
    """Wait until the condition is true and return its value."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"still {value!r} after {seconds} s"
        time.sleep(0.02)
    return value


async def wait_until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait until another task of this loop makes the condition true."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.01)


async def send_request(
    address: Address, api_key: int, version: int | None = None, **fields: Any
) -> Message:
    """Send a request on a new connection, by default in the highest common version."""
    connection = await connect_client(address)
    try:
        chosen = connection.version_for(api_key) if version is None else version
        return await connection.request(api_key, chosen, **fields)
    finally:
        await connection.close()


async def connect_client(address: Address, **settings: Any) -> BrokerConnection:
    """A connection with generous timeouts."""
    config = replace(PATIENT, **{"client_id": "test", **settings})
    context = config.tls.context() if config.tls else None
    return await open_connection(address, config, context)
