"""Runs of the pipeline in tests: lines, files that are old enough, tables as rows."""

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
from pyspark.sql import SparkSession

from rollcall.pipeline.aggregates import RecordType, request_logs
from rollcall.pipeline.jobs.job import Job
from rollcall.pipeline.jobs.run import RunResult, run
from rollcall.pipeline.parsing import SourceSettings
from rollcall.pipeline.sources.files import LocalFileSystem
from rollcall.tables.columns import TABLES
from rollcall.tables.folder import make_tables, read_tables
from rollcall.tables.stores import LocalStore, Store
from rollcall.tables.views import select
from rollcall.tables.writers import open_writer

START = datetime(2026, 3, 1, 10)  # noqa: DTZ001 - a log names no zone
OLD = 7200.0
"""How long ago a log was written that is not written any more, in seconds."""


@contextmanager
def spark_settings(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """Other settings of a session, for a while."""
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
    """A request line of form H; `facts` replace its times, client and API."""
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
    """A file that was written some time ago; `.gz` is compressed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    make_old(path, age)
    return path


def make_old(path: Path, age: float = OLD) -> None:
    when = time.time() - age
    os.utime(path, (when, when))


def read(
    spark: SparkSession,
    tables: Path | Store,
    *logs: Path | str,
    record_type: RecordType | None = None,
    **settings: Any,
) -> RunResult:
    """One run, as the command does it."""
    store = LocalStore(tables) if isinstance(tables, Path) else tables
    make_tables(store, "tests")
    with open_writer(store, "test") as writer:
        job = Job(
            spark=spark,
            writer=writer,
            file_system_of=lambda _: LocalFileSystem(),
            record_type=record_type or request_logs(SourceSettings()),
        )
        return run(replace(job, **settings), [str(log) for log in logs], lambda _: None)


def rows(tables: Path, table: str, leave_out: Sequence[str] = ()) -> list[tuple[Any, ...]]:
    """A table as a reader sees it, in one order."""
    snapshot = read_tables(LocalStore(tables))
    wanted = [c.name for c in TABLES[table].columns if c.name not in leave_out]
    with duckdb.connect() as connection:
        query = select(snapshot, table)
        found = connection.execute(f"SELECT {', '.join(wanted)} FROM ({query})").fetchall()
    return sorted(found, key=repr)


def sums(tables: Path) -> dict[str, list[tuple[Any, ...]]]:
    """The tables that do not depend on what files were called, or when they were read."""
    return {table: rows(tables, table) for table in ("usage", "connections", "brokers")}


def requests(tables: Path) -> int:
    """Requests in the table of usage: what is lost or doubled shows here."""
    at = [column.name for column in TABLES["usage"].columns].index("requests")
    return sum(row[at] for row in rows(tables, "usage"))
