"""`rollcall` as a process: outputs, exit codes, errors and interrupts."""

import os
import pty
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

FULL = Path("/dev/full")

# A program that adds a command and runs it.
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
        timeout=60,
        env={**os.environ, **environment},
    )


def rollcall(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run("-m", "rollcall", *arguments)


def act(body: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return run("-c", WITH.format(body=body), **environment)


def test_version_option_prints_the_version_of_the_package() -> None:
    result = rollcall("--version")
    assert (result.returncode, result.stdout) == (0, f"rollcall {version('rollcall')}\n")


@pytest.mark.parametrize("arguments", [["--no-such-option"], ["no-such-command"], []])
def test_wrong_usage_is_exit_code_2(arguments: list[str]) -> None:
    result = rollcall(*arguments)
    assert result.returncode == 2
    assert "Usage: rollcall" in result.stdout + result.stderr


def test_error_is_printed_with_its_hint_and_is_exit_code_1() -> None:
    result = act("raise RollcallError('the disk is full', hint='free some space')")
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == "error: the disk is full\nhint: free some space\n"


def test_config_error_is_exit_code_2() -> None:
    result = act("raise ConfigError('port is 99999', hint='use 1 to 65535')")
    assert result.returncode == 2
    assert result.stderr == "error: port is 99999\nhint: use 1 to 65535\n"


def test_output_before_an_error_is_kept() -> None:
    result = act("print('half'); raise RollcallError('no more')")
    assert (result.returncode, result.stdout, result.stderr) == (1, "half\n", "error: no more\n")


def test_bug_prints_a_traceback_without_local_variables() -> None:
    result = act("password = 'open' + 'sesame'; raise ValueError('a bug')")
    assert result.returncode == 1
    assert "ValueError: a bug" in result.stderr
    assert "opensesame" not in result.stderr


def test_ctrl_c_is_exit_code_130_without_traceback() -> None:
    source = WITH.format(body="print('ready', flush=True); time.sleep(30)")
    with subprocess.Popen(
        [sys.executable, "-c", source], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr) == (130, "")


@pytest.mark.parametrize("body", ["print('x')", "print('x' * 1_000_000)", "print('x', flush=True)"])
def test_broken_pipe_is_quiet(body: str) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as broken:
        result = subprocess.run(
            [sys.executable, "-c", WITH.format(body=body)],
            stdout=broken,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert (result.returncode, result.stderr) == (1, "")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("body", ["print('x')", "print('x' * 100_000)"])
def test_full_disk_is_an_error_in_one_line(body: str) -> None:
    with FULL.open("w") as full:
        result = subprocess.run(
            [sys.executable, "-c", WITH.format(body=body)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert result.returncode == 1
    assert result.stderr.splitlines()[0] == "error: No space left on device"
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_output_is_not_an_error(closed: str) -> None:
    command = f"{sys.executable} -m rollcall protocol list {closed}"
    result = subprocess.run(["sh", "-c", command], capture_output=True, check=False, timeout=60)
    assert (result.returncode, result.stderr) == (0, b"")


def test_character_that_the_encoding_lacks_is_escaped() -> None:
    result = act("print('caf\\u00e9 \\udc80')", PYTHONIOENCODING="ascii")
    assert (result.returncode, result.stdout) == (0, "caf\\xe9 \\udc80\n")


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_follow_the_terminal_and_no_color(
    environment: dict[str, str], coloured: bool
) -> None:
    ours, terminal = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", WITH.format(body="raise ConfigError('red')")],
        stderr=terminal,
        check=False,
        timeout=60,
        env={**os.environ, "TERM": "xterm", **environment},
    )
    os.close(terminal)
    shown = os.read(ours, 4096)
    os.close(ours)
    assert b"red" in shown
    assert (b"\x1b[" in shown) == coloured
