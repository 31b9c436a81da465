"""Paths of this machine and of others, and those that Spark would misread."""

from pathlib import Path

import pytest

from rollcall.errors import ConfigError
from rollcall.pipeline.jobs.job import local_store
from rollcall.pipeline.sources.paths import (
    absolute,
    check_spark_path,
    is_local,
    local_path,
    normalized,
    path_from_spark,
    spark_misreads,
    spark_path,
)


@pytest.mark.parametrize(
    ("path", "local"),
    [("/var/log", True), ("logs", True), ("file:///var/log", True), ("s3a://b/logs", False),
     ("hdfs://h:8020/logs", False)],
)  # fmt: skip
def test_path_with_another_scheme_is_not_local(path: str, local: bool) -> None:
    assert is_local(path) is local


def test_absolute_path_resolves_parent_directories_behind_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "disk" / "deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "deep")
    monkeypatch.chdir(tmp_path / "link")
    assert absolute("logs") == tmp_path / "disk" / "deep" / "logs"
    assert absolute("../logs") == tmp_path / "disk" / "logs"
    assert absolute(f"{tmp_path}/link/../logs") == tmp_path / "disk" / "logs"
    assert absolute("..") == tmp_path / "disk"
    assert absolute(f"{tmp_path}/link/a") == tmp_path / "link" / "a"
    assert local_store("../tables").root == tmp_path / "disk" / "tables"


@pytest.mark.parametrize(
    ("address", "path"),
    [("file:///var/my%20log", "/var/my log"), ("file:/var/log", "/var/log"),
     ("file:///logs/50%25/b?.log#1", "/logs/50%/b?.log#1"), ("/var/a%20b", "/var/a%20b")],
)  # fmt: skip
def test_file_uri_is_decoded_to_a_path(address: str, path: str) -> None:
    assert local_path(address) == path


@pytest.mark.parametrize("path", ["/a b.log", "/50%.log", "/%20.log", "/a#b", "/caf\u00e9.log"])
def test_path_reported_by_spark_is_the_given_path(path: str) -> None:
    reported = "file:" + path.replace("%", "%25").replace(" ", "%20").replace("#", "%23")
    assert path_from_spark(reported) == normalized(spark_path(path)) == path


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/a/b.log", False), ("/a:b.log", True), ("/[x]/b.log", True), ("/what?.log", True),
     ("hdfs://h:8020/a/b.log", False), ("s3a://b/a:b", True), ("file:/a/b", False)],
)  # fmt: skip
def test_path_that_spark_expands_is_recognised(path: str, expected: bool) -> None:
    assert spark_misreads(path) is expected


def test_tables_path_that_spark_misreads_is_rejected() -> None:
    with pytest.raises(ConfigError, match="Spark cannot write to"):
        check_spark_path("/data/[x]")
