"""How a run shows itself: how far it is, then what came of it."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rollcall.cli.terminal.text import count
from rollcall.text import safe_text

if TYPE_CHECKING:
    from rollcall.cli.terminal.progress import ProgressLine
    from rollcall.pipeline.jobs.batch import BatchResult
    from rollcall.pipeline.jobs.compaction import CompactionResult
    from rollcall.pipeline.jobs.progress import Progress, ProgressCallback
    from rollcall.pipeline.jobs.run import RunResult
    from rollcall.tables.manifests import Counts

COMMONEST = 3
LISTED = 10


def following(line: ProgressLine) -> ProgressCallback:
    return lambda progress: line.tell(progress_text(progress))


def progress_text(progress: Progress) -> str:
    told = [f"{progress.files_done:,} of {count(progress.files, 'file')} ({progress.share:.0%})"]
    if progress.lines and progress.seconds:  # Spark tells them when a task ends
        rate = progress.lines / progress.seconds
        told.append(f"{count(progress.lines, 'line')}, {rate:,.0f} lines/s")
    if progress.writing:
        told.append("writing the tables")
    elif progress.seconds_left is not None:
        told.append(f"{progress.seconds_left:.0f} s left")
    return ", ".join(told)


def result_json(result: RunResult, seconds: float) -> dict[str, Any]:
    return {**asdict(result.counts), **_circumstances(result, seconds)}


def roll_calls_json(result: RunResult, seconds: float) -> dict[str, Any]:
    """A line of a roll call is no request: what was understood of them is counted as skipped."""
    counts = {
        "roll_call_rows" if name == "skipped" else name: value
        for name, value in asdict(result.counts).items()
        if name != "requests"
    }
    return {**counts, **_circumstances(result, seconds)}


def _circumstances(result: RunResult, seconds: float) -> dict[str, Any]:
    return {
        "seconds": round(seconds, 3),
        "already_read": result.already_read,
        "not_read": [{"file": file.path, "reason": file.reason} for file in result.not_read],
        "unreadable": [{"file": file.path, "reason": file.reason} for file in result.unreadable],
    }


def print_result(result: RunResult, seconds: float) -> None:
    print_batch(result)
    print_end(result, seconds)


def print_end(result: RunResult, seconds: float) -> None:
    print_circumstances(result, seconds)
    if hint := nothing_found(result):
        print(hint)


def print_batch(read: RunResult | BatchResult, mark: str = "unreadable: ") -> None:
    """What became of the lines; `mark` stands before what could not be read."""
    print(counts_text(read.counts))
    print_rejects_and_losses(read, mark)
    sys.stdout.flush()


def print_roll_calls(result: RunResult, seconds: float) -> None:
    counts = result.counts
    print(
        f"{_read(counts)}: {count(counts.skipped, 'row')} of roll calls, "
        f"{counts.rejected:,} rejected"
    )
    print_rejects_and_losses(result)
    print_circumstances(result, seconds)


def print_rejects_and_losses(read: RunResult | BatchResult, mark: str = "unreadable: ") -> None:
    commonest = sorted(read.counts.reasons.items(), key=lambda each: (-each[1], each[0]))
    examples = {example.reason: example for example in read.examples}
    for reason, times in commonest[:COMMONEST]:
        print(safe_text(f"  {times:,} x {reason}"))
        if (example := examples.get(reason)) is not None:
            print(safe_text(f"    {example.file}:{example.line}: {example.piece}"))
    for file in read.unreadable:
        print(safe_text(f"{mark}{file.path}: {file.reason}"))


def print_circumstances(result: RunResult, seconds: float) -> None:
    if result.already_read:
        were = "was" if result.already_read == 1 else "were"
        print(f"{count(result.already_read, 'file')} {were} read before")
    for file in result.not_read[:LISTED]:
        print(safe_text(f"not read: {file.path}: {file.reason}"))
    if len(result.not_read) > LISTED:
        print(f"not read: {count(len(result.not_read) - LISTED, 'more file')}")
    print(f"{seconds:.1f} s")


def nothing_found(result: RunResult) -> str | None:
    """What may be wrong when there was something to read, and no request in it."""
    if result.counts.requests or result.already_read:
        return None
    if result.counts.lines:
        return (
            "no request was found: the logger kafka.request.logger writes them, at DEBUG, to "
            "kafka-request.log"
        )
    if result.not_read:
        return "nothing was read: name a file to have it read as far as it is written"
    return "nothing was read: no log is there"


def counts_text(counts: Counts) -> str:
    return (
        f"{_read(counts)}: {count(counts.requests, 'request')}, "
        f"{counts.skipped:,} skipped, {counts.rejected:,} rejected"
    )


def _read(counts: Counts) -> str:
    return f"{count(counts.lines, 'line')} of {count(counts.files, 'file')}"


def print_compacted(done: CompactionResult) -> None:
    if not done.manifests:
        print("the tables are empty: nothing to compact")
        return
    print(
        f"{count(done.manifests, 'part')} merged into one: {done.bytes_before:,} bytes before, "
        f"{done.bytes_after:,} after; the old files go with the first run an hour from now"
    )
