"""The job: the lines written as one file per broker and hour, and the truth beside them."""

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
from rollcall.loggen.lines import generate_lines
from rollcall.loggen.plan import File, GenerateSettings, Plan
from rollcall.loggen.truth import Truth
from rollcall.pipeline.spark.errors import translate_errors

TRUTH = ".fleet.json"
"""A name that begins with a dot is nobody's log: a run over the folder passes it by."""
UNFINISHED = ".unfinished"
POLL_SECONDS = 0.5

Progress = Callable[[int, int], None]
"""Told how many files are written, of how many."""


@dataclass(frozen=True, slots=True)
class Generated:
    files: int
    lines: int
    bytes: int
    clients: int
    brokers: int
    truth: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def generate_logs(
    spark: SparkSession,
    settings: GenerateSettings,
    output: str,
    *,
    gzip: bool = False,
    progress: Progress | None = None,
) -> Generated:
    """Write the logs below `output`, any folder that Hadoop can write to."""
    with translate_errors(output):
        return _generate(spark, Plan(settings), output, gzip, progress or _quiet)


def _generate(
    spark: SparkSession, plan: Plan, output: str, gzip: bool, progress: Progress
) -> Generated:
    folder = _Folder(spark, output)
    folder.claim()
    writer = generate_lines(spark, plan).write.option("compression", "gzip" if gzip else "none")
    _watch(spark, lambda: writer.text(f"{output}/{UNFINISHED}"), len(plan.files), progress)
    ending = ".gz" if gzip else ""
    written = sum(folder.put_in_place(file, ending) for file in plan.files)
    folder.drop(UNFINISHED)
    folder.write(TRUTH, json.dumps(Truth(plan).as_json(), indent=1, ensure_ascii=False))
    return Generated(
        files=sum(file.end > file.first for file in plan.files),
        lines=plan.settings.lines,
        bytes=written,
        clients=len(plan.fleet.clients),
        brokers=plan.settings.brokers,
        truth=f"{output}/{TRUTH}",
    )


def _quiet(done: int, of: int) -> None:
    """Who gives no progress wants none."""
    del done, of


def _watch(spark: SparkSession, run: Callable[[], None], files: int, progress: Progress) -> None:
    """Run a job in a thread, and tell how far it is until it ends."""
    tracker = spark.sparkContext.statusTracker()
    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(run)
        while True:
            try:
                future.result(timeout=POLL_SECONDS)
            except StillRunning:
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                done = [it.numCompletedTasks for it in stages if it and it.numTasks == files]
                progress(max(done, default=0), files)
            else:
                progress(files, files)
                return


class _Folder:
    """A folder on any file system that Hadoop knows."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        java: Any = spark.sparkContext._jvm
        self._path = java.org.apache.hadoop.fs.Path
        self._root = self._path(path)
        hadoop = spark.sparkContext._jsc.hadoopConfiguration()
        system = self._root.getFileSystem(hadoop)
        local = system.getScheme() == "file"
        # on a local disk Hadoop puts a checksum file beside each file, unless asked not to
        self._system = system.getRawFileSystem() if local else system
        self._parts: dict[int, Any] | None = None

    def claim(self) -> None:
        """A new folder, or one in which a run ended before it had a log."""
        there = self._system.listStatus(self._root) if self._system.exists(self._root) else ()
        if [it.getPath().getName() for it in there] == [UNFINISHED]:
            self.drop(UNFINISHED)
        elif there:
            raise RollcallError(
                f"{self._root.toString()} is there and not empty",
                hint="name a new folder; logs of two fleets in one folder could not be told apart",
            )

    def put_in_place(self, file: File, ending: str) -> int:
        """Give a part the name under which Kafka would have rolled it; the bytes it has."""
        if self._parts is None:
            found = self._system.listStatus(self._path(self._root, UNFINISHED))
            names = [(it.getPath().getName(), it) for it in found]
            self._parts = {int(n.split("-")[1]): it for n, it in names if n.startswith("part-")}
        part = self._parts.get(file.number)
        if part is None or file.end == file.first:
            return 0
        target = self._path(self._root, file.name + ending)
        self._system.mkdirs(target.getParent())
        if not self._system.rename(part.getPath(), target):
            raise RollcallError(
                f"could not rename a part to {target.toString()}",
                hint="check the permissions of the folder, and delete it before the next try",
            )
        # as if it had been rolled when its hour ended: a log of this minute counts as unfinished
        rolled = (file.hour + timedelta(hours=1)).replace(tzinfo=UTC)
        self._system.setTimes(target, int(rolled.timestamp() * 1000), -1)
        return int(part.getLen())

    def drop(self, name: str) -> None:
        self._system.delete(self._path(self._root, name), True)

    def write(self, name: str, text: str) -> None:
        stream = self._system.create(self._path(self._root, name), True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
