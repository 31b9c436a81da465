"""What cannot be fetched is skipped, with the reason, and asked for but once."""

from pathlib import Path

import pytest

from tests.kafka import jars
from tests.kafka.jars import Release, jars_of


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the only programs there are."""
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


def test_without_maven_the_reason_says_so(maven: Path) -> None:
    assert reason(Release("4.3.0")) == "the jars of Kafka come with Maven: put mvn on the PATH"


def test_without_the_network_the_reason_is_mavens_and_each_release_is_tried_once(
    maven: Path,
) -> None:
    said = "Unknown host"
    program(maven / "mvn", f"echo again >> {maven}/asked; echo '{said}'; exit 1")
    for _ in range(3):
        assert reason(Release("4.3.0")) == f"Kafka 4.3.0 could not be fetched: {said}\n"
    assert (maven / "asked").read_text() == "again\n"


def test_a_network_that_does_not_answer_is_waited_for_once_in_all(
    maven: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jars, "FETCH_SECONDS", 0.5)
    program(maven / "mvn", f"echo again >> {maven}/asked; exec /bin/sleep 30")
    for version in ("4.3.0", "4.1.1"):
        assert reason(Release(version)) == "Maven did not fetch Kafka 4.3.0 within 0.5 s"
    assert (maven / "asked").read_text() == "again\n"


def test_what_was_fetched_is_there_without_the_network(maven: Path) -> None:
    release = Release("4.3.0")
    program(maven / "mvn", "exit 0")
    folder = jars_of(release)
    (maven / "mvn").unlink()
    assert jars_of(release) == folder


@pytest.mark.parametrize("home", [None, "/no/java/here"])
def test_without_java_the_reason_says_so(
    maven: Path, monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if home:
        monkeypatch.setenv("JAVA_HOME", home)
    with pytest.raises(pytest.skip.Exception, match="real Kafka needs Java"):
        jars.java()
