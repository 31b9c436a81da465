"""The settings of a session, and how Java ends."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from tempfile import gettempdir

import pytest

from rollcall.pipeline.session import (
    QUICK_START,
    SessionConfig,
    forget_unused,
    gist,
    java_version,
    with_cache,
)

FORGET_AFTER_THE_END = """
import gc, time
from rollcall.pipeline.session import SessionConfig, end_java, open_session

with open_session(SessionConfig(master="local[1]", small=True)) as spark:
    held = [spark._jvm.java.util.ArrayList() for _ in range(10)]
    client = spark._jvm._gateway_client
end_java()
client.send_command = print
held.clear()
gc.collect()
patience = time.monotonic() + 30
while client.finalizer_deque and time.monotonic() < patience:
    time.sleep(0.1)
"""

BAD_SETTING = """
from rollcall.pipeline.session import SessionConfig, open_session

config = SessionConfig(master="local[1]", small=True, conf={"spark.sql.shuffle.partitions": "few"})
try:
    with open_session(config):
        print("started")
except Exception as error:
    print(type(error).__name__, error, error.hint)
"""


TWO_IN_TURN = """
import os, tempfile
from rollcall.pipeline.session import SessionConfig, end_java, open_session

for _ in range(2):
    with open_session(SessionConfig(master="local[1]", small=True)) as spark:
        spark.range(2).count()
end_java()
print(os.listdir(tempfile.gettempdir()))
"""


def java_flags(config: SessionConfig) -> str:
    return config.settings()["spark.driver.extraJavaOptions"]


def test_times_are_utc_whatever_the_machine_says() -> None:
    assert SessionConfig().settings()["spark.sql.session.timeZone"] == "UTC"


@pytest.mark.parametrize(
    ("master", "local"),
    [("local", True), ("local[*]", True), ("local[2]", True), ("spark://h:7077", False)],
)
def test_on_one_machine_the_driver_stays_on_loopback(master: str, local: bool) -> None:
    settings = SessionConfig(master=master).settings()
    assert settings.get("spark.driver.host") == ("127.0.0.1" if local else None)


def test_only_a_small_job_on_this_machine_trades_speed_for_a_quick_start() -> None:
    assert QUICK_START in java_flags(SessionConfig(small=True))
    assert QUICK_START not in java_flags(SessionConfig())
    assert QUICK_START not in java_flags(SessionConfig(small=True, master="spark://h:7077"))


def test_what_the_user_sets_wins_and_adds_to_javas_options() -> None:
    conf = {"spark.ui.enabled": "true", "spark.driver.extraJavaOptions": "-Dx=y"}
    config = SessionConfig(conf=conf, small=True)
    assert config.settings()["spark.ui.enabled"] == "true"
    assert java_flags(config).endswith(f"{QUICK_START} -Dx=y")


@pytest.mark.parametrize("small", [True, False])
def test_a_collector_of_garbage_that_the_user_names_is_the_only_one(small: bool) -> None:
    conf = {"spark.driver.extraJavaOptions": "-XX:+UseZGC"}
    flags = java_flags(SessionConfig(conf=conf, small=small))
    assert re.findall(r"Use\w+GC", flags) == ["UseZGC"]


def test_the_first_session_makes_the_archive_and_later_ones_use_it(tmp_path: Path) -> None:
    config = SessionConfig(cache=tmp_path)
    assert config.archive is not None
    flags = java_flags(config)
    assert f"-XX:ArchiveClassesAtExit={config.unfinished_archive} " in flags
    assert f"{config.archive} " not in flags  # others should not see it half-written
    config.archive.touch()
    assert f"-XX:SharedArchiveFile={config.archive} " in java_flags(config)


def test_another_java_and_another_spark_have_archives_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jars = tmp_path / "spark" / "jars"
    config = SessionConfig(cache=tmp_path)
    names = [config.archive, SessionConfig(cache=tmp_path, java="/opt/java/bin/java").archive]
    monkeypatch.setenv("SPARK_HOME", str(jars.parent))
    names.append(config.archive)
    jars.mkdir(parents=True)
    names.append(config.archive)
    os.utime(jars, (1, 1))  # as if it was installed at another time
    names.append(config.archive)
    assert len(set(names)) == 5


def test_archives_that_nobody_used_for_a_month_go(tmp_path: Path) -> None:
    day = 24 * 3600
    for name, days in (("spark-4.0.0-0.jsa", 31), ("spark-4.2.1-1.jsa", 29), ("mine.txt", 31)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, time.time() - days * day))
    forget_unused(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"spark-4.2.1-1.jsa", "mine.txt"}


def test_a_folder_with_a_blank_in_its_name_has_no_archive(tmp_path: Path) -> None:
    assert ".jsa" not in java_flags(SessionConfig(cache=tmp_path / "my cache"))


def test_java_uses_the_same_folder_for_temporary_files_as_python() -> None:
    assert f'"-Djava.io.tmpdir={gettempdir()}"' in java_flags(SessionConfig())


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


def test_sessions_in_turn_leave_no_scratch_folder(tmp_path: Path) -> None:
    code = [sys.executable, "-c", TWO_IN_TURN]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    left = subprocess.run(
        code, capture_output=True, text=True, timeout=90, check=True, env=environment
    )
    assert left.stdout == "[]\n"


def test_a_setting_that_spark_does_not_understand_is_told_when_it_starts() -> None:
    code = [sys.executable, "-c", BAD_SETTING]
    told = subprocess.run(code, capture_output=True, text=True, timeout=90, check=True).stdout
    assert told.startswith("SparkError Spark did not start with master local[1]: ")
    assert "'few'" in told
    assert "check --master and --conf" in told


def test_there_is_no_archive_where_its_folder_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    config = SessionConfig(cache=tmp_path / "home" / ".cache" / "rollcall")
    assert with_cache(config).archive is None
    config = SessionConfig(cache=tmp_path / "other" / "rollcall")
    assert with_cache(config).cache == config.cache
    assert (tmp_path / "other" / "rollcall").is_dir()


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
