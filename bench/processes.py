"""Server processes under measurement: a rollcall node and an Apache Kafka broker."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.kafka.brokers import Machine
from tests.kafka.jars import Release

KAFKA = Release("4.3.0")
CLUSTER = """
[request_log]
level = "INFO"
"""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Subject:
    """A server process under measurement."""

    name: str
    pid: int
    port: int

    def cpu_seconds(self) -> float:
        fields = (
            Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        )
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def resident_bytes(self) -> int:
        pages = Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def rollcall_node() -> Iterator[Subject]:
    """One node of the embedded cluster, with the request log at INFO like Kafka."""
    with TemporaryDirectory() as directory:
        config = Path(directory, "cluster.toml")
        config.write_text(CLUSTER, encoding="utf-8")
        rollcall = str(Path(sys.executable).with_name("rollcall"))
        command = [rollcall, "cluster", "start", "--brokers", "1", "--json"]
        with subprocess.Popen(
            [*command, "--config", str(config), "--data-dir", str(Path(directory, "data"))],
            stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        ) as process:
            assert process.stdout is not None
            try:
                [broker] = json.loads(process.stdout.readline())["brokers"]
                port = int(broker["listeners"]["PLAINTEXT"].rpartition(":")[2])
                yield Subject("rollcall", broker["pid"], port)
            finally:
                process.terminate()
                process.wait(timeout=30)


class WarmMachine(Machine):
    """Kafka brokers with the full JIT compiler and a larger heap than in the tests."""

    def java(self, release: Release) -> list[str]:
        words = [word for word in super().java(release) if word != "-XX:TieredStopAtLevel=1"]
        return ["-Xmx1g" if word.startswith("-Xmx") else word for word in words]


@contextmanager
def kafka_broker() -> Iterator[Subject]:
    with TemporaryDirectory() as directory:
        machine = WarmMachine(Path(directory))
        try:
            process, _ = machine.kraft_node(
                KAFKA,
                1,
                more={"max.connections.per.ip": 20_000, "connections.max.idle.ms": 3_600_000},
            )
            process.wait_until_listening()
            yield Subject(f"Apache Kafka {KAFKA.version}", process.child.pid, process.port)
        finally:
            machine.stop()
