"""The Spark session: open it, and close everything it started."""

from __future__ import annotations

import re
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from rollcall.pipeline.errors import SparkError
from rollcall.pipeline.spark.class_archive import ClassArchive
from rollcall.pipeline.spark.config import TIME_ZONE, SessionConfig
from rollcall.pipeline.spark.jvm import (
    LOCAL_IP,
    OLDEST_JAVA,
    STOP_SECONDS,
    java_version,
    start_jvm,
    stop_jvm,
)

WRITE_ARCHIVE_SECONDS = 120.0
CLEAN_UP_SECONDS = 5.0
"""Enough for the JVM to delete its files, before it writes an archive that is not wanted."""
UNRESOLVED = "unresolved dependency"
"""Spark's message for a package that it did not find."""


@contextmanager
def open_session(config: SessionConfig, name: str = "rollcall") -> Iterator[SparkSession]:
    """A session that is stopped at the end of the block; the JVM logs to a temporary file."""
    config = config.with_cache()
    temporary = tempfile.TemporaryDirectory(prefix="rollcall-spark-", ignore_cleanup_errors=True)
    with temporary as directory, _class_archive(config.archive):
        spark = _start(config, name, Path(directory))
        try:
            yield spark
        finally:
            spark.sparkContext.stop()


@contextmanager
def _class_archive(archive: ClassArchive | None) -> Iterator[None]:
    """Save the archive that the JVM writes when it exits.

    The JVM is kept for the next session, unless the block failed or an archive is written."""
    new = archive if archive is not None and not archive.exists else None
    if archive is not None and new is None:
        archive.mark_used()
    try:
        yield
    except BaseException:
        stop_jvm(STOP_SECONDS if new is None else CLEAN_UP_SECONDS)
        if new is not None:
            new.temporary.unlink(missing_ok=True)
        raise
    if new is not None:
        stop_jvm(WRITE_ARCHIVE_SECONDS)
        new.save()


def _start(config: SessionConfig, name: str, directory: Path) -> SparkSession:
    conf = SparkConf(loadDefaults=False).setMaster(config.master).setAppName(name)
    if config.is_local:
        conf.set("spark.local.dir", str(directory))
    for key, value in config.settings().items():
        conf.set(key, value)
    log = directory / "java.log"
    try:
        with log.open("ab") as output:
            start_jvm(conf, {"stdout": output, "stderr": output})
            return _checked(SparkContext(conf=conf))
    except (PySparkException, Py4JError, OSError) as error:
        raise _start_error(config, error, log) from error


def _checked(context: SparkContext) -> SparkSession:
    """A session whose master and settings were used once: Spark validates them only then."""
    try:
        session = SparkSession(context)
        session.conf.get(TIME_ZONE)
    except (PySparkException, Py4JError):
        context.stop()
        raise
    return session


def _start_error(config: SessionConfig, error: Exception, log: Path) -> SparkError:
    version = java_version(config.java)
    if version is None:
        return SparkError(
            "Spark needs Java, which was not found",
            hint=f"install Java {OLDEST_JAVA} or newer (openjdk-{OLDEST_JAVA}), or set JAVA_HOME",
        )
    if version < OLDEST_JAVA:
        return SparkError(
            f"Spark needs Java {OLDEST_JAVA} or newer, but found version {version}",
            hint=f"install openjdk-{OLDEST_JAVA}, or set JAVA_HOME to a newer Java",
        )
    message = first_error(error, log)
    hint = "check --master and --conf; without --master Spark runs on this machine"
    if UNRESOLVED in message:
        hint = (
            "check the Maven coordinates (--packages or --conf spark.jars.packages=...), or give "
            "files (--conf spark.jars=...)"
        )
    elif f"UnknownHostException: {socket.gethostname()}:" in message:
        hint = f"set {LOCAL_IP} to an address that workers reach: the host name has none"
    return SparkError(f"Spark did not start with master {config.master}: {message}", hint=hint)


def first_error(error: Exception, log: Path) -> str:
    """The first line of the JVM's log that reports an error, else that of the exception."""
    lines = map(str.strip, log.read_text(encoding="utf-8", errors="replace").splitlines())
    errors = [line for line in lines if re.search(r"(Exception|Error)\b.*: .*[^:]$", line)]
    return (errors or str(error).splitlines() or [type(error).__name__])[0][:300]
