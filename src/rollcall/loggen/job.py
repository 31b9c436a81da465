"""Write one file per broker and hour, and the expected counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillRunning
from dataclasses import asdict, dataclass
from datetime import UTC, timedelta
from typing import Any

from pyspark.sql import SparkSession

from rollcall.errors import RollcallError
from rollcall.loggen.expected import ExpectedCounts
from rollcall.loggen.lines import generate_lines
from rollcall.loggen.plan import GenerateSettings, LogPlan, PlannedFile
from rollcall.pipeline.spark.errors import translate_errors

EXPECTED = ".expected.json"
"""Hidden, so that a run over the directory does not read it."""
UNFINISHED = ".unfinished"
POLL_SECONDS = 0.5

Progress = Callable[[int, int], None]
"""Called with the number of files written and the number of all files."""


@dataclass(frozen=True, slots=True)
class GeneratedLogs:
    files: int
    lines: int
    bytes: int
    clients: int
    brokers: int
    expected: str
    """Path of the expected counts."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def generate_logs(
    spark: SparkSession,
    settings: GenerateSettings,
    output: str,
    *,
    gzip: bool = False,
    progress: Progress | None = None,
) -> GeneratedLogs:
    """Write the logs to `output`, a new directory on any file system that Hadoop supports."""
    with translate_errors(output):
        return _generate(spark, LogPlan(settings), output, gzip, progress)


def _generate(
    spark: SparkSession, plan: LogPlan, output: str, gzip: bool, progress: Progress | None
) -> GeneratedLogs:
    directory = _OutputDirectory(spark, output)
    directory.claim()
    writer = generate_lines(spark, plan).write.option("compression", "gzip" if gzip else "none")
    _run(spark, lambda: writer.text(f"{output}/{UNFINISHED}"), len(plan.files), progress)
    suffix = ".gz" if gzip else ""
    written = sum(directory.rename_part(file, suffix) for file in plan.files)
    directory.delete(UNFINISHED)
    directory.write(
        EXPECTED, json.dumps(ExpectedCounts(plan).as_json(), indent=1, ensure_ascii=False)
    )
    return GeneratedLogs(
        files=sum(file.end > file.first for file in plan.files),
        lines=plan.settings.lines,
        bytes=written,
        clients=len(plan.fleet.clients),
        brokers=plan.settings.brokers,
        expected=f"{output}/{EXPECTED}",
    )


def _run(
    spark: SparkSession, write: Callable[[], None], files: int, progress: Progress | None
) -> None:
    """Run a Spark job in a thread and report its progress until it ends."""
    if progress is None:
        write()
        return
    tracker = spark.sparkContext.statusTracker()
    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(write)
        while True:
            try:
                future.result(timeout=POLL_SECONDS)
            except StillRunning:
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                done = [s.numCompletedTasks for s in stages if s and s.numTasks == files]
                progress(max(done, default=0), files)
            else:
                progress(files, files)
                return


class _OutputDirectory:
    """A directory on any file system that Hadoop supports."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self._root = self._path(path)
        hadoop = spark.sparkContext._jsc.hadoopConfiguration()
        system = self._root.getFileSystem(hadoop)
        local = system.getScheme() == "file"
        # the raw local file system writes no checksum files
        self._system = system.getRawFileSystem() if local else system
        self._parts: dict[int, Any] | None = None

    def claim(self) -> None:
        """Check that the directory is new or empty; remove what an interrupted run left."""
        found = self._system.listStatus(self._root) if self._system.exists(self._root) else ()
        if [status.getPath().getName() for status in found] == [UNFINISHED]:
            self.delete(UNFINISHED)
        elif found:
            raise RollcallError(
                f"{self._root.toString()} is not empty",
                hint="give a new directory for --output",
            )

    def rename_part(self, file: PlannedFile, suffix: str) -> int:
        """Rename a part file to the name that Kafka gives to a rolled log; return its size."""
        if self._parts is None:
            found = self._system.listStatus(self._path(self._root, UNFINISHED))
            names = [(status.getPath().getName(), status) for status in found]
            self._parts = {int(n.split("-")[1]): s for n, s in names if n.startswith("part-")}
        part = self._parts.get(file.number)
        if part is None or file.end == file.first:
            return 0
        target = self._path(self._root, file.name + suffix)
        self._system.mkdirs(target.getParent())
        if not self._system.rename(part.getPath(), target):
            raise RollcallError(
                f"cannot rename a part file to {target.toString()}",
                hint="check the permissions of the directory, and delete it before you try again",
            )
        # as if rolled at the end of its hour: the pipeline does not read recent files
        rolled = (file.hour + timedelta(hours=1)).replace(tzinfo=UTC)
        self._system.setTimes(target, int(rolled.timestamp() * 1000), -1)
        return int(part.getLen())

    def delete(self, name: str) -> None:
        self._system.delete(self._path(self._root, name), True)

    def write(self, name: str, text: str) -> None:
        stream = self._system.create(self._path(self._root, name), True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
