"""The jars of an Apache Kafka release, fetched once with Maven into `.cache/kafka`.

Kafka brings no slf4j binding along: one is added. What cannot be fetched is a `Skipped` test with
the reason, as Maven Central and Java are not everybody's.
"""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
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
        SILENCE.append(f"Maven did not fetch Kafka {release.version} within {FETCH_SECONDS} s")
        return SILENCE[0]
    if done.returncode != 0:
        return f"Kafka {release.version} could not be fetched: {done.stdout[-500:]}"
    return None


def _pom(release: Release) -> str:
    bindings = (
        [("org.apache.logging.log4j", name, LOG4J2_VERSION) for name in LOG4J2]
        if release.major >= 4
        else list(RELOAD4J)
    )
    wanted = [("org.apache.kafka", f"kafka_{release.scala}", release.version), *bindings]
    dependencies = "".join(_dependency(*row) for row in wanted)
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        f"<groupId>rollcall</groupId><artifactId>kafka-{release.version}</artifactId>"
        f"<version>1</version><dependencies>{dependencies}</dependencies></project>"
    )


def _dependency(group: str, artifact: str, version: str) -> str:
    exclusions = "".join(
        f"<exclusion><groupId>{g}</groupId><artifactId>{a}</artifactId></exclusion>"
        for g, a in LOG4J1
    )
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version><exclusions>{exclusions}</exclusions></dependency>"
    )
