"""Java as a process."""

import subprocess
import sys
from pathlib import Path

import pytest

from rollcall.pipeline.spark.jvm import java_version

FORGET_AFTER_THE_END = """
import gc, time
from rollcall.pipeline.spark.jvm import stop_jvm
from rollcall.pipeline.spark.session import open_session
from rollcall.pipeline.spark.config import SessionConfig

with open_session(SessionConfig(master="local[1]", small=True)) as spark:
    held = [spark._jvm.java.util.ArrayList() for _ in range(10)]
    client = spark._jvm._gateway_client
stop_jvm()
client.send_command = print
held.clear()
gc.collect()
patience = time.monotonic() + 30
while client.finalizer_deque and time.monotonic() < patience:
    time.sleep(0.1)
"""


@pytest.mark.parametrize(
    ("told", "version"),
    [('openjdk version "17.0.15" 2025-04-15', 17), ('java version "1.8.0_292"', 8), ("hm", None)],
)
def test_the_version_of_java_is_read(tmp_path: Path, told: str, version: int | None) -> None:
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\necho '{told}' >&2\n")
    java.chmod(0o755)
    assert java_version(str(java)) == version


def test_no_java_is_no_version(tmp_path: Path) -> None:
    assert java_version(str(tmp_path / "java")) is None


def test_java_that_has_ended_is_told_nothing_more() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FORGET_AFTER_THE_END], capture_output=True, text=True, timeout=90
    )
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stderr
