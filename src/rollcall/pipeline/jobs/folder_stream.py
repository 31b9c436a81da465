"""`rollcall pipeline stream LOGS_DIR`: list a directory repeatedly and read what is new.

Spark's file source tracks paths, not contents: it would read a rolled log twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rollcall.pipeline.errors import ChangedError
from rollcall.pipeline.jobs.compaction import compact_if_due
from rollcall.pipeline.jobs.job import Job
from rollcall.pipeline.jobs.progress import ProgressCallback
from rollcall.pipeline.jobs.run import RunResult, job_logs, make_plan, read_plan
from rollcall.pipeline.sources.files import LogFile
from rollcall.tables.cleaning import Cleaner

MAX_FAILED_TRIGGERS = 20
"""After this many failures in a row a file is not just being rolled: no line would be read."""


@dataclass
class FolderStream:
    job: Job
    paths: Sequence[str]
    on_progress: ProgressCallback
    on_result: Callable[[RunResult], None]
    """Called after each trigger that read something."""
    _seen: dict[str, LogFile] = field(default_factory=dict)
    """Files whose content is in the tables, as they were listed."""
    _cleaner: Cleaner = field(init=False)

    def __post_init__(self) -> None:
        self._cleaner = Cleaner(self.job.writer)

    def once(self) -> RunResult:
        """One trigger: list the directory and read what is new."""
        self._cleaner.clean_if_due()
        files = job_logs(self.job, self.paths)
        changed = [file for file in files if self._seen.get(file.path) != file]
        plan = make_plan(self.job, changed)
        result = RunResult(not_read=tuple(plan.not_read), already_read=plan.already_read)
        try:
            for batch in read_plan(self.job, plan, self.on_progress):
                result = result.with_batch(batch)
        finally:  # report what was committed, even if a later file changed while it was read
            if result.counts.files:
                self.on_result(result)
        unfinished = {*(file.path for file in plan.not_read), *plan.deferred}
        self._seen = {file.path: file for file in files if file.path not in unfinished}
        return result

    def until(self, stop: threading.Event, seconds: float) -> None:
        """Trigger at this interval and compact in between, until `stop` is set."""
        failures = 0
        while not stop.is_set():
            started = self.job.writer.clock()
            try:
                self.once()
                while compact_if_due(self.job.spark, self.job.writer):
                    pass
                failures = 0
            except ChangedError:  # the next trigger lists the file as it is then
                self._seen = {}
                failures += 1
                if failures == MAX_FAILED_TRIGGERS:
                    raise
            stop.wait(max(0.0, seconds - (self.job.writer.clock() - started)))
