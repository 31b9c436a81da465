"""A pipeline job: the Spark session, the tables it writes to and the file systems it reads from.

This module does not import pyspark when it is loaded, because commands that only read tables use
`local_store` and must start without Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rollcall import __version__
from rollcall.pipeline.sources.files import (
    GZIP_RATIO,
    FileSystem,
    FileSystemOf,
    LocalFileSystem,
    find_logs,
)
from rollcall.pipeline.sources.paths import absolute, check_spark_path, is_local, local_path
from rollcall.tables.fresh import tables_to_write
from rollcall.tables.stores import LocalStore, Store
from rollcall.tables.writers import Writer, open_writer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from rollcall.pipeline.aggregates import RecordType

SMALL_BYTES = 8 << 20
"""Below this size, start-up and compilation take longer than reading the logs."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """What all batches of a run or a stream share."""

    spark: SparkSession
    writer: Writer
    file_system_of: FileSystemOf
    record_type: RecordType
    cluster: str | None = None
    broker: str | None = None
    sources: tuple[str, ...] = ()
    allow_rejects: bool = False


@contextmanager
def open_job(
    session: AbstractContextManager[SparkSession],
    tables: str,
    command: str,
    record_type: RecordType,
) -> Iterator[Job]:
    """Enter the session and open the tables for writing.

    A local directory is checked before the session is entered, because that takes seconds."""
    check_spark_path(str(local_store(tables).root) if is_local(tables) else tables)
    created_by = f"rollcall {__version__}"
    with ExitStack() as stack:
        if is_local(tables):
            stack.enter_context(tables_to_write(local_store(tables), created_by))
        spark = stack.enter_context(session)
        store = store_at(spark, tables)
        stack.enter_context(tables_to_write(store, created_by))
        writer = stack.enter_context(open_writer(store, command))
        yield Job(
            spark=spark, writer=writer, file_system_of=file_systems(spark), record_type=record_type
        )


def is_small(logs: Sequence[str]) -> bool:
    """Whether all logs are local and total less than `SMALL_BYTES`."""
    return check_logs(logs) < SMALL_BYTES and all(map(is_local, logs))


def check_logs(logs: Sequence[str]) -> int:
    """Estimate the uncompressed bytes of the local logs; raise SourceError if one is missing.

    Commands call this before they start Spark, to report a wrong path at once."""
    files = find_logs(file_systems(None), filter(is_local, logs))
    return sum(file.bytes * (GZIP_RATIO if file.path.endswith(".gz") else 1) for file in files)


def file_systems(spark: SparkSession | None) -> FileSystemOf:
    """Map a path to the file system that reads it; without Spark, always the local one."""
    local: FileSystem = LocalFileSystem()
    if spark is None:
        return lambda _: local
    from rollcall.pipeline.sources.hadoop import Hadoop, HadoopFileSystem

    remote = HadoopFileSystem(Hadoop(spark))
    return lambda path: local if is_local(path) else remote


def store_at(spark: SparkSession, tables: str) -> Store:
    """The store of the tables at this path."""
    if is_local(tables):
        return local_store(tables)
    from rollcall.pipeline.sources.hadoop import Hadoop, HadoopStore

    return HadoopStore.at(Hadoop(spark), tables)


def local_store(tables: str) -> LocalStore:
    return LocalStore(absolute(local_path(tables)))
