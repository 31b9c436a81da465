"""A workspace for the documented commands: one embedded cluster and one small set of tables."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import pytest

from rollcall.catalog import listed_ranges
from tests.broker.running import ROLLCALL, RunningCluster, running_cluster

FIRST_PORTS = {"PLAINTEXT": 19092, "KIP": 19192, "http": 19292}
"""Ports of node 1 in the documentation; node 2 has the next of each."""

MAKING = (
    "rollcall generate-logs --output logs --lines 20k --format J",
    "rollcall pipeline run logs --tables tables --cluster prod",
)
"""The commands that create the tables for all others."""

STAND_INS = {
    "broker1:9092": f"127.0.0.1:{FIRST_PORTS['PLAINTEXT']}",
    "/var/log/kafka": "logs",
    "s3a://logs/kafka": "logs",
    "s3a://inventory/tables": "tables",
    "--tables prod": "--tables tables",
    "spark://spark1:7077": "local[2]",
    "--output logs --lines 1M": "--output fewer-logs --lines 1k",
}
"""Replacements for names in the documentation."""

OWNERS = "principal,client_id,owner\nUser:svc-legacy,*,legacy\n"
RESPONSE = json.dumps({key: list(pair) for key, pair in listed_ranges("3.9").items()})
"""Files that the documented commands read."""

SECONDS = 240


@dataclass(frozen=True)
class Done:
    printed: str
    code: int


class Workspace:
    def __init__(self, directory: Path, cluster: RunningCluster) -> None:
        self.directory = directory
        self.cluster = cluster
        (directory / "owners.csv").write_text(OWNERS)
        (directory / "response.json").write_text(RESPONSE)
        self._done: dict[str, Done] = {}
        self._addresses = dict(_addresses(cluster))
        self._environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE")
        }
        scripts = Path(sys.executable).parent  # the directory of the `rollcall` script
        self._environment["PATH"] = f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}"

    def run(self, command: str) -> Done:
        """Output and exit code of a command; each command runs once."""
        for shown, real in STAND_INS.items():
            command = command.replace(shown, real)
        if "--tables" in command:
            for making in takewhile(lambda making: making != command, MAKING):
                self.run(making)
        if "rolls.jsonl --tables" in command:
            self.run("rollcall brokers broker1:9092 --output rolls.jsonl")
        if command not in self._done:
            self._done[command] = self._call(self.words(command))
        return self._done[command]

    def words(self, command: str) -> list[str]:
        words = shlex.split(_replaced(command, self._addresses))
        assert words[0] == "rollcall", f"not a rollcall command: {command!r}"
        return [*ROLLCALL, *words[1:]]

    def python(self, source: str) -> str:
        if "tables" in source:
            self.run(MAKING[-1])
        done = self._call([sys.executable, "-c", _replaced(source, self._addresses)])
        assert done.code == 0, done.printed
        return done.printed

    def shown(self, text: str) -> str:
        """Printed text with the addresses of the documentation."""
        return _replaced(text, {real: shown for shown, real in self._addresses.items()})

    def _call(self, words: list[str]) -> Done:
        done = subprocess.run(
            words,
            cwd=self.directory,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        failed = "error: " in done.stderr.lower()  # otherwise stderr is progress
        return Done(self.shown(done.stdout + (done.stderr if failed else "")), done.returncode)


def _addresses(cluster: RunningCluster) -> Iterator[tuple[str, str]]:
    """Pairs of documented and real address."""
    for broker in cluster.brokers:
        for name, first in FIRST_PORTS.items():
            real = broker["listeners"].get(name) or broker[name].removeprefix("http://")
            yield f"127.0.0.1:{first + broker['id'] - 1}", real


def _replaced(text: str, replacements: Mapping[str, str]) -> str:
    form = "|".join(rf"{re.escape(each)}\b" for each in replacements)
    return re.sub(form, lambda found: replacements[found[0]], text)


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    directory = tmp_path_factory.mktemp("docs")
    with running_cluster("--data-dir", str(directory / "cluster")) as cluster:
        yield Workspace(directory, cluster)
