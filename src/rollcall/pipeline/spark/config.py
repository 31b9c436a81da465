"""Settings of a Spark session, for jobs of any size and for small local ones."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from rollcall.errors import ConfigError
from rollcall.pipeline.spark.class_archive import ClassArchive, archive_in

LOCAL = re.compile(r"local(\[.*\])?")

TIME_ZONE = "spark.sql.session.timeZone"
DEFAULTS = {
    TIME_ZONE: "UTC",
    "spark.sql.catalogImplementation": "in-memory",
    # above 32 paths Spark would run a job to list them
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    # the manifest is the commit: files need not be renamed once more
    "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    "spark.hadoop.parquet.enable.summary-metadata": "false",
    # Hadoop's default of 4 KB holds two lines
    "spark.hadoop.io.file.buffer.size": "65536",
    # by default a request to a NameNode that is down takes 15 minutes to fail
    "spark.hadoop.ipc.client.connect.max.retries.on.timeouts": "1",
    "spark.hadoop.ipc.client.rpc-timeout.ms": "60000",
    # cached sums are read a few times: compressing them costs more
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # PySpark would send the Python call site of every column to the JVM: 0.9 s of CPU per batch
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    # keys are long strings: the first-level hash map costs more than it saves
    "spark.sql.codegen.aggregate.map.twolevel.enabled": "false",
    # Spark keeps plans for its UI even if that is off: by default 1,000 queries, whose large plans
    # fill the memory of a stream within a day
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "1000",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.structuredLogging.enabled": "false",
}
LOCAL_DEFAULTS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
    # shuffle data stays on this machine: compressing it costs more than copying it
    "spark.shuffle.compress": "false",
    # less than this becomes one file of a table
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": "8m",
    # the progress line needs task metrics more often than every 10 s
    "spark.executor.heartbeatInterval": "2s",
}
SMALL_JOB = {
    # all four settings save 1.8 s of the 16.7 s of CPU of a job of 1,000 lines
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    # compiling a plan takes longer than interpreting it for a few thousand lines: 0.9 s of the 1.8
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
SMALL_JOB_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""A job of 1,000 lines takes 14.8 s of CPU with these JVM options, and 29.7 s without."""
LARGE_JOB_JVM = "-XX:+UseParallelGC"
GC_OPTION = re.compile(r"-XX:\+Use\w+GC")


@dataclass(frozen=True, kw_only=True)
class SessionConfig:
    master: str = "local[*]"
    conf: Mapping[str, str] = field(default_factory=dict)
    """Spark settings of the user, which override the defaults."""
    packages: tuple[str, ...] = ()
    """Maven coordinates of jars that Spark loads."""
    small: bool = False
    """The job reads a few megabytes, so most of its time is start-up."""
    java: str = "java"
    cache: Path | None = None
    """Directory of the class archive; None for no archive."""

    def __post_init__(self) -> None:
        if self.conf.get(TIME_ZONE, DEFAULTS[TIME_ZONE]) != DEFAULTS[TIME_ZONE]:
            raise ConfigError(
                f"{TIME_ZONE} cannot be changed: times in the tables are UTC",
                hint="use --time-zone for the zone in which the brokers write their logs",
            )

    @property
    def is_local(self) -> bool:
        return LOCAL.fullmatch(self.master) is not None

    def with_cache(self) -> Self:
        """Create the cache directory, or do without a cache: a service user may have no home."""
        try:
            if self.cache is not None:
                self.cache.mkdir(parents=True, exist_ok=True)
        except OSError:
            return replace(self, cache=None)
        return self

    def settings(self) -> dict[str, str]:
        settings = dict(DEFAULTS)
        if self.is_local:
            settings |= LOCAL_DEFAULTS
            settings |= SMALL_JOB if self.small else {}
        if self.packages:
            settings["spark.jars.packages"] = ",".join(self.packages)
        settings |= self.conf
        user_options = settings.get("spark.driver.extraJavaOptions", "")
        archive = self.archive
        options = [_temporary_files(), archive.flags if archive is not None else ""]
        options += [self._jvm_options(user_options), user_options]
        settings["spark.driver.extraJavaOptions"] = " ".join(filter(None, options))
        return settings

    def _jvm_options(self, user_options: str) -> str:
        if not self.is_local:
            return ""
        options = SMALL_JOB_JVM if self.small else LARGE_JOB_JVM
        # the JVM does not start with two garbage collectors
        user_has_gc = GC_OPTION.search(user_options)
        return GC_OPTION.sub("", options).strip() if user_has_gc else options

    @property
    def archive(self) -> ClassArchive | None:
        return archive_in(self.cache, self.java) if self.cache is not None else None


def _temporary_files() -> str:
    """The JVM does not use TMPDIR, and would write performance data to /tmp."""
    return f'-XX:-UsePerfData "-Djava.io.tmpdir={tempfile.gettempdir()}"'
