"""Progress of a run: files, lines, and the share of the bytes that Spark has read.

Spark reports bytes and lines of a stage when one of its tasks ends; in local mode Hadoop reports
bytes at any time. Neither reports files: Spark reads the largest first, so the number of finished
files is estimated from the bytes. It is exact at the end of a batch.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from rollcall.pipeline.spark.config import LOCAL

INTERVAL_SECONDS = 0.5
MIN_SHARE = 0.01
"""Below this share most of the time was start-up, so the remaining time is unknown."""


@dataclass(frozen=True, slots=True)
class Progress:
    files_done: int
    files: int
    lines: int
    seconds: float
    share: float
    """Share of the bytes, 0 to 1."""
    writing: bool = False
    """All lines of a batch are read; it is being written to the tables."""

    @property
    def seconds_left(self) -> float | None:
        if self.share < MIN_SHARE or self.writing:
            return None
        return self.seconds * (1 - self.share) / self.share


ProgressCallback = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class BytesRead:
    """What Spark has read of a batch."""

    bytes: int = 0
    lines: int = 0
    finished: bool = False

    def then(self, later: BytesRead | None) -> BytesRead:
        """The next observation; None after a first one means that the reading stage has ended."""
        if self.finished or later is None:
            return BytesRead(self.bytes, self.lines, finished=self.bytes > 0)
        return later


@dataclass
class ProgressMonitor:
    """Polls Spark twice a second and calls back with the progress."""

    spark: SparkSession
    callback: ProgressCallback
    files: int
    log_bytes: int
    started: float = field(default_factory=time.monotonic)
    done_files: int = 0
    done_lines: int = 0
    done_bytes: int = 0
    _stage: int | None = None
    """The stage that reads the files, once it is known; other stages read sums."""
    _bytes_before: int | None = None
    """Bytes that this machine had read when the stage was first observed."""

    @contextmanager
    def batch(self, sizes: Sequence[int], log_bytes: int) -> Iterator[None]:
        """Report the progress of a batch of files of these sizes while the block reads it."""
        stop = threading.Event()
        self._stage = self._bytes_before = None

        def poll() -> None:
            read = BytesRead()
            while not stop.wait(INTERVAL_SECONDS):
                with suppress(Py4JError):  # the stage may end while it is queried
                    read = read.then(self._bytes_read())
                    self._report(read, sizes, log_bytes)

        thread = threading.Thread(target=poll, name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def finished(self, files: int, log_bytes: int, lines: int) -> None:
        self.done_files += files
        self.done_bytes += log_bytes
        self.done_lines += lines
        self._report(BytesRead(), (), 0)

    def _bytes_read(self) -> BytesRead | None:
        """What the stage that reads files has read; None if it is not active."""
        context: Any = self.spark.sparkContext
        stages = context._jsc.sc().statusStore()
        for stage in context.statusTracker().getActiveStageIds():
            status = stages.lastStageAttempt(stage)
            size = max(status.inputBytes(), self._local_bytes(context, status.inputBytes()))
            if self._stage is None and size:
                self._stage = stage
            if self._stage == stage:
                return BytesRead(size, status.inputRecords())
        return None

    def _local_bytes(self, context: Any, reported: int) -> int:
        """Bytes read by this process since the stage was first observed; 0 on a cluster."""
        if LOCAL.fullmatch(context.master) is None:
            return 0
        systems = context._jvm.org.apache.hadoop.fs.FileSystem.getGlobalStorageStatistics()
        read = sum(system.getLong("bytesRead") or 0 for system in systems.iterator())
        if self._bytes_before is None:
            self._bytes_before = read - reported
        return int(read - self._bytes_before)

    def _report(self, read: BytesRead, sizes: Sequence[int], log_bytes: int) -> None:
        share = 1.0 if read.finished else min(1.0, read.bytes / max(1, sum(sizes)))
        done = (self.done_bytes + share * log_bytes) / max(1, self.log_bytes)
        files = len(sizes) if read.finished else files_within(read.bytes, sizes)
        self.callback(
            Progress(
                self.done_files + files,
                self.files,
                self.done_lines + read.lines,
                time.monotonic() - self.started,
                min(1.0, done),
                read.finished,
            )
        )


def files_within(read: int, sizes: Sequence[int]) -> int:
    """How many files, largest first, are within this many bytes; never the last one."""
    ends = list(accumulate(sorted(sizes, reverse=True)))[:-1]
    return sum(end <= read for end in ends)
