"""Kinds of input (request logs, roll calls) and the functions that turn each into table rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from rollcall.pipeline.aggregates import requests, roll_calls
from rollcall.pipeline.parsing import SourceSettings
from rollcall.tables.columns import BROKERS, CONNECTIONS, USAGE

Transform = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True, slots=True)
class RecordType:
    hint: str
    """Hint of the error when most lines are rejected."""
    sum_lines: Transform
    """LINES to the rows that all other functions take. They are persisted."""
    count_files: Transform
    count_blocks: Transform
    select_rejects: Transform
    """Rejects in the summed rows; a row may stand for several `lines`."""
    reject_lines: Transform
    """Rejects in LINES, a row each. It parses the lines again."""
    table_rows: Callable[[DataFrame], dict[str, DataFrame]]
    """Rows by table name."""

    def find_rejects(self, lines: DataFrame, sums: DataFrame) -> DataFrame:
        """A row for each rejected line."""
        rejects = self.select_rejects(sums)
        if rejects.where(F.col("lines") > 1).isEmpty():
            return rejects
        return self.reject_lines(lines)


def request_logs(settings: SourceSettings) -> RecordType:
    return RecordType(
        hint="check that this is a request log; set --layout if its log4j pattern is not Kafka's "
        "default, or --allow-rejects to continue",
        sum_lines=partial(requests.sum_lines, settings=settings),
        count_files=requests.count_files,
        count_blocks=requests.count_blocks,
        select_rejects=requests.select_rejects,
        reject_lines=partial(requests.reject_lines, settings=settings),
        table_rows=lambda sums: {
            USAGE.name: requests.count_usage(sums),
            CONNECTIONS.name: requests.count_connections(sums),
            BROKERS.name: requests.observed_brokers(sums),
        },
    )


ROLL_CALLS = RecordType(
    hint="give a file that `rollcall brokers --output FILE.jsonl` wrote; read request logs with "
    "`rollcall pipeline run`",
    sum_lines=roll_calls.read_roll_calls,
    count_files=roll_calls.count_files,
    count_blocks=roll_calls.count_blocks,
    select_rejects=roll_calls.select_rejects,
    reject_lines=lambda lines: roll_calls.select_rejects(roll_calls.read_roll_calls(lines)),
    table_rows=lambda calls: {BROKERS.name: roll_calls.reported_brokers(calls)},
)
