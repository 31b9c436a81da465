"""Rows to Parquet files, in a directory of their own until a manifest names them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from rollcall.pipeline.sources.paths import spark_path
from rollcall.pipeline.spark.errors import translate_errors
from rollcall.tables.cleaning import PARTS, STAGING
from rollcall.tables.columns import Table
from rollcall.tables.manifests import Part
from rollcall.tables.totals import STORED
from rollcall.tables.writers import Writer

WRITE_THREADS = 3
TIME_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt to commit. Files of an attempt that failed are not part of the tables and are
    deleted later."""

    number: int
    token: str

    @classmethod
    def begin(cls, number: int) -> Attempt:
        return cls(number, secrets.token_hex(4))

    @property
    def directory(self) -> str:
        return f"{PARTS}/{self.number:010}-{self.token}"

    @property
    def staging(self) -> str:
        return f"{STAGING}/{self.number:010}-{self.token}"


def write_parts(
    writer: Writer, attempt: Attempt, frames: Mapping[str, DataFrame]
) -> dict[str, tuple[Part, ...]]:
    """Write the rows of each table, several tables at once: Spark is idle between the stages."""

    def write(table: str) -> tuple[Part, ...]:
        frame = conform(frames[table], STORED[table])
        directory = f"{attempt.directory}/{table}"
        with translate_errors(writer.store.address):
            frame.write.parquet(spark_path(f"{writer.store.address}/{directory}"))
        return tuple(_parts(writer, directory))

    with ThreadPoolExecutor(WRITE_THREADS) as pool:
        return dict(zip(frames, pool.map(write, frames), strict=True))


def small_frame(
    spark: SparkSession, columns: Mapping[str, str], rows: Sequence[Mapping[str, object]]
) -> DataFrame:
    """A DataFrame of a few rows of the driver.

    `createDataFrame` would start a Python process on each worker, which nothing else needs."""

    def iso_time(time: object) -> str:
        assert isinstance(time, datetime)
        return time.isoformat(timespec="microseconds")

    fields = ", ".join(f"{name}: {type_}" for name, type_ in columns.items())
    options = {"mode": "FAILFAST", "timestampNTZFormat": TIME_FORMAT}
    values = F.lit(json.dumps(rows, default=iso_time))
    parsed = F.from_json(values, f"ARRAY<STRUCT<{fields}>>", options)
    return spark.range(0, 1, 1, 1).select(F.inline(parsed))


def conform(frame: DataFrame, table: Table) -> DataFrame:
    """The columns of the table in its order and types; null for columns that the frame lacks."""
    return frame.select(
        *(
            (F.col(column.name) if column.name in frame.columns else F.lit(None))
            .cast(column.type)
            .alias(column.name)
            for column in table.columns
        )
    )


def _parts(writer: Writer, directory: str) -> Iterable[Part]:
    for entry in writer.store.list(directory):
        if entry.name.endswith(".parquet"):
            yield Part(f"{directory}/{entry.name}", entry.bytes)
