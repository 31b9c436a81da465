"""Sessions that are opened and closed, each in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

from rollcall.pipeline.spark.session import gist

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

TWO_IN_TURN = """
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

STOPPED_IN_THE_FIRST = """
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


def test_sessions_in_turn_leave_no_scratch_folder(tmp_path: Path) -> None:
    assert left_by(TWO_IN_TURN, tmp_path) == "[]\n"


def test_a_first_session_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    """Java would leave an archive of its classes, which takes a while."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    assert left_by(STOPPED_IN_THE_FIRST, temporary, str(tmp_path / "cache")) == "[]\n"


def left_by(code: str, temporary: Path, *arguments: str) -> str:
    environment = {**os.environ, "TMPDIR": str(temporary)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=90, check=True, env=environment
    ).stdout


def test_a_setting_that_spark_does_not_understand_is_told_when_it_starts() -> None:
    code = [sys.executable, "-c", BAD_SETTING]
    told = subprocess.run(code, capture_output=True, text=True, timeout=90, check=True).stdout
    assert told.startswith("SparkError Spark did not start with master local[1]: ")
    assert "'few'" in told
    assert "check --master and --conf" in told


def test_what_java_says_is_told_by_the_line_that_says_why(tmp_path: Path) -> None:
    log = tmp_path / "java.log"
    log.write_text(
        "WARN Client: Failed to connect to master nowhere:7077\n"
        "org.apache.spark.SparkException: Exception thrown in awaitResult: \n"
        "\tat org.apache.spark.util.ThreadUtils\n"
        "Caused by: java.io.IOException: Failed to connect to nowhere:7077\n"
    )
    assert gist(RuntimeError("stopped"), log) == (
        "Caused by: java.io.IOException: Failed to connect to nowhere:7077"
    )
    log.write_text("WARN nothing of note\n")
    assert gist(RuntimeError("stopped"), log) == "stopped"
