"""What must hold of every sum: no line is lost, and none is counted twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rollcall.pipeline.errors import PipelineError


def check_lines(files: Iterable[Mapping[str, Any]]) -> None:
    """Lines in = requests + skipped + rejected, of each file; `files` are rows of `count_files`.

    That all lines of a file came in is told by its bytes (`inputs.check_whole`)."""
    for row in files:
        outcomes = row["requests"] + row["skipped"] + row["rejected"]
        if row["lines"] != outcomes:
            raise PipelineError(
                f"{row['file']}: {row['lines']} lines, but {row['requests']} requests, "
                f"{row['skipped']} skipped and {row['rejected']} rejected",
                hint="nothing was written; this is a fault of rollcall, please report it",
            )
