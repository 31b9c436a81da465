"""How far a run is: files, lines, and the share of the bytes that Spark has read.

Spark tells bytes and lines of a stage when one of its tasks ends; on one machine, Hadoop tells the
bytes at any moment. Neither tells files. Spark takes the largest first, so the number of files that
are done is told by the bytes; it is exact when a batch ends.
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

SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Progress:
    files_done: int
    files: int
    lines: int
    seconds: float
    share: float
    """Of the work, 0 to 1."""
    writing: bool = False
    """All lines of a batch are read; now it is added to the tables."""

    @property
    def seconds_left(self) -> float | None:
        """None while nobody can tell: of the first hundredth, most is starting up."""
        if self.share < 0.01 or self.writing:
            return None
        return self.seconds * (1 - self.share) / self.share


ProgressCallback = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Read:
    """What Spark has read of a batch."""

    bytes: int = 0
    lines: int = 0
    ended: bool = False

    def then(self, later: Read | None) -> Read:
        """When the stage that reads the files is over, all is read."""
        if self.ended or later is None:
            return Read(self.bytes, self.lines, ended=self.bytes > 0)
        return later


@dataclass
class Watch:
    """Looks at Spark twice a second, and tells what it sees."""

    spark: SparkSession
    tell: ProgressCallback
    files: int
    weight: int
    began: float = field(default_factory=time.monotonic)
    done_files: int = 0
    done_lines: int = 0
    done_weight: int = 0
    _stage: int | None = None
    """The one that reads the files, once it is known; what others read are sums."""
    _began_at: int | None = None
    """What had been read on this machine when the stage was first seen."""

    @contextmanager
    def batch(self, sizes: Sequence[int], weight: int) -> Iterator[None]:
        """ProgressCallback of a batch of files of these sizes while the block reads it."""
        stop = threading.Event()
        self._stage = self._began_at = None

        def look() -> None:
            so_far = Read()
            while not stop.wait(SECONDS):
                with suppress(Py4JError):  # a stage may end while it is looked at
                    so_far = so_far.then(self._reading())
                    self._say(so_far, sizes, weight)

        thread = threading.Thread(target=look, name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def finished(self, files: int, weight: int, lines: int) -> None:
        self.done_files += files
        self.done_weight += weight
        self.done_lines += lines
        self._say(Read(), (), 0)

    def _reading(self) -> Read | None:
        """What the stage that reads has read, if one does at this moment."""
        context: Any = self.spark.sparkContext
        stages = context._jsc.sc().statusStore()
        for stage in context.statusTracker().getActiveStageIds():
            found = stages.lastStageAttempt(stage)
            size = max(found.inputBytes(), self._read_here(context, found.inputBytes()))
            if self._stage is None and size:
                self._stage = stage
            if self._stage == stage:
                return Read(size, found.inputRecords())
        return None

    def _read_here(self, context: Any, told: int) -> int:
        """Bytes that this machine has read since the stage was first seen; 0 on a cluster."""
        if LOCAL.fullmatch(context.master) is None:
            return 0
        systems = context._jvm.org.apache.hadoop.fs.FileSystem.getGlobalStorageStatistics()
        numbers = [each.getLong("bytesRead") for each in systems.iterator()]
        read = sum(number or 0 for number in numbers)
        if self._began_at is None:
            self._began_at = read - told
        return int(read - self._began_at)

    def _say(self, read: Read, sizes: Sequence[int], weight: int) -> None:
        share = 1.0 if read.ended else min(1.0, read.bytes / max(1, sum(sizes)))
        done = (self.done_weight + share * weight) / max(1, self.weight)
        self.tell(
            Progress(
                self.done_files + (len(sizes) if read.ended else files_within(read.bytes, sizes)),
                self.files,
                self.done_lines + read.lines,
                time.monotonic() - self.began,
                min(1.0, done),
                read.ended,
            )
        )


def files_within(read: int, sizes: Sequence[int]) -> int:
    """How many files so many bytes are, the largest first; the last one is never certain."""
    ends = list(accumulate(sorted(sizes, reverse=True)))[:-1]
    return sum(end <= read for end in ends)
