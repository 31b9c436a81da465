"""`rollcall cluster start`: its lines, its live table and its errors."""

import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.broker.running import ROLLCALL

START = (*ROLLCALL, "cluster", "start")
SEES_BOTH = r"1 +up +\d+ +2 of 2 +127.0.0.1:\d+ +127.0.0.1:\d+"


def refused(*arguments: str, code: int = 1) -> str:
    """Standard error of a call that fails."""
    result = subprocess.run(
        [*START, *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert (result.returncode, result.stdout) == (code, "")
    return result.stderr


def test_output_without_a_terminal_has_a_line_per_state_change() -> None:
    process = subprocess.Popen(
        [*START, "--brokers", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(5)]
        pid = next(int(found[1]) for line in lines if (found := re.search(r"pid (\d+)", line)))
        os.kill(pid, signal.SIGKILL)
        after = [process.stdout.readline() for _ in range(2)]
    finally:
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert errors == ""
    assert [line for line in lines if "starting" in line] == [
        "node 1: starting\n",
        "node 2: starting\n",
    ]
    assert "PLAINTEXT 127.0.0.1:" in lines[2]
    assert "bootstrap servers 127.0.0.1:" in lines[-1]
    assert "down (signal 9)" in after[0]
    assert "up, pid" in after[1]
    assert "node 1: stopped" in rest
    assert "node 2: stopped" in rest


@pytest.mark.timeout(150)
def test_terminal_shows_a_table_of_the_nodes() -> None:
    shown = on_a_terminal("xterm", until=is_ready)
    assert is_ready(shown)
    assert shown.rindex("cluster stopped") > shown.rindex("is ready, bootstrap servers")


@pytest.mark.timeout(150)
def test_dumb_terminal_shows_lines() -> None:
    shown = on_a_terminal("dumb", until=lambda text: "bootstrap servers" in text)
    assert re.search(r"node 1: up, pid \d+, PLAINTEXT 127.0.0.1:", shown)
    assert "node 2: stopped" in shown


def on_a_terminal(term: str, until: Callable[[str], bool]) -> str:
    """Output of a cluster on a pseudo terminal; it is stopped when `until` holds."""
    ours, terminal = pty.openpty()
    with subprocess.Popen(
        [*START, "--brokers", "2"],
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "TERM": term, "COLUMNS": "200", "LINES": "50"},
    ) as process:
        os.close(terminal)
        shown = b""
        deadline = time.monotonic() + 60
        while not until(plain(shown)) and time.monotonic() < deadline:
            if select.select([ours], [], [], 1)[0]:
                shown += os.read(ours, 65536)
        process.terminate()
        while time.monotonic() < deadline + 30:
            if select.select([ours], [], [], 1)[0]:
                try:
                    shown += os.read(ours, 65536)
                except OSError:  # the process has closed the terminal
                    break
        else:
            process.kill()
        os.close(ours)
    assert process.returncode == 0
    return plain(shown)


def is_ready(text: str) -> bool:
    return "bootstrap servers" in text and re.search(SEES_BOTH, text) is not None


def plain(shown: bytes) -> str:
    return re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", shown).decode(errors="replace")


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["--brokers", "0"], "error: brokers is 0\nhint: use 1 to 100\n", 2),
        (["--host", "203.0.113.9"], "error: cannot listen on 203.0.113.9", 2),
        (["--base-port", "70000"], "error: the port of PLAINTEXT of node 1 would be 70000", 2),
        (["--config", "no.toml"], "error: the configuration file no.toml cannot be read", 2),
        (["--data-dir", "/dev/null/x"], "error: the data directory /dev/null/x cannot be used", 1),
    ],
)
def test_error_of_a_failed_start_has_a_hint(arguments: list[str], message: str, code: int) -> None:
    error = refused(*arguments, code=code)
    assert error.startswith(message)
    assert "\nhint: " in error


def test_invalid_certificate_is_reported_by_the_node(tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("not a certificate", encoding="utf-8")
    config = tmp_path / "cluster.toml"
    config.write_text(
        "[listeners.TLS]\nsecurity_protocol = 'SSL'\n"
        "tls.certificate = 'bad.pem'\ntls.key = 'bad.pem'\n",
        encoding="utf-8",
    )
    error = refused("--json", "--brokers", "1", "--config", str(config))
    assert "error: node 1: cannot load the TLS certificate" in error
    assert "hint: use PEM files" in error
