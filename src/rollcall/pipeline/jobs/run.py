"""`rollcall pipeline run`: logs that are there now, once, in as many batches as they need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from rollcall.pipeline.errors import ChangedError, NotALogError
from rollcall.pipeline.jobs.batch import BatchResult, Example, read_batch
from rollcall.pipeline.jobs.job import Job
from rollcall.pipeline.jobs.progress import ProgressCallback, Watch
from rollcall.pipeline.sources.files import LogFile, find_logs
from rollcall.pipeline.sources.known import known_files
from rollcall.pipeline.sources.planning import Plan, Planner, UnreadFile
from rollcall.tables.cleaning import clean
from rollcall.tables.folder import MARK
from rollcall.tables.fresh import OWN_NAMES
from rollcall.tables.manifests import Counts

TRIES = 3


@dataclass(frozen=True)
class RunResult:
    counts: Counts = field(default_factory=Counts)
    examples: tuple[Example, ...] = ()
    unreadable: tuple[UnreadFile, ...] = ()
    not_read: tuple[UnreadFile, ...] = ()
    already_read: int = 0

    def with_batch(self, outcome: BatchResult) -> RunResult:
        examples = {example.reason: example for example in (*outcome.examples, *self.examples)}
        return replace(
            self,
            counts=self.counts + outcome.counts,
            examples=tuple(examples.values()),
            unreadable=self.unreadable + outcome.unreadable,
            already_read=self.already_read + outcome.already_read,
        )


def logs_for(job: Job, wanted: Iterable[str]) -> list[LogFile]:
    """Without tables, these or others, which may lie in the folder of the logs."""
    found = find_logs(job.file_system_of, wanted)
    marks = (file.path.removesuffix(MARK) for file in found if file.path.endswith(f"/{MARK}"))
    own = {f"{tables}{name}" for tables in marks for name in OWN_NAMES}
    inside = tuple(f"{name}/" for name in own)
    return [
        file
        for file in found
        if file.named or not (file.path in own or file.path.startswith(inside))
    ]


def run(job: Job, wanted: Sequence[str], tell: ProgressCallback) -> RunResult:
    """Read what is new in these logs. A file that changes under our hands is looked at again, and
    one that may hold more than another that was read."""
    clean(job.writer)
    result = RunResult()
    for tries_left in range(TRIES - 1, -1, -1):
        plan = make_plan(job, logs_for(job, wanted))
        # what an earlier try has read counts as read, and not as read before
        already = max(0, plan.already_read - result.counts.files)
        result = replace(result, not_read=tuple(plan.not_read), already_read=already)
        refuse_if_no_logs(plan, result)
        try:
            for outcome in read_plan(job, plan, tell):
                result = result.with_batch(outcome)
        except ChangedError:
            if not tries_left:
                raise
        else:
            if not plan.deferred:
                break
    return result


def make_plan(job: Job, files: Iterable[LogFile]) -> Plan:
    planner = Planner(job.file_system_of, job.writer.clock())
    contents = planner.look(files)
    return planner.plan(contents, known_files(job.spark, job.writer.snapshot(), contents))


def read_plan(job: Job, plan: Plan, tell: ProgressCallback) -> Iterator[BatchResult]:
    """Batch after batch; what came out of each is in the tables when it is told."""
    weight = sum(reading.weight for reading in plan.readings)
    watch = Watch(job.spark, tell, len(plan.readings), weight)
    for batch in plan.batches():
        heavy = sum(reading.weight for reading in batch)
        with watch.batch([reading.stored for reading in batch], heavy):
            outcome = read_batch(job, batch)
        watch.finished(len(batch), heavy, outcome.counts.lines)
        yield outcome


def refuse_if_no_logs(plan: Plan, result: RunResult) -> None:
    """Nothing that was given is a log: that is a mistake, and not an empty result."""
    strange = [left for left in plan.not_read if left.reason.startswith("not a log")]
    if (
        strange
        and len(strange) == len(plan.not_read)
        and not plan.readings
        and not plan.already_read
    ):
        if result.counts.files:
            return
        raise NotALogError(
            f"{strange[0].path} is {strange[0].reason}",
            hint="give it request logs, plain or gzip, in UTF-8; unpack other formats first",
        )
