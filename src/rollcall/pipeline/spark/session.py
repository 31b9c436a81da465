"""The Spark session: opened, and closed with all that it has started."""

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
from rollcall.pipeline.spark.class_archive import Archive
from rollcall.pipeline.spark.config import TIME_ZONE, SessionConfig
from rollcall.pipeline.spark.jvm import (
    END_SECONDS,
    LOCAL_IP,
    OLDEST_JAVA,
    java_version,
    start_jvm,
    stop_jvm,
)

ARCHIVE_SECONDS = 120.0
TIDY_SECONDS = 5.0
"""Java tidies up, and then begins to write an archive that is not wanted."""
UNRESOLVED = "unresolved dependency"
"""What Spark says of a package that it did not find."""


@contextmanager
def open_session(config: SessionConfig, name: str = "rollcall") -> Iterator[SparkSession]:
    """A session that ends with the block; what Java has to say goes to a file."""
    config = config.with_cache()
    folder = tempfile.TemporaryDirectory(prefix="rollcall-spark-", ignore_cleanup_errors=True)
    with folder as scratch, _leaving(config.archive):
        spark = _start(config, name, Path(scratch))
        try:
            yield spark
        finally:
            spark.sparkContext.stop()


@contextmanager
def _leaving(archive: Archive | None) -> Iterator[None]:
    """Java goes on after a session, for the next; not where it failed, or leaves an archive."""
    made = archive if archive is not None and not archive.exists else None
    if archive is not None and made is None:
        archive.is_used()
    try:
        yield
    except BaseException:
        stop_jvm(END_SECONDS if made is None else TIDY_SECONDS)
        if made is not None:
            made.unfinished.unlink(missing_ok=True)
        raise
    if made is not None:
        stop_jvm(ARCHIVE_SECONDS)
        made.keep()


def _start(config: SessionConfig, name: str, scratch: Path) -> SparkSession:
    conf = SparkConf(loadDefaults=False).setMaster(config.master).setAppName(name)
    if config.is_local:
        conf.set("spark.local.dir", str(scratch))
    for key, value in config.settings().items():
        conf.set(key, value)
    log = scratch / "java.log"
    try:
        with log.open("ab") as output:
            start_jvm(conf, {"stdout": output, "stderr": output})
            return _checked(SparkContext(conf=conf))
    except (PySparkException, Py4JError, OSError) as error:
        raise _no_start(config, error, log) from error


def _checked(context: SparkContext) -> SparkSession:
    """A session of a context that has a master, and of settings that Spark understands: it looks
    at both only when they are needed."""
    try:
        session = SparkSession(context)
        session.conf.get(TIME_ZONE)
    except (PySparkException, Py4JError):
        context.stop()
        raise
    return session


def _no_start(config: SessionConfig, error: Exception, log: Path) -> SparkError:
    found = java_version(config.java)
    if found is None:
        return SparkError(
            "Java is missing, and Spark needs it",
            hint=f"install Java {OLDEST_JAVA} or newer (openjdk-{OLDEST_JAVA}), or set JAVA_HOME",
        )
    if found < OLDEST_JAVA:
        return SparkError(
            f"Java is version {found}, and Spark needs {OLDEST_JAVA} or newer",
            hint=f"install openjdk-{OLDEST_JAVA}, or set JAVA_HOME to one that is there",
        )
    told = gist(error, log)
    hint = "check --master and --conf; without --master it runs on this machine"
    if UNRESOLVED in told:
        hint = (
            "packages come from a Maven repository: check their names (--packages, or --conf "
            "spark.jars.packages=...), or give files (--conf spark.jars=...)"
        )
    elif f"UnknownHostException: {socket.gethostname()}:" in told:
        hint = f"this machine's name has no address: set {LOCAL_IP} to one that workers reach"
    return SparkError(f"Spark did not start with master {config.master}: {told}", hint=hint)


def gist(error: Exception, log: Path) -> str:
    lines = map(str.strip, log.read_text(encoding="utf-8", errors="replace").splitlines())
    told = [line for line in lines if re.search(r"(Exception|Error)\b.*: .*[^:]$", line)]
    return (told or str(error).splitlines() or [type(error).__name__])[0][:300]
