"""What must hold of every sum: no line is lost, and none is counted twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rollcall.pipeline.errors import PipelineError


def check_lines(files: Iterable[Mapping[str, Any]], lines_in: int | None = None) -> None:
    """Lines in = requests + skipped + rejected, of each file and, if the source counted, of all.

    `files` are rows of `count_files`.
    """
    total = 0
    for row in files:
        outcomes = row["requests"] + row["skipped"] + row["rejected"]
        total += row["lines"]
        if row["lines"] != outcomes:
            raise PipelineError(
                f"{row['file']}: {row['lines']} lines, but {row['requests']} requests, "
                f"{row['skipped']} skipped and {row['rejected']} rejected",
                hint="nothing was written; this is a fault of rollcall, please report it",
            )
    if lines_in is not None and total != lines_in:
        raise PipelineError(
            f"{lines_in} lines were read, but {total} were counted",
            hint="a log changed while it was read: run again when it no longer grows",
        )
