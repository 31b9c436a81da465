"""What a Spark session is started with: made for jobs of any size, quick for the small ones."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from rollcall.errors import ConfigError
from rollcall.pipeline.spark.class_archive import Archive, archive_in

LOCAL = re.compile(r"local(\[.*\])?")

TIME_ZONE = "spark.sql.session.timeZone"
ALWAYS = {
    TIME_ZONE: "UTC",
    "spark.sql.catalogImplementation": "in-memory",
    # paths are listed by us; Spark should not start a job to list them again
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    # parts need no second move: the manifest is the commit
    "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    "spark.hadoop.parquet.enable.summary-metadata": "false",
    # Hadoop would read 4 KB at a time, which is two lines
    "spark.hadoop.io.file.buffer.size": "65536",
    # a NameNode that does not answer would be waited for 15 minutes, at every question anew
    "spark.hadoop.ipc.client.connect.max.retries.on.timeouts": "1",
    "spark.hadoop.ipc.client.rpc-timeout.ms": "60000",
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
SMALL_JOB = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    # to compile Java for a few thousand lines takes longer than to do without
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
SMALL_JOB_JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
LARGE_JOB_JVM = "-XX:+UseParallelGC"
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

    def __post_init__(self) -> None:
        if self.conf.get(TIME_ZONE, ALWAYS[TIME_ZONE]) != ALWAYS[TIME_ZONE]:
            raise ConfigError(
                f"{TIME_ZONE} cannot be set: times in the tables are UTC, and so Spark's are",
                hint="--time-zone says in which zone the brokers wrote their logs",
            )

    @property
    def is_local(self) -> bool:
        return LOCAL.fullmatch(self.master) is not None

    def with_cache(self) -> Self:
        """Without an archive where there can be no folder for it: the user of a service may have
        no home."""
        try:
            if self.cache is not None:
                self.cache.mkdir(parents=True, exist_ok=True)
        except OSError:
            return replace(self, cache=None)
        return self

    def settings(self) -> dict[str, str]:
        chosen = dict(ALWAYS)
        if self.is_local:
            chosen |= ON_ONE_MACHINE
            chosen |= SMALL_JOB if self.small else {}
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
        flags = SMALL_JOB_JVM if self.small else LARGE_JOB_JVM
        # Java does not start with two collectors of garbage
        return COLLECTOR.sub("", flags).strip() if COLLECTOR.search(theirs) else flags

    @property
    def archive(self) -> Archive | None:
        return archive_in(self.cache, self.java) if self.cache is not None else None

    def _archive_flags(self) -> str:
        archive = self.archive
        return archive.flags if archive is not None else ""


def _scratch_flags() -> str:
    """Java knows no TMPDIR: it is told where temporary files belong."""
    return f'-XX:-UsePerfData "-Djava.io.tmpdir={tempfile.gettempdir()}"'
