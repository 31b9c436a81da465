"""`rollcall pipeline run`: read the logs that exist now, in as many batches as they need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from rollcall.pipeline.errors import ChangedError, NotALogError
from rollcall.pipeline.jobs.batch import BatchResult, RejectExample, read_batch
from rollcall.pipeline.jobs.job import Job
from rollcall.pipeline.jobs.progress import ProgressCallback, ProgressMonitor
from rollcall.pipeline.sources.files import LogFile, find_logs
from rollcall.pipeline.sources.planning import (
    NOT_A_LOG,
    Planner,
    ReadPlan,
    UnreadFile,
    known_files,
)
from rollcall.tables.cleaning import clean
from rollcall.tables.folder import MARK
from rollcall.tables.fresh import OWN_NAMES
from rollcall.tables.manifests import Counts

MAX_ATTEMPTS = 3


@dataclass(frozen=True)
class RunResult:
    counts: Counts = field(default_factory=Counts)
    examples: tuple[RejectExample, ...] = ()
    unreadable: tuple[UnreadFile, ...] = ()
    """Files of which a part could not be read."""
    not_read: tuple[UnreadFile, ...] = ()
    """Files that were left for a later run, or are not logs."""
    already_read: int = 0

    def with_batch(self, batch: BatchResult) -> RunResult:
        examples = {example.reason: example for example in (*batch.examples, *self.examples)}
        return replace(
            self,
            counts=self.counts + batch.counts,
            examples=tuple(examples.values()),
            unreadable=self.unreadable + batch.unreadable,
            already_read=self.already_read + batch.already_read,
        )


def run(job: Job, paths: Sequence[str], on_progress: ProgressCallback) -> RunResult:
    """Read what is new in these logs.

    Plans again if a file changed while it was read, or if the plan deferred a file."""
    clean(job.writer)
    result = RunResult()
    for attempts_left in range(MAX_ATTEMPTS - 1, -1, -1):
        plan = make_plan(job, job_logs(job, paths))
        # files that an earlier attempt of this run has read are not "already read"
        already_read = max(0, plan.already_read - result.counts.files)
        result = replace(result, not_read=tuple(plan.not_read), already_read=already_read)
        check_any_log(plan, result)
        try:
            for batch in read_plan(job, plan, on_progress):
                result = result.with_batch(batch)
        except ChangedError:
            if not attempts_left:
                raise
        else:
            if not plan.deferred:
                break
    return result


def job_logs(job: Job, paths: Iterable[str]) -> list[LogFile]:
    """The log files of these paths, without the files of tables in the same directory."""
    found = find_logs(job.file_system_of, paths)
    marks = (file.path.removesuffix(MARK) for file in found if file.path.endswith(f"/{MARK}"))
    own = {f"{tables}{name}" for tables in marks for name in OWN_NAMES}
    inside = tuple(f"{name}/" for name in own)
    return [
        file
        for file in found
        if file.explicit or not (file.path in own or file.path.startswith(inside))
    ]


def make_plan(job: Job, files: Iterable[LogFile]) -> ReadPlan:
    planner = Planner(job.file_system_of, job.writer.clock())
    contents = planner.inspect(files)
    return planner.plan(contents, known_files(job.spark, job.writer.snapshot(), contents))


def read_plan(job: Job, plan: ReadPlan, on_progress: ProgressCallback) -> Iterator[BatchResult]:
    """Read the plan batch by batch; each batch is committed when its result is yielded."""
    total = sum(read.log_bytes for read in plan.reads)
    monitor = ProgressMonitor(job.spark, on_progress, len(plan.reads), total)
    for batch in plan.batches():
        log_bytes = sum(read.log_bytes for read in batch)
        with monitor.batch([read.stored_bytes for read in batch], log_bytes):
            result = read_batch(job, batch)
        monitor.finished(len(batch), log_bytes, result.counts.lines)
        yield result


def check_any_log(plan: ReadPlan, result: RunResult) -> None:
    """Raise NotALogError if none of the given files is a log."""
    others = [file for file in plan.not_read if file.reason.startswith(NOT_A_LOG)]
    if not others or plan.reads or plan.already_read or result.counts.files:
        return
    if len(others) == len(plan.not_read):
        raise NotALogError(
            f"{others[0].path} is {others[0].reason}",
            hint="give request logs, plain or gzip, in UTF-8; decompress other formats first",
        )
