"""What is made of lines: the steps in which request logs and roll calls differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from rollcall.pipeline.aggregates import requests as sums
from rollcall.pipeline.aggregates import roll_calls
from rollcall.pipeline.parsing.schema import SourceSettings
from rollcall.tables.columns import BROKERS, CONNECTIONS, USAGE

Step = Callable[[DataFrame], DataFrame]


@dataclass(frozen=True, slots=True)
class RecordType:
    hint: str
    """What to look at when most lines cannot be read."""
    sum_lines: Step
    """Lines to what all else is made from: it is kept, so that nothing is parsed twice."""
    count_files: Step
    count_blocks: Step
    select_rejects: Step
    """Rejects in what was made of the lines; a row may stand for several `lines`."""
    reject_lines: Step
    """Rejects in the lines themselves, which are parsed for it once more."""
    table_rows: Callable[[DataFrame], dict[str, DataFrame]]
    """The rows for each table."""

    def find_rejects(self, lines: DataFrame, sums: DataFrame) -> DataFrame:
        """A row for every reject."""
        rejects = self.select_rejects(sums)
        if rejects.where(F.col("lines") > 1).isEmpty():
            return rejects
        return self.reject_lines(lines)


def request_logs(settings: SourceSettings) -> RecordType:
    return RecordType(
        hint="is this a request log? --layout names another log4j pattern than Kafka's, and "
        "--allow-rejects goes on all the same",
        sum_lines=partial(sums.sum_lines, settings=settings),
        count_files=sums.count_files,
        count_blocks=count_blocks,
        select_rejects=sums.select_rejects,
        reject_lines=partial(sums.reject_lines, settings=settings),
        table_rows=request_table_rows,
    )


def request_table_rows(summed: DataFrame) -> dict[str, DataFrame]:
    return {
        USAGE.name: sums.count_usage(summed),
        CONNECTIONS.name: sums.count_connections(summed),
        BROKERS.name: sums.observed_brokers(summed),
    }


def count_blocks(summed: DataFrame) -> DataFrame:
    return summed.groupBy("file", "block").agg(
        F.sum("lines").alias("lines"), F.min("first_position").alias("first_position")
    )


ROLL_CALLS = RecordType(
    hint="`rollcall brokers --output FILE.jsonl` appends roll calls; logs are for `rollcall "
    "pipeline run`",
    sum_lines=roll_calls.read_roll_calls,
    count_files=roll_calls.count_files,
    count_blocks=roll_calls.count_blocks,
    select_rejects=roll_calls.select_rejects,
    reject_lines=lambda lines: roll_calls.select_rejects(roll_calls.read_roll_calls(lines)),
    table_rows=lambda told: {BROKERS.name: roll_calls.reported_brokers(told)},
)
