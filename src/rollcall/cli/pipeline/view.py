"""Progress and results of the pipeline as text and JSON."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rollcall.cli.terminal.output import print_warning
from rollcall.cli.terminal.text import count
from rollcall.text import safe_text

if TYPE_CHECKING:
    from rollcall.pipeline.jobs.batch import BatchResult
    from rollcall.pipeline.jobs.compaction import CompactionResult
    from rollcall.pipeline.jobs.progress import Progress
    from rollcall.pipeline.jobs.run import RunResult
    from rollcall.tables.manifests import Counts

MAX_REASONS = 3
MAX_FILES = 10


def progress_text(progress: Progress) -> str:
    parts = [f"{progress.files_done:,} of {count(progress.files, 'file')} ({progress.share:.0%})"]
    if progress.lines and progress.seconds:  # unknown until the first Spark task has ended
        rate = progress.lines / progress.seconds
        parts.append(f"{count(progress.lines, 'line')}, {rate:,.0f} lines/s")
    if progress.writing:
        parts.append("writing the tables")
    elif progress.seconds_left is not None:
        parts.append(f"{progress.seconds_left:.0f} s left")
    return ", ".join(parts)


def result_json(result: RunResult, seconds: float) -> dict[str, Any]:
    return {**asdict(result.counts), **_files_json(result, seconds)}


def roll_calls_json(result: RunResult, seconds: float) -> dict[str, Any]:
    """Lines of roll calls are not requests; the counts hold them as `skipped`."""
    counts = {
        "roll_call_rows" if name == "skipped" else name: value
        for name, value in asdict(result.counts).items()
        if name != "requests"
    }
    return {**counts, **_files_json(result, seconds)}


def _files_json(result: RunResult, seconds: float) -> dict[str, Any]:
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
    _print_files(result, seconds)
    if text := nothing_read_text(result):
        print_warning(text)


def print_batch(result: RunResult | BatchResult, label: str = "unreadable: ") -> None:
    """Counts, rejects and unreadable files; `label` precedes each unreadable file."""
    print(counts_text(result.counts))
    _print_rejects(result, label)
    sys.stdout.flush()


def print_roll_calls(result: RunResult, seconds: float) -> None:
    counts = result.counts
    rows = count(counts.skipped, "row")
    print(f"{_input_text(counts)}: {rows} of roll calls, {counts.rejected:,} rejected")
    _print_rejects(result)
    _print_files(result, seconds)


def _print_rejects(result: RunResult | BatchResult, label: str = "unreadable: ") -> None:
    """The most frequent reasons with an example each."""
    reasons = sorted(result.counts.reasons.items(), key=lambda item: (-item[1], item[0]))
    examples = {example.reason: example for example in result.examples}
    for reason, number in reasons[:MAX_REASONS]:
        print(safe_text(f"  {number:,} x {reason}"))
        if (example := examples.get(reason)) is not None:
            print(safe_text(f"    {example.file}:{example.line}: {example.piece}"))
    for file in result.unreadable:
        print(safe_text(f"{label}{file.path}: {file.reason}"))


def _print_files(result: RunResult, seconds: float) -> None:
    if result.already_read:
        print(f"{count(result.already_read, 'file')} already read")
    for file in result.not_read[:MAX_FILES]:
        print(safe_text(f"not read: {file.path}: {file.reason}"))
    if len(result.not_read) > MAX_FILES:
        print(f"not read: {count(len(result.not_read) - MAX_FILES, 'more file')}")
    print(f"{seconds:.1f} s")


def nothing_read_text(result: RunResult) -> str | None:
    """Why a run found no request; None if it found one, or if all files were read before."""
    if result.counts.requests or result.already_read:
        return None
    if result.counts.lines:
        return "no request found; set the logger kafka.request.logger to DEBUG"
    if result.not_read:
        return "nothing was read; name a file explicitly to read it while it is still written"
    return "nothing was read; there are no log files"


def counts_text(counts: Counts) -> str:
    return (
        f"{_input_text(counts)}: {count(counts.requests, 'request')}, "
        f"{counts.skipped:,} skipped, {counts.rejected:,} rejected"
    )


def _input_text(counts: Counts) -> str:
    return f"{count(counts.lines, 'line')} of {count(counts.files, 'file')}"


def print_compacted(result: CompactionResult) -> None:
    if not result.manifests:
        print("the tables are empty, nothing to compact")
        return
    print(
        f"{count(result.manifests, 'part')} merged into one: {result.bytes_before:,} bytes before, "
        f"{result.bytes_after:,} bytes after; old files are deleted by a run in an hour or later"
    )
