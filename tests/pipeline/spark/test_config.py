"""The settings of a session, without starting one."""

import re
from pathlib import Path
from tempfile import gettempdir

import pytest

from rollcall.errors import ConfigError
from rollcall.pipeline.spark.config import SMALL_JOB_JVM, SessionConfig


def java_flags(config: SessionConfig) -> str:
    return config.settings()["spark.driver.extraJavaOptions"]


def test_times_are_utc_whatever_the_machine_says() -> None:
    assert SessionConfig().settings()["spark.sql.session.timeZone"] == "UTC"


def test_no_setting_makes_them_other_than_utc() -> None:
    with pytest.raises(ConfigError, match="times in the tables are UTC"):
        SessionConfig(conf={"spark.sql.session.timeZone": "Europe/Berlin"})


@pytest.mark.parametrize(
    ("master", "local"),
    [("local", True), ("local[*]", True), ("local[2]", True), ("spark://h:7077", False)],
)
def test_on_one_machine_the_driver_stays_on_loopback(master: str, local: bool) -> None:
    settings = SessionConfig(master=master).settings()
    assert settings.get("spark.driver.host") == ("127.0.0.1" if local else None)


def test_only_a_small_job_on_this_machine_trades_speed_for_a_quick_start() -> None:
    assert SMALL_JOB_JVM in java_flags(SessionConfig(small=True))
    assert SMALL_JOB_JVM not in java_flags(SessionConfig())
    assert SMALL_JOB_JVM not in java_flags(SessionConfig(small=True, master="spark://h:7077"))


def test_what_the_user_sets_wins_and_adds_to_javas_options() -> None:
    conf = {"spark.ui.enabled": "true", "spark.driver.extraJavaOptions": "-Dx=y"}
    config = SessionConfig(conf=conf, small=True)
    assert config.settings()["spark.ui.enabled"] == "true"
    assert java_flags(config).endswith(f"{SMALL_JOB_JVM} -Dx=y")


def test_a_name_node_that_is_mute_is_asked_twice_unless_the_user_says_otherwise() -> None:
    tries = "spark.hadoop.ipc.client.connect.max.retries.on.timeouts"
    assert SessionConfig().settings()[tries] == "1"
    assert SessionConfig(conf={tries: "45"}).settings()[tries] == "45"


@pytest.mark.parametrize("small", [True, False])
def test_a_collector_of_garbage_that_the_user_names_is_the_only_one(small: bool) -> None:
    conf = {"spark.driver.extraJavaOptions": "-XX:+UseZGC"}
    flags = java_flags(SessionConfig(conf=conf, small=small))
    assert re.findall(r"Use\w+GC", flags) == ["UseZGC"]


def test_a_folder_with_a_blank_in_its_name_has_no_archive(tmp_path: Path) -> None:
    assert ".jsa" not in java_flags(SessionConfig(cache=tmp_path / "my cache"))


def test_java_uses_the_same_folder_for_temporary_files_as_python() -> None:
    assert f'"-Djava.io.tmpdir={gettempdir()}"' in java_flags(SessionConfig())


def test_there_is_no_archive_where_its_folder_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    config = SessionConfig(cache=tmp_path / "home" / ".cache" / "rollcall")
    assert config.with_cache().archive is None
    config = SessionConfig(cache=tmp_path / "other" / "rollcall")
    assert config.with_cache().cache == config.cache
    assert (tmp_path / "other" / "rollcall").is_dir()
