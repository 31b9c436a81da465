"""The Spark session: made for jobs of any size, and quick to start for the small ones.

Half of a small job's time is Java loading some 15,000 classes. The first session leaves an
archive of them behind when it ends (class-data sharing); later ones start from it. Java does
without an archive that does not fit its version and class path, so that each pair of Java and Spark
has one of its own. A session that failed leaves none: it may have seen too little. An archive gets
its name when it is whole, so that two sessions which make one at the same time do not spoil it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyspark
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from rollcall.pipeline.errors import SparkError
from rollcall.pipeline.gateway import keep_classes

OLDEST_JAVA = 17
JAVA_END_SECONDS = 30.0
ARCHIVE_SECONDS = 120.0
UNUSED_SECONDS = 30 * 24 * 3600.0
UNRESOLVED = "unresolved dependency"
"""What Spark says of a package that it did not find."""
LOCAL = re.compile(r"local(\[.*\])?")

ALWAYS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.catalogImplementation": "in-memory",
    # paths are listed by us; Spark should not start a job to list them again
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    # parts need no second move: the manifest is the commit
    "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    "spark.hadoop.parquet.enable.summary-metadata": "false",
    # Hadoop would read 4 KB at a time, which is two lines
    "spark.hadoop.io.file.buffer.size": "65536",
    # what is kept between two steps is read a few times and gone: packing it costs more
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # PySpark would tell Java the place of every call, which takes longer than the calls
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # keys are long texts here: to look for them in a small map first costs more than it saves
    "spark.sql.codegen.aggregate.map.twolevel.enabled": "false",
    # one batch and one compaction of a stream need more than the 100 that Spark would keep
    "spark.sql.codegen.cache.maxEntries": "1000",
    # what Spark keeps for its pages even if it shows none: with plans as large as these, the 1,000
    # queries that it would keep fill the memory of a stream within a day
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "1000",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.structuredLogging.enabled": "false",
}
ON_ONE_MACHINE = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
    # nothing goes over a network, and what stays in memory costs more to pack than to move
    "spark.shuffle.compress": "false",
    # so little is one file of a table
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": "8m",
    "spark.executor.heartbeatInterval": "2s",
}
IF_SMALL = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    # to compile Java for a few thousand lines takes longer than to do without
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
QUICK_START = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
FULL_SPEED = "-XX:+UseParallelGC"
COLLECTOR = re.compile(r"-XX:\+Use\w+GC")


@dataclass(frozen=True, kw_only=True)
class SessionConfig:
    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)
    """Wins over what is set here."""
    packages: tuple[str, ...] = ()
    """Maven coordinates of what Spark is to load besides."""
    small: bool = False
    """The job is of a few megabytes: to start soon matters more than to run fast."""
    java: str = "java"
    cache: Path | None = None
    """Where the archive of classes is kept; None: there is none."""

    @property
    def is_local(self) -> bool:
        return LOCAL.fullmatch(self.master) is not None

    def settings(self) -> dict[str, str]:
        chosen = dict(ALWAYS)
        if self.is_local:
            chosen |= ON_ONE_MACHINE
            chosen |= IF_SMALL if self.small else {}
        if self.packages:
            chosen["spark.jars.packages"] = ",".join(self.packages)
        chosen |= self.conf
        theirs = chosen.get("spark.driver.extraJavaOptions", "")
        mine = " ".join(
            flags
            for flags in (_scratch_flags(), self._archive_flags(), self._pace_flags(theirs))
            if flags
        )
        chosen["spark.driver.extraJavaOptions"] = f"{mine} {theirs}".strip()
        return chosen

    def _pace_flags(self, theirs: str) -> str:
        if not self.is_local:
            return ""
        flags = QUICK_START if self.small else FULL_SPEED
        # Java does not start with two collectors of garbage
        return COLLECTOR.sub("", flags).strip() if COLLECTOR.search(theirs) else flags

    @property
    def archive(self) -> Path | None:
        """Where the archive of classes is, or will be; Spark cuts Java's options at blanks."""
        if self.cache is None or " " in str(self.cache):
            return None
        return self.cache / f"spark-{pyspark.__version__}-{_classes_digest(self.java)}.jsa"

    @property
    def makes_archive(self) -> bool:
        return self.archive is not None and not self.archive.exists()

    @property
    def unfinished_archive(self) -> Path:
        assert self.archive is not None
        return self.archive.with_suffix(f".{os.getpid()}")

    def _archive_flags(self) -> str:
        if self.archive is None:
            return ""
        use = f"SharedArchiveFile={self.archive}"
        make = f"ArchiveClassesAtExit={self.unfinished_archive}"
        return f"-XX:{make if self.makes_archive else use} -Xshare:auto -Xlog:disable"


def with_cache(config: SessionConfig) -> SessionConfig:
    """Without an archive where there can be no folder for it: the user of a service may have no
    home."""
    try:
        if config.cache is not None:
            config.cache.mkdir(parents=True, exist_ok=True)
    except OSError:
        return replace(config, cache=None)
    return config


