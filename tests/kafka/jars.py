"""The jars of an Apache Kafka release, fetched once with Maven into `.cache/kafka`.

Kafka brings no slf4j binding along: one is added. What cannot be fetched is a `Skipped` test with
the reason, as Maven Central and Java are not everybody's.
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
# From 4.0 on: log4j 2 comes along, its binding does not.
LOG4J2 = ("log4j-slf4j-impl", "log4j-1.2-api")
LOG4J2_VERSION = "2.24.3"

SILENCE: list[str] = []
"""That the network did not answer: it is waited for once in a run, not once a release."""


@dataclass(frozen=True)
class Artifact:
    group: str
    name: str
    version: str
    alone: bool = True
    """Without what it says it needs."""


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
    """The Java to run brokers with: that of JAVA_HOME, or the one on the PATH."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(f"{home}/bin/java" if home else "java")
    return found or pytest.skip("real Kafka needs Java: put it on the PATH or set JAVA_HOME")


def jars_of(release: Release) -> Path:
    """The folder with all jars of a release."""
    folder = CACHE / release.version
    with one_at_a_time():
        if (folder / "complete").exists():
            return folder
        if (reason := _fetch(release, folder)) is not None:
            pytest.skip(reason)
        (folder / "complete").touch()
        return folder


def jars_for_spark(name: str, wanted: Iterable[Artifact]) -> str:
    """What Spark is to load besides, as a list of jars."""
    folder = CACHE / name
    with one_at_a_time():
        if not (folder / "complete").exists():
            if shutil.which("mvn") is None:
                pytest.skip(f"the jars of {name} come with Maven: put mvn on the PATH")
            if SILENCE:
                pytest.skip(SILENCE[0])
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            dependencies = "".join(
                _dependency(each.group, each.name, each.version, [("*", "*")] * each.alone)
                for each in wanted
            )
            (folder / "pom.xml").write_text(_project(name, dependencies), encoding="utf-8")
            if (reason := _copy_jars(name, folder)) is not None:
                pytest.skip(reason)
            (folder / "complete").touch()
    return ",".join(str(jar) for jar in sorted(folder.glob("*.jar")))


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Tests run on several workers, and Maven's folder is for one at a time."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@cache
def _fetch(release: Release, folder: Path) -> str | None:
    """Why it failed, if it did; each release is tried once."""
    if shutil.which("mvn") is None:
        return "the jars of Kafka come with Maven: put mvn on the PATH"
    if SILENCE:
        return SILENCE[0]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "pom.xml").write_text(_pom(release), encoding="utf-8")
    return _copy_jars(f"Kafka {release.version}", folder)


def _copy_jars(name: str, folder: Path) -> str | None:
    """Fetch what the pom.xml in the folder names; why it failed, if it did."""
    command = [
        "mvn", "--batch-mode", "--quiet", f"-Dmaven.repo.local={ROOT / '.cache' / 'maven'}",
        COPY_DEPENDENCIES, f"-DoutputDirectory={folder}", "-DincludeScope=runtime",
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command,
            cwd=folder,
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
