"""Stopped by SIGTERM, a command leaves everything in order, and ends with a code of its own."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollcall.cli.terminal.signals import stop_requested
from tests.pipeline.running import lines, put, requests

TERMINATED = 143
INTERRUPTED = 130

WAITING = """
import signal, sys, time
from rollcall.cli.terminal.signals import terminable
if sys.argv[1] == "background":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
import typer
app = typer.Typer()
@app.command()
def wait(_: str) -> None:
    with terminable():
        try:
            print("ready", flush=True)
            time.sleep(60)
        except BaseException:
            print("left in order", flush=True)
            raise RuntimeError("a call was cut short")
from rollcall.cli import app as commands
commands.app = app
commands.main()
"""


@pytest.mark.parametrize(
    ("ground", "number", "code"),
    [
        ("foreground", signal.SIGTERM, TERMINATED),
        ("background", signal.SIGTERM, TERMINATED),
        ("foreground", signal.SIGINT, INTERRUPTED),
    ],
)
def test_a_command_ends_in_order_with_the_code_of_the_signal(
    ground: str, number: int, code: int
) -> None:
    command = [sys.executable, "-c", WAITING, ground]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        rest, _ = process.communicate(timeout=30)
    assert (process.returncode, rest) == (code, "left in order\n")


WITH_A_CHILD = """
import signal, subprocess, sys, time
from rollcall.cli.terminal.signals import children_ignore_sigterm, terminable
try:
    with terminable():
        with children_ignore_sigterm():
            child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
            print("started", flush=True)
            sys.stdin.readline()
        time.sleep(60)
finally:
    assert child.poll() is None
    child.stdin.close()
    print("the child ended with", child.wait(10), flush=True)
"""


def test_what_was_started_ends_with_the_command_and_not_before(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WITH_A_CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        os.killpg(process.pid, signal.SIGTERM)
        told, _ = process.communicate("go on\n", timeout=30)
    assert told == "the child ended with 0\n"


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, f"{path} never came"
        time.sleep(0.01)


@pytest.mark.timeout(600)
def test_a_first_run_that_is_stopped_leaves_nothing_and_the_next_one_works(tmp_path: Path) -> None:
    log = put(tmp_path / "a.log", lines(300))
    above, tables = tmp_path / "new", tmp_path / "new" / "tables"
    program = [
        sys.executable,
        "-m",
        "rollcall",
        "pipeline",
        "run",
    ]
    command = [*program, str(log), "--tables", str(tables), "--master", "local[2]"]
    for moment in ("tables.json", "writers", "parts"):  # Spark starts, is there, writes
        with subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            wait_for(tables / moment, process)
            os.killpg(process.pid, signal.SIGTERM)  # Java, too, as a service manager does
            _, told = process.communicate(timeout=120)
        assert (process.returncode, told) == (TERMINATED, ""), moment
        assert not above.exists(), moment
    subprocess.run(command, check=True, timeout=300, capture_output=True)
    assert requests(tables) == 300


@pytest.mark.timeout(600)
def test_logs_whose_making_was_stopped_are_made_anew_in_the_same_folder(tmp_path: Path) -> None:
    made = tmp_path / "logs"
    program = [sys.executable, "-m", "rollcall", "generate-logs"]
    command = [*program, "--output", str(made), "--master", "local[2]", "--lines"]
    with subprocess.Popen(
        [*command, "60k"], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        wait_for(made / ".unfinished", process)
        os.killpg(process.pid, signal.SIGTERM)
        _, told = process.communicate(timeout=120)
    assert (process.returncode, told) == (TERMINATED, "")
    assert not list(made.glob("broker-*"))
    subprocess.run([*command, "1000"], check=True, timeout=300, capture_output=True)
    assert len(list(made.glob("broker-*"))) == 12
    assert not (made / ".unfinished").exists()


@pytest.fixture
def ctrl_c_interrupts() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_interrupts")
def test_the_first_ctrl_c_ends_a_stream_after_its_batch_and_the_second_at_once() -> None:
    told: list[str] = []
    with stop_requested(lambda: told.append("ending")) as stop:
        assert not stop.is_set()
        signal.raise_signal(signal.SIGINT)
        assert (stop.is_set(), told) == (True, ["ending"])
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert told == ["ending"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