def _classes_digest(java: str) -> str:
    """Changes with Java, with the folder that Spark is in, and when Spark is installed anew."""
    jars = Path(_find_spark_home()) / "jars"
    installed = jars.stat().st_mtime_ns if jars.exists() else 0
    which = f"{Path(shutil.which(java) or java).resolve()} {jars.resolve()} {installed}"
    return hashlib.sha256(which.encode()).hexdigest()[:8]


def forget_unused(cache: Path) -> None:
    """Archives of a Java or Spark that is gone."""
    oldest = time.time() - UNUSED_SECONDS
    for archive in cache.glob("spark-*.jsa"):
        with suppress(OSError):  # another session was here first
            if archive.stat().st_mtime < oldest:
                archive.unlink()


def _scratch_flags() -> str:
    """Java knows no TMPDIR: it is told where temporary files belong."""
    return f'-XX:-UsePerfData "-Djava.io.tmpdir={tempfile.gettempdir()}"'


@contextmanager
def open_session(config: SessionConfig, name: str = "rollcall") -> Iterator[SparkSession]:
    """A session that ends with the block; what Java has to say goes to a file."""
    config = with_cache(config)
    makes_archive = config.makes_archive
    if config.archive is not None and not makes_archive:
        with suppress(OSError):  # someone else's
            config.archive.touch()
    with tempfile.TemporaryDirectory(
        prefix="rollcall-spark-", ignore_cleanup_errors=True
    ) as scratch:
        try:
            spark = _start(config, name, Path(scratch))
            keep_classes(spark.sparkContext._jvm)
            try:
                yield spark
            finally:
                spark.sparkContext.stop()
        except BaseException:
            end_java(0.0 if makes_archive else JAVA_END_SECONDS)
            if makes_archive:
                config.unfinished_archive.unlink(missing_ok=True)
            raise
        if makes_archive and config.archive is not None:
            end_java(ARCHIVE_SECONDS)
            with suppress(OSError):  # no archive, then
                config.unfinished_archive.replace(config.archive)
                forget_unused(config.archive.parent)


def end_java(patience: float = JAVA_END_SECONDS) -> None:
    """Java ends when its input does, and tidies up: it is given so many seconds for that."""
    gateway: Any = SparkContext._gateway
    if gateway is None or gateway.proc is None:
        return
    SparkContext._gateway = SparkContext._jvm = None
    # a thread of py4j tells Java what Python forgot, and would complain that nobody listens
    gateway._gateway_client.is_connected = False
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(patience)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()


def _start(config: SessionConfig, name: str, scratch: Path) -> SparkSession:
    conf = SparkConf(loadDefaults=False).setMaster(config.master).setAppName(name)
    if config.is_local:
        conf.set("spark.local.dir", str(scratch))
    for key, value in config.settings().items():
        conf.set(key, value)
    log = scratch / "java.log"
    try:
        with log.open("ab") as output:
            with _uninterrupted():
                _launch_java(conf, {"stdout": output, "stderr": output})
            return _checked(SparkContext(conf=conf))
    except (PySparkException, Py4JError, OSError) as error:
        raise _no_start(config, error, log) from error


def _checked(context: SparkContext) -> SparkSession:
    """A session of a context that has a master, and of settings that Spark understands: it looks
    at both only when they are needed."""
    try:
        session = SparkSession(context)
        session.conf.get("spark.sql.session.timeZone")
    except (PySparkException, Py4JError):
        context.stop()
        raise
    return session


def _launch_java(conf: SparkConf, output: Mapping[str, Any]) -> None:
    if SparkContext._gateway is None:
        launch: Callable[..., Any] = launch_gateway
        SparkContext._gateway = launch(conf, dict(output))
        SparkContext._jvm = SparkContext._gateway.jvm
    else:
        _forget_scratch(SparkContext._jvm)


def _forget_scratch(jvm: Any) -> None:
    """Java is of an earlier session, and would make that one's scratch folder again."""
    with suppress(Py4JError):  # it is Spark's own, and nothing is lost without it
        getattr(getattr(jvm.org.apache.spark.util, "Utils$"), "MODULE$").clearLocalRootDirs()


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until Java has been found: left half-way, Java would be left running."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)


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
    return SparkError(
        f"Spark did not start with master {config.master}: {told}",
        hint="packages come from a Maven repository: check their names (--packages, or --conf "
        "spark.jars.packages=...), or give files (--conf spark.jars=...)"
        if UNRESOLVED in told
        else "check --master and --conf; without --master it runs on this machine",
    )


def java_version(java: str) -> int | None:
    """The number before the first dot (8 for 1.8); None when there is no Java."""
    try:
        told = subprocess.run([java, "-version"], capture_output=True, check=False, timeout=30)  # noqa: S603
    except OSError:
        return None
    match = re.search(rb'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(match[1]) if match else None


def gist(error: Exception, log: Path) -> str:
    lines = map(str.strip, log.read_text(encoding="utf-8", errors="replace").splitlines())
    told = [line for line in lines if re.search(r"(Exception|Error)\b.*: .*[^:]$", line)]
    return (told or str(error).splitlines() or [type(error).__name__])[0][:300]
