"""Helpers for tests of the pipeline: log lines, old files, runs, rows of tables."""

import gzip
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
from pyspark.sql import DataFrame, SparkSession

from rollcall.pipeline.aggregates import request_logs
from rollcall.pipeline.jobs.job import Job
from rollcall.pipeline.jobs.run import RunResult, run
from rollcall.pipeline.parsing import SourceSettings
from rollcall.pipeline.sources.files import LocalFileSystem
from rollcall.tables.columns import TABLES
from rollcall.tables.folder import make_tables, read_tables
from rollcall.tables.stores import LocalStore, Store
from rollcall.tables.views import select
from rollcall.tables.writers import open_writer

START = datetime(2026, 3, 1, 10)  # noqa: DTZ001 - logs have no time zone
OLD = 7200.0
"""Age in seconds of a log that is not written any more."""


@contextmanager
def spark_settings(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """Change settings of a session within the block."""
    before = {name: spark.conf.get(name, None) for name in wanted}
    for name, value in wanted.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, earlier in before.items():
            if earlier is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, earlier)


def line(number: int, **facts: Any) -> str:
    """A request line of form H; `facts` replace time, client and API."""
    seen = START + timedelta(seconds=facts.get("second", number))
    stamp = seen.strftime("%Y-%m-%d %H:%M:%S") + f",{number % 1000:03}"
    body = {
        "isForwarded": False,
        "requestHeader": {
            "requestApiKey": facts.get("api", 3),
            "requestApiVersion": facts.get("version", 12),
            "correlationId": number,
            "clientId": facts.get("client", f"app-{number % 3}"),
            "requestApiKeyName": "METADATA",
        },
        "request": {"topics": []},
        "response": {"throttleTimeMs": 0, "errorCode": facts.get("error", 0)},
        "connection": facts.get("connection", f"10.1.0.9:9092-10.1.2.3:{40000 + number % 7}-1"),
        "totalTimeMs": 1.5,
        "requestQueueTimeMs": 0.1,
        "localTimeMs": 1.0,
        "remoteTimeMs": 0.0,
        "throttleTimeMs": 0,
        "responseQueueTimeMs": 0.1,
        "sendTimeMs": 0.1,
        "securityProtocol": "PLAINTEXT",
        "principal": facts.get("principal", "User:ANONYMOUS"),
        "listener": "PLAINTEXT",
        "clientInformation": {"softwareName": "librdkafka", "softwareVersion": "2.3.0"},
    }
    text = json.dumps(body, separators=(",", ":"))
    return f"[{stamp}] DEBUG Completed request:{text} (kafka.request.logger)"


def lines(count: int, first: int = 0, **facts: Any) -> str:
    return "".join(line(number, **facts) + "\n" for number in range(first, first + count))


def put(path: Path, text: str | bytes, *, age: float = OLD) -> Path:
    """Write a file with an old modification time, compressed if it ends in `.gz`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    make_old(path, age)
    return path


def make_old(path: Path, age: float = OLD) -> None:
    when = time.time() - age
    os.utime(path, (when, when))


@contextmanager
def open_test_job(spark: SparkSession, tables: Path | Store, **fields: Any) -> Iterator[Job]:
    """A job that reads request logs of the local file system; `fields` replace those of Job."""
    store = LocalStore(tables) if isinstance(tables, Path) else tables
    make_tables(store, "tests")
    local = LocalFileSystem()
    with open_writer(store, "test") as writer:
        job = Job(
            spark=spark,
            writer=writer,
            file_system_of=lambda _: local,
            record_type=request_logs(SourceSettings()),
        )
        yield replace(job, **fields)


def read(spark: SparkSession, tables: Path | Store, *logs: Path | str, **fields: Any) -> RunResult:
    """Run the pipeline once, as the command does."""
    with open_test_job(spark, tables, **fields) as job:
        return run(job, [str(log) for log in logs], lambda _: None)


def rows(tables: Path, table: str, exclude: Sequence[str] = ()) -> list[tuple[Any, ...]]:
    """The merged rows of a table, sorted."""
    snapshot = read_tables(LocalStore(tables))
    wanted = [c.name for c in TABLES[table].columns if c.name not in exclude]
    with duckdb.connect() as connection:
        query = select(snapshot, table)
        found = connection.execute(f"SELECT {', '.join(wanted)} FROM ({query})").fetchall()
    return sorted(found, key=repr)


def sums(tables: Path) -> dict[str, list[tuple[Any, ...]]]:
    """The tables that do not depend on file names and reading times."""
    return {table: rows(tables, table) for table in ("usage", "connections", "brokers")}


def requests(tables: Path) -> int:
    """The sum of requests in the table `usage`."""
    index = [column.name for column in TABLES["usage"].columns].index("requests")
    return sum(row[index] for row in rows(tables, "usage"))


def topic_rows(spark: SparkSession, values: Sequence[str], first: int = 0) -> DataFrame:
    """Rows as Spark's Kafka source returns them, from partition 0."""
    rows = [(value.encode(), 0, first + number) for number, value in enumerate(values)]
    return spark.createDataFrame(rows, "value BINARY, partition INT, offset BIGINT")
