"""Logs through the pipeline, and what is then in the tables, as plain Python values."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
from pyspark.sql import SparkSession

from rollcall.pipeline.aggregates import request_logs
from rollcall.pipeline.jobs.folder_stream import FolderStream
from rollcall.pipeline.jobs.job import Job
from rollcall.pipeline.jobs.run import RunResult, run
from rollcall.pipeline.parsing import SourceSettings
from rollcall.pipeline.sources.files import LocalFileSystem
from rollcall.tables.columns import TABLES
from rollcall.tables.folder import make_tables, read_tables
from rollcall.tables.stores import LocalStore
from rollcall.tables.views import select
from rollcall.tables.writers import open_writer


@contextmanager
def a_job(spark: SparkSession, folder: Path) -> Iterator[Job]:
    store = LocalStore(folder)
    make_tables(store, "tests")
    here = LocalFileSystem()
    with open_writer(store, "a test") as writer:
        yield Job(
            spark=spark,
            writer=writer,
            file_system_of=lambda _: here,
            record_type=request_logs(SourceSettings()),
            cluster="test",
            allow_rejects=True,
        )


def pipeline_run(spark: SparkSession, folder: Path, logs: Sequence[Path]) -> RunResult:
    """Every log is named, so that one which was just written is read, too."""
    with a_job(spark, folder) as job:
        return run(job, [str(log) for log in logs], lambda _: None)


def stream_looks(spark: SparkSession, folder: Path, looks: Sequence[Sequence[Path]]) -> None:
    """A stream that finds some of the logs at each look."""
    with a_job(spark, folder) as job:
        stream = FolderStream(job, (), lambda _: None, lambda _: None)
        for logs in looks:
            stream.wanted = [*stream.wanted, *map(str, logs)]
            stream.once()


def rows_of(folder: Path, table: str) -> list[dict[str, Any]]:
    """The merged rows of a table."""
    snapshot = read_tables(LocalStore(folder))
    with duckdb.connect() as database:
        found = database.execute(select(snapshot, table))
        names = [column[0] for column in found.description]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def sums_of(folder: Path, table: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The merged rows of a table: under the values of its keys, its other columns."""
    keys = TABLES[table].keys
    return {
        tuple(row[key] for key in keys): {
            name: value for name, value in row.items() if name not in keys
        }
        for row in rows_of(folder, table)
    }
