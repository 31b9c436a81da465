"""The command as a shell sees it: what it prints where, and its exit code."""

import os
import pty
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

FULL = Path("/dev/full")

# A program that puts one more command beside the real ones, and runs.
WITH = """
import sys, time
from rollcall.cli.app import app, main
from rollcall.errors import ConfigError, RollcallError

@app.command()
def act() -> None:
    {body}

sys.argv = ["rollcall", "act"]
main()
"""


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
        env={**os.environ, **environment},
    )


def rollcall(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run("-c", "from rollcall.cli import main; main()", *arguments)


def act(body: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run("-c", WITH.format(body=body), **environment)


def test_the_version_is_that_of_the_package() -> None:
    result = rollcall("--version")
    assert (result.returncode, result.stdout) == (0, f"rollcall {version('rollcall')}\n")


@pytest.mark.parametrize("arguments", [["--no-such-option"], ["no-such-command"], []])
def test_a_wrong_call_is_exit_code_2(arguments: list[str]) -> None:
    result = rollcall(*arguments)
    assert result.returncode == 2
    assert "Usage: rollcall" in result.stdout + result.stderr


def test_an_error_is_told_with_its_hint_and_is_exit_code_1() -> None:
    result = act("raise RollcallError('the disk is full', hint='make room')")
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == "error: the disk is full\nhint: make room\n"


def test_a_setting_that_cannot_be_used_is_exit_code_2() -> None:
    result = act("raise ConfigError('port is 99999', hint='use 1 to 65535')")
    assert result.returncode == 2
    assert result.stderr == "error: port is 99999\nhint: use 1 to 65535\n"


def test_what_was_printed_before_an_error_is_not_lost() -> None:
    result = act("print('half'); raise RollcallError('no more')")
    assert (result.returncode, result.stdout, result.stderr) == (1, "half\n", "error: no more\n")


def test_a_fault_of_ours_is_a_traceback_without_local_variables() -> None:
    result = act("password = 'open' + 'sesame'; raise ValueError('a bug')")
    assert result.returncode == 1
    assert "ValueError: a bug" in result.stderr
    assert "opensesame" not in result.stderr


def test_ctrl_c_is_exit_code_130_and_no_traceback() -> None:
    source = WITH.format(body="print('ready', flush=True); time.sleep(30)")
    with subprocess.Popen(
        [sys.executable, "-c", source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr) == (130, "")


def test_ctrl_c_while_it_is_still_being_loaded_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    result = subprocess.run(
        [sys.executable, "-m", "rollcall"],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
        env=environment,
    )
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


@pytest.mark.parametrize("body", ["print('x')", "print('x' * 1_000_000)", "print('x', flush=True)"])
def test_a_reader_that_goes_away_ends_it_quietly(body: str) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as broken:
        result = subprocess.run(
            [sys.executable, "-c", WITH.format(body=body)],
            stdout=broken,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=30,
        )
    assert (result.returncode, result.stderr) == (1, "")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("body", ["print('x')", "print('x' * 100_000)"])
def test_a_disk_that_is_full_is_told_in_a_line(body: str) -> None:
    with FULL.open("w") as full:
        result = subprocess.run(
            [sys.executable, "-c", WITH.format(body=body)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=30,
        )
    assert result.returncode == 1
    assert result.stderr.splitlines()[0] == "error: No space left on device"
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_an_output_that_is_closed_is_no_fault(closed: str) -> None:
    command = f"{sys.executable} -m rollcall protocol list {closed}"
    result = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=60)
    assert (result.returncode, result.stderr) == (0, b"")


def test_a_character_that_the_encoding_lacks_is_escaped() -> None:
    result = act("print('caf\\u00e9 \\udc80')", PYTHONIOENCODING="ascii")
    assert (result.returncode, result.stdout) == (0, "caf\\xe9 \\udc80\n")


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_for_a_terminal_that_wants_them(
    environment: dict[str, str], coloured: bool
) -> None:
    ours, terminal = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", WITH.format(body="raise ConfigError('red')")],
        stderr=terminal,
        check=False,
        timeout=30,
        env={**os.environ, "TERM": "xterm", **environment},
    )
    os.close(terminal)
    shown = os.read(ours, 4096)
    os.close(ours)
    assert b"red" in shown
    assert (b"\x1b[" in shown) == coloured
