"""The jars of an Apache Kafka release, downloaded once with Maven into `.cache/kafka`.

Kafka has no slf4j binding among its dependencies, so one is added. A test whose release cannot be
downloaded is skipped with the reason: Maven Central or Java may be missing.
"""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "kafka"
FETCH_SECONDS = 240
COPY_DEPENDENCIES = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"

RELOAD4J = (("org.slf4j", "slf4j-reload4j", "1.7.36"), ("ch.qos.reload4j", "reload4j", "1.2.25"))
LOG4J1 = (("log4j", "log4j"), ("org.slf4j", "slf4j-log4j12"), ("org.apache.kafka", "connect-*"))
# From 4.0: log4j 2 is a dependency, its slf4j binding is not.
LOG4J2 = ("log4j-slf4j-impl", "log4j-1.2-api")
LOG4J2_VERSION = "2.24.3"

SILENCE: list[str] = []
"""Marks that the network did not answer, so that a run waits for it only once."""


@dataclass(frozen=True)
class Artifact:
    group: str
    name: str
    version: str
    alone: bool = True
    """Whether to leave out its dependencies."""


@dataclass(frozen=True)
class Release:
    version: str
    scala: str = "2.13"

    @property
    def is_kraft(self) -> bool:
        return not self.version.startswith(("0.", "1.", "2.", "3.0"))

    @property
    def major(self) -> int:
        return int(self.version.partition(".")[0])


def java() -> str:
    """The Java for the brokers, from JAVA_HOME or the PATH."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(f"{home}/bin/java" if home else "java")
    return found or pytest.skip("real Kafka needs Java: put it on the PATH or set JAVA_HOME")


def jars_of(release: Release) -> Path:
    """The directory with all jars of a release."""
    directory = CACHE / release.version
    with one_at_a_time():
        if (directory / "complete").exists():
            return directory
        if (reason := _fetch(release, directory)) is not None:
            pytest.skip(reason)
        (directory / "complete").touch()
        return directory


def jars_for_spark(name: str, wanted: Iterable[Artifact]) -> str:
    """Additional jars for Spark, as a comma-separated list."""
    directory = CACHE / name
    with one_at_a_time():
        if not (directory / "complete").exists():
            if shutil.which("mvn") is None:
                pytest.skip(f"the jars of {name} come with Maven: put mvn on the PATH")
            if SILENCE:
                pytest.skip(SILENCE[0])
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True)
            dependencies = "".join(
                _dependency(each.group, each.name, each.version, [("*", "*")] * each.alone)
                for each in wanted
            )
            (directory / "pom.xml").write_text(_project(name, dependencies), encoding="utf-8")
            if (reason := _copy_jars(name, directory)) is not None:
                pytest.skip(reason)
            (directory / "complete").touch()
    return ",".join(str(jar) for jar in sorted(directory.glob("*.jar")))


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Lock for Maven's local repository, which only one test worker may use at a time."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@cache
def _fetch(release: Release, directory: Path) -> str | None:
    """The reason of a failed download, or None; each release is tried once."""
    if shutil.which("mvn") is None:
        return "the jars of Kafka come with Maven: put mvn on the PATH"
    if SILENCE:
        return SILENCE[0]
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    (directory / "pom.xml").write_text(_pom(release), encoding="utf-8")
    return _copy_jars(f"Kafka {release.version}", directory)


def _copy_jars(name: str, directory: Path) -> str | None:
    """Download what pom.xml in the directory names. Returns the reason of a failure, or None."""
    command = [
        "mvn", "--batch-mode", "--quiet", f"-Dmaven.repo.local={ROOT / '.cache' / 'maven'}",
        COPY_DEPENDENCIES, f"-DoutputDirectory={directory}", "-DincludeScope=runtime",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            capture_output=True,
            text=True,
            check=False,
            timeout=FETCH_SECONDS,
            stdin=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name != "MAVEN_OPTS"},
        )
    except subprocess.TimeoutExpired:
        SILENCE.append(f"Maven did not fetch {name} within {FETCH_SECONDS} s")
        return SILENCE[0]
    if done.returncode != 0:
        return f"{name} could not be fetched: {done.stdout[-500:]}"
    return None


def _pom(release: Release) -> str:
    bindings = (
        [("org.apache.logging.log4j", name, LOG4J2_VERSION) for name in LOG4J2]
        if release.major >= 4
        else list(RELOAD4J)
    )
    wanted = [("org.apache.kafka", f"kafka_{release.scala}", release.version), *bindings]
    dependencies = "".join(_dependency(*row, LOG4J1) for row in wanted)
    return _project(f"kafka-{release.version}", dependencies)


def _project(name: str, dependencies: str) -> str:
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        f"<groupId>rollcall</groupId><artifactId>{name}</artifactId>"
        f"<version>1</version><dependencies>{dependencies}</dependencies></project>"
    )


def _dependency(group: str, artifact: str, version: str, without: Iterable[tuple[str, str]]) -> str:
    exclusions = "".join(
        f"<exclusion><groupId>{g}</groupId><artifactId>{a}</artifactId></exclusion>"
        for g, a in without
    )
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version><exclusions>{exclusions}</exclusions></dependency>"
    )
