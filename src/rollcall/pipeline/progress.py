"""How far a run is: files, lines, and the share of Spark's tasks that are done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Progress:
    files_done: int
    files: int
    lines: int
    seconds: float
    share: float
    """Of the work, 0 to 1."""

    @property
    def seconds_left(self) -> float | None:
        return self.seconds * (1 - self.share) / self.share if self.share > 0 else None


Tell = Callable[[Progress], None]


@dataclass
class Watch:
    """Looks at Spark twice a second, and tells what it sees."""

    spark: SparkSession
    tell: Tell
    files: int
    weight: int
    began: float = field(default_factory=time.monotonic)
    done_files: int = 0
    done_lines: int = 0
    done_weight: int = 0

    def finished(self, files: int, weight: int, lines: int) -> None:
        self.done_files += files
        self.done_weight += weight
        self.done_lines += lines
        self._say(0, 0.0, 0)

    @contextmanager
    def batch(self, weight: int) -> Iterator[None]:
        stop = threading.Event()

        def look() -> None:
            while not stop.wait(SECONDS):
                with suppress(Py4JError):  # a stage may end while it is looked at
                    self._say(*self._reading(), weight)

        thread = threading.Thread(target=look, name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _reading(self) -> tuple[int, float]:
        """Lines and share of the stage that reads, if one does at this moment."""
        context: Any = self.spark.sparkContext
        stages = context._jsc.sc().statusStore()
        for stage in context.statusTracker().getActiveStageIds():
            found = stages.lastStageAttempt(stage)
            if found.inputRecords() and found.numTasks():
                return found.inputRecords(), found.numCompleteTasks() / found.numTasks()
        return 0, 0.0

    def _say(self, lines: int, share: float, weight: int) -> None:
        done = (self.done_weight + share * weight) / max(1, self.weight)
        spent = time.monotonic() - self.began
        self.tell(
            Progress(self.done_files, self.files, self.done_lines + lines, spent, min(1.0, done))
        )
