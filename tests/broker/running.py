"""A cluster that runs as its users run it, and ways to look at it from outside."""

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.request import urlopen

from rollcall.client import Address, ClientConfig, Connection, open_connection
from rollcall.protocol.messages import Message

ROLLCALL = (sys.executable, "-m", "rollcall")
START_SECONDS = 30.0
PATIENCE = 30.0

T = TypeVar("T")


@dataclass
class RunningCluster:
    """`rollcall cluster start --json`, and what it printed."""

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
        """The process of a node now: it changes when the node is restarted."""
        found = [
            pid for pid, line in child_processes(self.process.pid) if f"node-{broker_id}" in line
        ]
        return found[0] if found else 0


def get(url: str) -> str:
    with urlopen(url, timeout=PATIENCE) as answer:
        return str(answer.read().decode())


@contextmanager
def running_cluster(*arguments: str) -> Iterator[RunningCluster]:
    """A cluster that is ready; ended, by force if it must be, when the block is left."""
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
    """The ids and command lines of the processes that this one started."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            stat = (folder / "stat").read_text(encoding="utf-8")
            command = (folder / "cmdline").read_text(encoding="utf-8").replace("\0", " ")
        except OSError:
            continue
        state, parent_id = stat.rpartition(")")[2].split()[:2]
        if int(parent_id) == parent and state != "Z":
            found.append((int(folder.name), command))
    return sorted(found)


def is_alive(pid: int) -> bool:
    """Whether it runs; one that has ended and is only waited for by nobody does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def eventually(condition: Callable[[], T], seconds: float = PATIENCE) -> T:
    """What the condition gives once it is true; an error if that takes too long."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"still {value!r} after {seconds} s"
        time.sleep(0.02)
    return value


async def until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """The same for what another task on this loop is about to do."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - there is no event to wait for
            await asyncio.sleep(0.01)


async def ask(address: Address, api_key: int, version: int | None = None, **fields: Any) -> Message:
    """One question on a connection of its own, in the highest version if none is given."""
    connection = await open_connection(
        address, ClientConfig(client_id="test", request_timeout=PATIENCE)
    )
    try:
        chosen = connection.version_for(api_key) if version is None else version
        return await connection.request(api_key, chosen, **fields)
    finally:
        await connection.close()


async def connect_client(address: Address, **settings: Any) -> Connection:
    return await open_connection(address, ClientConfig(client_id="test", **settings))
