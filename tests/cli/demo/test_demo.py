"""The demo shows every step, leaves no process running, and can be interrupted at any point."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from rollcall.cli.demo.runner import MARKER, STOP_TIMEOUT, prepare_directory
from rollcall.errors import ConfigError
from tests.broker.running import ROLLCALL

RUN = (*ROLLCALL, "demo")
NO_CLIENTS = """
import sys
for name in ("kafka", "confluent_kafka", "aiokafka", "pyspark"):
    sys.modules[name] = None
"""


class Demo:
    """A running demo; all its processes carry a mark in their environment."""

    def __init__(self, directory: Path, *arguments: str, **environment: str) -> None:
        self.mark = uuid4().hex
        self.process = subprocess.Popen(
            [*RUN, "--output", str(directory), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env={**os.environ, **environment, "DEMO_MARK": self.mark},
        )
        self.text = ""

    def until(self, words: str) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.text += line
            if words in line:
                return
        pytest.fail(f"{words!r} never came:\n{self.text}")

    def end(self) -> int:
        assert self.process.stdout is not None
        self.text += self.process.stdout.read()
        return self.process.wait()

    def processes(self) -> list[str]:
        """Command lines of its processes that still run."""
        found = []
        for directory in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (directory / "environ").read_bytes():
                    found.append((directory / "cmdline").read_text().replace("\0", " "))
            except OSError:  # the process has ended, or belongs to another user
                continue
        return found

    def has_ended(self) -> bool:
        deadline = time.monotonic() + 60
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.1)
        return self.processes() == []


@contextmanager
def running(directory: Path, *arguments: str, **environment: str) -> Iterator[Demo]:
    demo = Demo(directory, *arguments, **environment)
    try:
        yield demo
    finally:
        demo.process.kill()
        demo.process.communicate()


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("moment", "pause"),
    [
        ("[1/", 0),
        ("$ rollcall brokers", 0),
        ("[2/", 0),
        ("kafka-python connected", 0),
        ("broker 2: waiting", 0),
        ("broker 2: restarted", 0),
        ("$ rollcall generate-logs", 2),  # Spark is starting
        ("$ rollcall generate-logs", 12),  # Spark is running
    ],
)
def test_ctrl_c_stops_all_processes_at_any_point(moment: str, pause: float, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with running(tmp_path / "demo", "--lines", "50k", TMPDIR=str(temporary)) as demo:
        demo.until(moment)
        time.sleep(pause)
        os.kill(demo.process.pid, signal.SIGINT)
        began = time.monotonic()
        assert demo.end() == 130
        assert time.monotonic() - began < 90
        assert demo.has_ended()
        assert "Traceback" not in demo.text
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_demo_shows_cluster_clients_restart_and_impact(tmp_path: Path) -> None:
    directory = tmp_path / "demo"
    with running(directory, "--lines", "1k") as demo:
        assert demo.end() == 0, demo.text
    for name in ("kafka-python", "confluent-kafka", "aiokafka", "rollcall"):
        assert f"{name} connected as User:" in demo.text
    assert "warning: the brokers do not all run the same software and version" in demo.text
    assert "broker 2: all other brokers report the new start time" in demo.text
    assert "1 of 3 brokers restarted" in demo.text
    assert re.search(r"of \d+ clients breaks? at 4\.0\.0", demo.text)
    assert "User:billing" in demo.text.partition("rollcall report clients")[2]
    assert (directory / "impact.html").stat().st_size > 10_000
    assert demo.has_ended()


@pytest.mark.timeout(120)
def test_demo_without_clients_and_spark_names_the_skipped_parts(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(NO_CLIENTS)
    with running(tmp_path / "demo", PYTHONPATH=str(site)) as demo:
        assert demo.end() == 0, demo.text
    for name in ("kafka-python", "confluent-kafka", "aiokafka"):
        assert f"{name} skipped: not installed (pip install {name})" in demo.text
    assert "rollcall connected as User:ops" in demo.text
    assert "broker 2: all other brokers report the new start time" in demo.text
    assert "The other steps need Spark: run pip install 'rollcall[pipeline]'" in demo.text
    assert demo.has_ended()


@pytest.mark.timeout(120)
def test_demo_without_java_names_the_skipped_parts(tmp_path: Path) -> None:
    with running(tmp_path / "demo", JAVA_HOME=str(tmp_path)) as demo:
        assert demo.end() == 0, demo.text
    assert "broker 2: all other brokers report the new start time" in demo.text
    assert demo.text.endswith(
        "The other steps need Java 17 or newer: install openjdk-17 or set JAVA_HOME.\n"
    )
    assert demo.has_ended()


@pytest.mark.timeout(120)
def test_clients_stop_where_sigint_is_ignored(tmp_path: Path) -> None:
    """As with `make demo &` in a script: child processes ignore SIGINT as well."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    with running(tmp_path / "demo", JAVA_HOME=str(tmp_path)) as demo:
        signal.signal(signal.SIGINT, before)
        demo.until("$ rollcall connections")
        began = time.monotonic()
        demo.until("[3/")
        assert time.monotonic() - began < STOP_TIMEOUT
        assert demo.end() == 0


def test_directory_with_other_files_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(ConfigError, match="was not created by a demo"):
        prepare_directory(tmp_path)
    assert (tmp_path / "thesis.tex").exists()


def test_directory_of_an_earlier_demo_is_emptied_except_for_the_cache(tmp_path: Path) -> None:
    prepare_directory(tmp_path / "demo")
    for name in ("tables", "cache"):
        (tmp_path / "demo" / name).mkdir()
    prepare_directory(tmp_path / "demo")
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == [MARKER, "cache"]
