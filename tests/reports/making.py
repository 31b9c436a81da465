"""Tables made by hand, in the columns of `rollcall.tables`: a row is what a test names of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from rollcall.catalog import api_named, listed_ranges
from rollcall.tables.columns import FORMS, TABLES
from rollcall.tables.folder import make_tables
from rollcall.tables.manifests import Counts, Kind, Manifest, Part, file_name
from rollcall.tables.stores import LocalStore
from rollcall.tables.totals import SOURCES, TOTALS, total
from rollcall.tables.views import duckdb_type, text

DAY0 = datetime(2026, 10, 1)  # noqa: DTZ001 - the tables hold UTC without a zone
DAYS = 14

WHO: Mapping[str, Any] = {
    "cluster": "prod",
    "broker": "b1:9092",
    "listener": "PLAINTEXT",
    "principal": "User:app",
    "client_id": "app",
    "host": "10.0.0.1",
    "software_name": None,
    "software_version": None,
    "forwarded": False,
    "replica": False,
}
COUNTS = dict.fromkeys(
    ("answered", "errors", "unsupported", "deprecated", "throttled", "throttle_us", "total_us"), 0
)


def hour(day: int, of_day: int = 0) -> datetime:
    return DAY0 + timedelta(days=day, hours=of_day)


def software(told: str | None) -> dict[str, str | None]:
    """`apache-kafka-java 3.9.0` as the two columns."""
    name, _, version = (told or "").partition(" ")
    return {"software_name": name or None, "software_version": version or None}


@dataclass
class Made:
    """Collects rows; `write` makes a folder of them."""

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, table: str, **row: Any) -> None:
        self.rows.setdefault(table, []).append(row)

    def use(
        self,
        api: str,
        version: int,
        told: str | None = None,
        *,
        days: Iterable[int] = range(DAYS),
        form: str = "J",
        of_day: int = 0,
        **row: Any,
    ) -> Made:
        """A client uses a version of an API on these days."""
        for day in days:
            at = hour(day, of_day)
            self.add(
                "usage",
                **{
                    **WHO,
                    **COUNTS,
                    **software(told),
                    "hour": at,
                    "api_key": api_named(api).key,
                    "api_version": version,
                    "requests": 10,
                    "longest_us": 1000,
                    "first_seen": at,
                    "last_seen": at + timedelta(minutes=59),
                    "hours": 1 << of_day,
                    "forms": 1 << FORMS.index(form),
                    **row,
                },
            )
        return self

    def told(self, release: str, *, broker: str = "b1:9092", day: int = 0) -> Made:
        """A broker of a release answers ApiVersions in the log."""
        self._broker(day, broker, source="log", listener="PLAINTEXT", ranges=_ranges(release))
        return self

    def roll_call(self, day: float, node_id: int = 1, **row: Any) -> Made:
        row = {"host": f"b{node_id}", "port": 9092, **row}
        release = row.pop("release", None)
        ranges = _ranges(release) if release else None
        at = hour(0) + timedelta(days=day)
        self._broker(
            day,
            row["host"],
            **{"source": "roll call", "node_id": node_id, "ranges": ranges} | row,
            first_seen=at,
            last_seen=at,
        )
        return self

    def _broker(self, day: float, broker: str, **row: Any) -> None:
        at = hour(0) + timedelta(days=day)
        whole = at.replace(minute=0, second=0, microsecond=0)
        self.add(
            "brokers",
            **{
                "hour": whole,
                "cluster": "prod",
                "broker": broker,
                "answers": 1,
                "first_seen": at,
                "last_seen": at,
                **row,
            },
        )

    def connect(self, count: int, *, day: int = 0, told: str | None = None, **row: Any) -> Made:
        """So many connections within an hour, one request each unless told otherwise."""
        done = len(self.rows.get("connections", ()))
        for number in range(count):
            at = hour(day) + timedelta(seconds=number % 3600)
            self.add(
                "connections",
                **{
                    **WHO,
                    **software(told),
                    "connection": f"10.1.0.1:9092-10.0.0.1:{1024 + number}-{done + number}",
                    "day": hour(day),
                    "requests": 1,
                    "first_seen": at,
                    "last_seen": at,
                    **row,
                },
            )
        return self

    def file(self, **row: Any) -> Made:
        self.add(
            "files",
            **{"cluster": "prod", "file": "kafka-request.log", "lines": 100, "requests": 90}
            | {"skipped": 10, "rejected": 0, "levels": 0b10, "forms": 1 << 9}
            | row,
        )
        return self

    def write(self, folder: Path, *, totals: bool = False) -> Path:
        """With totals, as a compaction leaves them; without, as a batch does."""
        make_tables(LocalStore(folder), "a test")
        return self.write_more(folder, 1, totals=totals)

    def write_more(self, folder: Path, number: int, *, totals: bool = False) -> Path:
        """Another batch into tables that are there."""
        connection = duckdb.connect()
        parts = {}
        for name, rows in self.rows.items():
            part = f"parts/{number:010}/{name}/part-0.parquet"
            (folder / part).parent.mkdir(parents=True, exist_ok=True)
            columns = {it.name: duckdb_type(it.type) for it in TABLES[name].columns}
            unknown = {column for row in rows for column in row} - columns.keys()
            assert not unknown, f"{name} has no column {unknown}"
            typed = ", ".join(f"{column} {type_}" for column, type_ in columns.items())
            connection.execute(f"CREATE TABLE {name} ({typed})")
            marks = ", ".join(f"({', '.join('?' * len(columns))})" for _ in rows)
            values = [row.get(column) for row in rows for column in columns]
            connection.execute(f"INSERT INTO {name} VALUES {marks}", values)
            connection.execute(f"COPY {name} TO {text(str(folder / part))} (FORMAT parquet)")
            parts[name] = (Part(part, (folder / part).stat().st_size),)
        for name, table in TOTALS.items() if totals else ():
            if (source := SOURCES[name].name) not in self.rows:
                continue
            part = f"parts/{number:010}/{name}.parquet"
            made = f"COPY ({total(table, source)}) TO {text(str(folder / part))} (FORMAT parquet)"
            connection.execute(made)
            parts[name] = (Part(part, (folder / part).stat().st_size),)
        manifest = Manifest(number, Kind.BATCH, 0, parts=parts, counts=Counts())
        LocalStore(folder).create(file_name(number), manifest.to_json())
        return folder


def _ranges(release: str) -> list[dict[str, int]]:
    return [
        {"api_key": key, "min_version": range_.low, "max_version": range_.high}
        for key, range_ in listed_ranges(release).items()
    ]
