"""Run the pipeline and read the tables as plain Python values."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
from pyspark.sql import SparkSession

from rollcall.pipeline.jobs.folder_stream import FolderStream
from rollcall.pipeline.jobs.run import RunResult, run
from rollcall.tables.columns import TABLES
from rollcall.tables.folder import read_tables
from rollcall.tables.stores import LocalStore
from rollcall.tables.views import select
from tests.pipeline.running import open_test_job


def pipeline_run(spark: SparkSession, tables: Path, logs: Sequence[Path]) -> RunResult:
    """Read these logs; they are given explicitly, so recent ones are read as well."""
    with open_test_job(spark, tables, cluster="test", allow_rejects=True) as job:
        return run(job, [str(log) for log in logs], lambda _: None)


def stream_triggers(spark: SparkSession, tables: Path, triggers: Sequence[Sequence[Path]]) -> None:
    """Run a stream that finds some of the logs at each trigger."""
    with open_test_job(spark, tables, cluster="test", allow_rejects=True) as job:
        stream = FolderStream(job, (), lambda _: None, lambda _: None)
        for logs in triggers:
            stream.paths = [*stream.paths, *map(str, logs)]
            stream.once()


def rows_of(tables: Path, table: str) -> list[dict[str, Any]]:
    """The merged rows of a table."""
    snapshot = read_tables(LocalStore(tables))
    with duckdb.connect() as database:
        found = database.execute(select(snapshot, table))
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def sums_of(tables: Path, table: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The merged rows of a table: the values of its keys mapped to its other columns."""
    keys = TABLES[table].keys
    return {
        tuple(row[key] for key in keys): {
            name: value for name, value in row.items() if name not in keys
        }
        for row in rows_of(tables, table)
    }
