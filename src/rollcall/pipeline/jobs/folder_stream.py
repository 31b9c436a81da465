"""`rollcall pipeline stream LOGS_DIR`: a folder looked at again and again, by our own listing.

Spark's file source knows paths and not contents: a log that was rolled would be read twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rollcall.pipeline.errors import ChangedError
from rollcall.pipeline.jobs.compaction import compact_if_due
from rollcall.pipeline.jobs.job import Job
from rollcall.pipeline.jobs.progress import ProgressCallback
from rollcall.pipeline.jobs.run import RunResult, logs_for, make_plan, read_plan
from rollcall.pipeline.sources.files import LogFile
from rollcall.tables.cleaning import Cleaner

LOOKS_IN_VAIN = 20
"""So many in a row, and it is no log that was rolled just then: no line would ever be read."""


@dataclass
class FolderStream:
    job: Job
    wanted: Sequence[str]
    tell: ProgressCallback
    told: Callable[[RunResult], None]
    """Called after each look that found something."""
    _seen: dict[str, LogFile] = field(default_factory=dict)
    """Files whose content is in the tables, as they were then."""
    _cleaner: Cleaner = field(init=False)

    def __post_init__(self) -> None:
        self._cleaner = Cleaner(self.job.writer)

    def once(self) -> RunResult:
        """Look, and read what is new."""
        self._cleaner.clean_if_due()
        files = logs_for(self.job, self.wanted)
        fresh = [file for file in files if self._seen.get(file.path) != file]
        plan = make_plan(self.job, fresh)
        result = RunResult(not_read=tuple(plan.not_read), already_read=plan.already_read)
        try:
            for outcome in read_plan(self.job, plan, self.tell):
                result = result.with_batch(outcome)
        finally:  # what is in the tables is told, also when a log changed behind it
            if result.counts.files:
                self.told(result)
        waiting = {*(left.path for left in plan.not_read), *plan.deferred}
        self._seen = {file.path: file for file in files if file.path not in waiting}
        return result

    def until(self, stop: threading.Event, seconds: float) -> None:
        """Look every so many seconds; compact between."""
        in_vain = 0
        while not stop.is_set():
            began = self.job.writer.clock()
            try:
                self.once()
                while compact_if_due(self.job.spark, self.job.writer):
                    pass
                in_vain = 0
            except ChangedError:  # the next look will find it as it is then
                self._seen = {}
                in_vain += 1
                if in_vain == LOOKS_IN_VAIN:
                    raise
            stop.wait(max(0.0, seconds - (self.job.writer.clock() - began)))
