"""Sums to Parquet files, in a folder of their own until a manifest names them."""

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

AT_ONCE = 3
TIME_FORMAT = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A try to add to the tables. If it dies, its folder is not part of them, and goes later."""

    number: int
    token: str

    @classmethod
    def begin(cls, number: int) -> Attempt:
        return cls(number, secrets.token_hex(4))

    @property
    def folder(self) -> str:
        return f"{PARTS}/{self.number:010}-{self.token}"

    @property
    def staging(self) -> str:
        return f"{STAGING}/{self.number:010}-{self.token}"


def write_parts(
    writer: Writer, attempt: Attempt, frames: Mapping[str, DataFrame]
) -> dict[str, tuple[Part, ...]]:
    """Write each table's rows, several tables at once: Spark is idle between the steps of one."""

    def write(table: str) -> tuple[Part, ...]:
        frame = conform(frames[table], STORED[table])
        folder = f"{attempt.folder}/{table}"
        with translate_errors(writer.store.address):
            frame.write.parquet(spark_path(f"{writer.store.address}/{folder}"))
        return tuple(_parts(writer, folder))

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(frames, pool.map(write, frames), strict=True))


def small_frame(
    spark: SparkSession, columns: Mapping[str, str], rows: Sequence[Mapping[str, object]]
) -> DataFrame:
    """A few values of the driver as rows. `createDataFrame` would start Python on the workers,
    which need none otherwise."""

    def text(time: object) -> str:
        assert isinstance(time, datetime)
        return time.isoformat(timespec="microseconds")

    fields = ", ".join(f"{name}: {type_}" for name, type_ in columns.items())
    how = {"mode": "FAILFAST", "timestampNTZFormat": TIME_FORMAT}
    told = F.lit(json.dumps(rows, default=text))
    one = spark.range(0, 1, 1, 1)
    return one.select(F.inline(F.from_json(told, f"ARRAY<STRUCT<{fields}>>", how)))


def conform(frame: DataFrame, table: Table) -> DataFrame:
    """The columns of the table, in its order and types; null where the frame has none."""
    return frame.select(
        *(
            (F.col(column.name) if column.name in frame.columns else F.lit(None))
            .cast(column.type)
            .alias(column.name)
            for column in table.columns
        )
    )


def _parts(writer: Writer, folder: str) -> Iterable[Part]:
    for entry in writer.store.list(folder):
        if entry.name.endswith(".parquet"):
            yield Part(f"{folder}/{entry.name}", entry.bytes)
