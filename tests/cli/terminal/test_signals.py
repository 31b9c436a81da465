"""SIGINT and SIGTERM: quiet at every import and at exit, with cleanup while a command runs."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollcall.cli.exit_codes import INTERRUPTED, TERMINATED
from rollcall.cli.terminal.signals import caused_by_interrupt, interrupts_raise, stop_requested
from tests.pipeline.running import lines, put, requests

# Runs `python -m rollcall`. At every STEP-th import, and when Python exits, a fork of the process
# sends SIGINT to itself; the parent appends the exit code of the fork to the file CODES.
WITH_INTERRUPTS = """
import atexit, os, runpy, signal, sys, threading

def interrupt_fork(where):
    pid = os.fork()
    if pid == 0:
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not interrupter]
        os.kill(os.getpid(), signal.SIGINT)
        return
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with open(os.environ["CODES"], "a") as codes:
        print(where, code, file=codes)

class Interrupter:
    imports = 0

    def find_spec(self, name, path=None, target=None):
        is_installed = hasattr(sys.modules["__main__"], "exit_quietly")  # the handler
        if is_installed and threading.active_count() == 1:  # a fork copies only one thread
            self.imports += 1
            if self.imports % int(os.environ["STEP"]) == 0:
                interrupt_fork(name)

interrupter = Interrupter()
sys.meta_path.insert(0, interrupter)
atexit.register(interrupt_fork, "exit")
runpy.run_module("rollcall", run_name="__main__", alter_sys=True)
"""

BEFORE_THE_HANDLER = """
import runpy, sys

class Interrupter:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            raise KeyboardInterrupt

for name in ("signal", "rollcall.cli.exit_codes"):
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Interrupter())
runpy.run_module("rollcall", run_name="__main__", alter_sys=True)
"""


def interrupted_codes(path: Path, step: int, *arguments: str) -> dict[str, int]:
    """Exit codes of the interrupted forks, by import. Checks that they printed nothing."""
    environment = {**os.environ, "CODES": str(path), "STEP": str(step)}
    result = subprocess.run(
        [sys.executable, "-c", WITH_INTERRUPTS, *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=environment,
        timeout=900,
    )
    assert "Traceback" not in result.stderr
    assert "Warning" not in result.stderr
    assert "ignored" not in result.stderr
    return {line.split()[0]: int(line.split()[1]) for line in path.read_text().splitlines()}


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "step", [pytest.param(12), pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"]
)
@pytest.mark.parametrize(
    "arguments",
    [
        ("brokers", "127.0.0.1:1"),
        ("connections", "127.0.0.1:1"),
        ("protocol", "list"),
        ("report", "clients", "--tables", "nowhere"),
        ("cluster", "start", "--brokers", "0"),
        ("pipeline", "run", "nowhere", "--tables", "tables"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_interrupt_at_an_import_or_at_exit_is_quiet_and_exit_code_130(
    arguments: tuple[str, ...], step: int, tmp_path: Path
) -> None:
    codes = interrupted_codes(tmp_path / "codes", step, *arguments)
    assert len(codes) > 100 // step
    assert "exit" in codes
    assert set(codes.values()) == {INTERRUPTED}


@pytest.mark.parametrize("module", ["signal", "rollcall.cli.exit_codes"])
def test_interrupt_before_the_handler_is_installed_is_quiet(module: str) -> None:
    command = [sys.executable, "-c", BEFORE_THE_HANDLER, module]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (result.returncode, result.stdout, result.stderr) == (INTERRUPTED, "", "")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_interrupt_at_any_time_is_quiet() -> None:
    """At delays from 0 to 1.5 s; before Python has installed its handler, the signal kills it."""
    for number in range(60):
        command = [sys.executable, "-m", "rollcall", "brokers", "127.0.0.1:1"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            time.sleep(number / 40)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        ours = "rollcall" in errors or "Traceback" not in errors  # not Python's own start-up
        assert process.returncode in (INTERRUPTED, -signal.SIGINT, 1)
        assert not (ours and "KeyboardInterrupt" in errors), errors


def test_interrupt_in_a_finalizer_is_raised_a_moment_later(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Interrupted:
        def __del__(self) -> None:
            raise KeyboardInterrupt

    def run() -> None:
        Interrupted()
        time.sleep(60)

    with interrupts_raise(), pytest.raises(KeyboardInterrupt):
        run()
    assert capsys.readouterr().err == ""


def test_error_raised_while_an_interrupt_is_handled_is_caused_by_it() -> None:
    error = RuntimeError("a call was cut short")
    error.__context__ = KeyboardInterrupt()
    assert caused_by_interrupt(error)
    assert not caused_by_interrupt(ValueError("a bug"))


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
            print("cleaned up", flush=True)
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
def test_command_cleans_up_and_exits_with_the_code_of_the_signal(
    ground: str, number: int, code: int
) -> None:
    command = [sys.executable, "-c", WAITING, ground]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        rest, _ = process.communicate(timeout=60)
    assert (process.returncode, rest) == (code, "cleaned up\n")


WITH_CHILD = """
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


def test_child_outlives_sigterm_until_the_command_has_cleaned_up(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WITH_CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        os.killpg(process.pid, signal.SIGTERM)
        output, _ = process.communicate("go on\n", timeout=60)
    assert output == "the child ended with 0\n"


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline, f"{path} was not created"
        time.sleep(0.01)


@pytest.mark.timeout(600)
@pytest.mark.slow
def test_terminated_first_run_leaves_no_files_and_can_be_repeated(tmp_path: Path) -> None:
    log = put(tmp_path / "a.log", lines(300))
    parent, tables = tmp_path / "new", tmp_path / "new" / "tables"
    program = [
        sys.executable,
        "-m",
        "rollcall",
        "pipeline",
        "run",
    ]
    command = [*program, str(log), "--tables", str(tables), "--master", "local[2]"]
    for moment in ("tables.json", "writers", "parts"):  # while Spark starts, runs and writes
        with subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, start_new_session=True
        ) as process:
            wait_for(tables / moment, process)
            os.killpg(process.pid, signal.SIGTERM)  # also to Java, as a service manager does
            _, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (TERMINATED, ""), moment
        assert not parent.exists(), moment
    subprocess.run(command, check=True, timeout=300, capture_output=True)
    assert requests(tables) == 300


@pytest.mark.timeout(600)
@pytest.mark.slow
def test_terminated_generate_logs_can_be_repeated_in_the_same_directory(tmp_path: Path) -> None:
    directory = tmp_path / "logs"
    program = [sys.executable, "-m", "rollcall", "generate-logs"]
    command = [*program, "--output", str(directory), "--master", "local[2]", "--lines"]
    with subprocess.Popen(
        [*command, "60k"], stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        wait_for(directory / ".unfinished", process)
        os.killpg(process.pid, signal.SIGTERM)
        _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (TERMINATED, "")
    assert not list(directory.glob("broker-*"))
    subprocess.run([*command, "1000"], check=True, timeout=300, capture_output=True)
    assert len(list(directory.glob("broker-*"))) == 12
    assert not (directory / ".unfinished").exists()


@pytest.fixture
def default_sigint_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("default_sigint_handler")
def test_first_ctrl_c_requests_a_stop_and_the_second_interrupts() -> None:
    notices: list[str] = []
    with stop_requested(lambda: notices.append("stopping")) as stop:
        assert not stop.is_set()
        signal.raise_signal(signal.SIGINT)
        assert (stop.is_set(), notices) == (True, ["stopping"])
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert notices == ["stopping"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
