"""One folder with one cluster and one small set of tables, for all that the documentation shows."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.broker.running import ROLLCALL, RunningCluster, running_cluster

FIRST_PORTS = {"PLAINTEXT": 19092, "KIP": 19192, "http": 19292}
"""Of the cluster in the documentation: node 2 has the next of each."""

MAKING = (
    "rollcall generate-logs --output logs --lines 20k --form J",
    "rollcall pipeline run logs --tables tables --cluster prod",
)
"""What makes the tables; all that is shown of tables rests on them."""

SECONDS = 240


class Workspace:
    def __init__(self, folder: Path, cluster: RunningCluster) -> None:
        self.folder = folder
        self._printed: dict[str, str] = {}
        self._addresses = dict(_addresses(cluster))
        self._environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE")
        }
        scripts = Path(sys.executable).parent  # where `rollcall` is installed
        self._environment["PATH"] = f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}"
        self._environment["ROLLCALL_CACHE"] = ""

    def run(self, command: str) -> str:
        """What a command prints; each is run once."""
        if "--tables" in command and command not in MAKING:
            for making in MAKING:
                self.run(making)
        if command not in self._printed:
            words = shlex.split(_replaced(command, self._addresses))
            assert words[0] == "rollcall", f"only rollcall is run, not {command!r}"
            self._printed[command] = self._call([*ROLLCALL, *words[1:]])
        return self._printed[command]

    def python(self, source: str) -> str:
        if "tables" in source:
            self.run(MAKING[-1])
        return self._call([sys.executable, "-c", _replaced(source, self._addresses)], check=True)

    def _call(self, words: list[str], check: bool = False) -> str:
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert not check or done.returncode == 0, done.stderr
        real = {address: shown for shown, address in self._addresses.items()}
        errors = done.stderr if "error: " in done.stderr else ""  # else it is progress
        return _replaced(done.stdout + errors, real)


def _addresses(cluster: RunningCluster) -> Iterator[tuple[str, str]]:
    """As shown, and as it is."""
    for broker in cluster.brokers:
        for name, first in FIRST_PORTS.items():
            real = broker["listeners"].get(name) or broker[name].removeprefix("http://")
            yield f"127.0.0.1:{first + broker['id'] - 1}", real


def _replaced(text: str, replacements: Mapping[str, str]) -> str:
    form = "|".join(rf"{re.escape(each)}\b" for each in replacements)
    return re.sub(form, lambda found: replacements[found[0]], text)


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("docs")
    with running_cluster("--data-dir", str(folder / "cluster")) as cluster:
        yield Workspace(folder, cluster)
