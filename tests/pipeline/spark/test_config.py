"""Settings of a session, without starting one."""

import re
from pathlib import Path
from tempfile import gettempdir

import pytest

from rollcall.errors import ConfigError
from rollcall.pipeline.spark.config import SMALL_JOB_JVM, SessionConfig


def java_flags(config: SessionConfig) -> str:
    return config.settings()["spark.driver.extraJavaOptions"]


def test_session_time_zone_is_utc() -> None:
    assert SessionConfig().settings()["spark.sql.session.timeZone"] == "UTC"


def test_another_session_time_zone_is_rejected() -> None:
    with pytest.raises(ConfigError, match="times in the tables are UTC"):
        SessionConfig(conf={"spark.sql.session.timeZone": "Europe/Berlin"})


@pytest.mark.parametrize(
    ("master", "local"),
    [("local", True), ("local[*]", True), ("local[2]", True), ("spark://h:7077", False)],
)
def test_local_driver_binds_to_loopback(master: str, local: bool) -> None:
    settings = SessionConfig(master=master).settings()
    assert settings.get("spark.driver.host") == ("127.0.0.1" if local else None)


def test_small_job_options_are_used_for_small_local_jobs_only() -> None:
    assert SMALL_JOB_JVM in java_flags(SessionConfig(small=True))
    assert SMALL_JOB_JVM not in java_flags(SessionConfig())
    assert SMALL_JOB_JVM not in java_flags(SessionConfig(small=True, master="spark://h:7077"))


def test_user_settings_override_and_jvm_options_are_added() -> None:
    conf = {"spark.ui.enabled": "true", "spark.driver.extraJavaOptions": "-Dx=y"}
    config = SessionConfig(conf=conf, small=True)
    assert config.settings()["spark.ui.enabled"] == "true"
    assert java_flags(config).endswith(f"{SMALL_JOB_JVM} -Dx=y")


def test_namenode_connect_retries_can_be_overridden() -> None:
    retries = "spark.hadoop.ipc.client.connect.max.retries.on.timeouts"
    assert SessionConfig().settings()[retries] == "1"
    assert SessionConfig(conf={retries: "45"}).settings()[retries] == "45"


@pytest.mark.parametrize("small", [True, False])
def test_garbage_collector_of_the_user_replaces_the_default(small: bool) -> None:
    conf = {"spark.driver.extraJavaOptions": "-XX:+UseZGC"}
    flags = java_flags(SessionConfig(conf=conf, small=small))
    assert re.findall(r"Use\w+GC", flags) == ["UseZGC"]


def test_cache_directory_with_a_space_has_no_archive(tmp_path: Path) -> None:
    assert ".jsa" not in java_flags(SessionConfig(cache=tmp_path / "my cache"))


def test_jvm_uses_the_temporary_directory_of_python() -> None:
    assert f'"-Djava.io.tmpdir={gettempdir()}"' in java_flags(SessionConfig())


def test_cache_directory_that_cannot_be_created_means_no_archive(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    config = SessionConfig(cache=tmp_path / "home" / ".cache" / "rollcall")
    assert config.with_cache().archive is None
    config = SessionConfig(cache=tmp_path / "other" / "rollcall")
    assert config.with_cache().cache == config.cache
    assert (tmp_path / "other" / "rollcall").is_dir()
