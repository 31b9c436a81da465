"""A release that cannot be downloaded is skipped with the reason, and tried only once."""

from pathlib import Path

import pytest

from tests.kafka import jars
from tests.kafka.jars import Release, jars_of


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only directory on PATH."""
    monkeypatch.setattr(jars, "CACHE", tmp_path / "kafka")
    monkeypatch.setattr(jars, "SILENCE", [])
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    return programs


def program(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def reason(release: Release) -> str:
    with pytest.raises(pytest.skip.Exception) as skipped:
        jars_of(release)
    return str(skipped.value)


def test_missing_maven_is_the_reason(maven: Path) -> None:
    assert reason(Release("4.3.0")) == "the jars of Kafka come with Maven: put mvn on the PATH"


def test_maven_error_is_the_reason_and_each_release_is_tried_once(
    maven: Path,
) -> None:
    output = "Unknown host"
    program(maven / "mvn", f"echo again >> {maven}/asked; echo '{output}'; exit 1")
    for _ in range(3):
        assert reason(Release("4.3.0")) == f"Kafka 4.3.0 could not be fetched: {output}\n"
    assert (maven / "asked").read_text() == "again\n"


def test_unresponsive_network_is_waited_for_once(
    maven: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jars, "FETCH_SECONDS", 0.5)
    program(maven / "mvn", f"echo again >> {maven}/asked; exec /bin/sleep 30")
    for version in ("4.3.0", "4.1.1"):
        assert reason(Release(version)) == "Maven did not fetch Kafka 4.3.0 within 0.5 s"
    assert (maven / "asked").read_text() == "again\n"


def test_downloaded_release_needs_no_network(maven: Path) -> None:
    release = Release("4.3.0")
    program(maven / "mvn", "exit 0")
    directory = jars_of(release)
    (maven / "mvn").unlink()
    assert jars_of(release) == directory


@pytest.mark.parametrize("home", [None, "/no/java/here"])
def test_missing_java_is_the_reason(
    maven: Path, monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if home:
        monkeypatch.setenv("JAVA_HOME", home)
    with pytest.raises(pytest.skip.Exception, match="real Kafka needs Java"):
        jars.java()
