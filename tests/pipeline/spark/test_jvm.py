"""The JVM process."""

import subprocess
import sys
from pathlib import Path

import pytest

from rollcall.pipeline.spark.jvm import java_version

RELEASE_OBJECTS_AFTER_STOP = """
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
deadline = time.monotonic() + 60
while client.finalizer_deque and time.monotonic() < deadline:
    time.sleep(0.1)
"""


@pytest.mark.parametrize(
    ("output", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_292"', 8),
        ("unknown", None),
    ],
)
def test_java_version_is_parsed(tmp_path: Path, output: str, version: int | None) -> None:
    java = tmp_path / "java"
    java.write_text(f"#!/bin/sh\necho '{output}' >&2\n")
    java.chmod(0o755)
    assert java_version(str(java)) == version


def test_java_version_without_java_is_none(tmp_path: Path) -> None:
    assert java_version(str(tmp_path / "java")) is None


def test_py4j_sends_nothing_to_a_stopped_jvm() -> None:
    result = subprocess.run(
        [sys.executable, "-c", RELEASE_OBJECTS_AFTER_STOP],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
