"""Sessions opened and closed in separate processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rollcall.pipeline.spark.session import first_error

BAD_SETTING = """
from rollcall.pipeline.spark.session import open_session
from rollcall.pipeline.spark.config import SessionConfig

config = SessionConfig(master="local[1]", small=True, conf={"spark.sql.shuffle.partitions": "few"})
try:
    with open_session(config):
        print("started")
except Exception as error:
    print(type(error).__name__, error, error.hint)
"""

TWO_SESSIONS = """
import os, tempfile
from rollcall.pipeline.spark.jvm import stop_jvm
from rollcall.pipeline.spark.session import open_session
from rollcall.pipeline.spark.config import SessionConfig

for _ in range(2):
    with open_session(SessionConfig(master="local[1]", small=True)) as spark:
        spark.range(2).count()
stop_jvm()
print(os.listdir(tempfile.gettempdir()))
"""

INTERRUPTED_FIRST_SESSION = """
import os, sys, tempfile
from pathlib import Path
from rollcall.pipeline.spark.session import open_session
from rollcall.pipeline.spark.config import SessionConfig

cache = Path(sys.argv[1])
try:
    with open_session(SessionConfig(master="local[1]", small=True, cache=cache)) as spark:
        raise KeyboardInterrupt
except KeyboardInterrupt:
    print(os.listdir(tempfile.gettempdir()) + os.listdir(cache))
"""


def test_two_sessions_leave_no_temporary_files(tmp_path: Path) -> None:
    assert output_of(TWO_SESSIONS, tmp_path) == "[]\n"


@pytest.mark.slow
def test_interrupted_first_session_leaves_no_files(tmp_path: Path) -> None:
    """The JVM must not write its class archive, which takes a while."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    assert output_of(INTERRUPTED_FIRST_SESSION, temporary, str(tmp_path / "cache")) == "[]\n"


def output_of(code: str, temporary: Path, *arguments: str) -> str:
    environment = {**os.environ, "TMPDIR": str(temporary)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=True, env=environment
    ).stdout


def test_invalid_setting_is_reported_when_the_session_starts() -> None:
    code = [sys.executable, "-c", BAD_SETTING]
    output = subprocess.run(code, capture_output=True, text=True, timeout=300, check=True).stdout
    assert output.startswith("SparkError Spark did not start with master local[1]: ")
    assert "'few'" in output
    assert "check --master and --conf" in output


def test_first_error_of_the_jvm_log_is_reported(tmp_path: Path) -> None:
    log = tmp_path / "java.log"
    log.write_text(
        "WARN Client: Failed to connect to master nowhere:7077\n"
        "org.apache.spark.SparkException: Exception thrown in awaitResult: \n"
        "\tat org.apache.spark.util.ThreadUtils\n"
        "Caused by: java.io.IOException: Failed to connect to nowhere:7077\n"
    )
    assert first_error(RuntimeError("stopped"), log) == (
        "Caused by: java.io.IOException: Failed to connect to nowhere:7077"
    )
    log.write_text("WARN nothing of note\n")
    assert first_error(RuntimeError("stopped"), log) == "stopped"
