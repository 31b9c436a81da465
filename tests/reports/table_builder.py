"""Builds tables from rows; a test names the columns that matter, the others have defaults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from rollcall.catalog import api_names, listed_ranges
from rollcall.tables.columns import FORMS, TABLES
from rollcall.tables.folder import make_tables
from rollcall.tables.manifests import Counts, Kind, Manifest, Part, file_name
from rollcall.tables.stores import LocalStore
from rollcall.tables.totals import SOURCES, TOTALS, total
from rollcall.tables.views import duckdb_type, text

DAY0 = datetime(2026, 10, 1)  # noqa: DTZ001 - the tables hold UTC without a zone
DAYS = 14

IDENTITY: Mapping[str, Any] = {
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


def software_columns(software: str | None) -> dict[str, str | None]:
    """`apache-kafka-java 3.9.0` as the two columns."""
    name, _, version = (software or "").partition(" ")
    return {"software_name": name or None, "software_version": version or None}


@dataclass
class TableBuilder:
    """Collects rows; `write` writes them to a directory."""

    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, table: str, **row: Any) -> None:
        self.rows.setdefault(table, []).append(row)

    def use(
        self,
        api: str,
        version: int,
        software: str | None = None,
        *,
        days: Iterable[int] = range(DAYS),
        form: str = "J",
        of_day: int = 0,
        **row: Any,
    ) -> TableBuilder:
        """A client uses a version of an API on these days."""
        for day in days:
            time = hour(day, of_day)
            self.add(
                "usage",
                **{
                    **IDENTITY,
                    **COUNTS,
                    **software_columns(software),
                    "hour": time,
                    "api_key": api_names()[api],
                    "api_version": version,
                    "requests": 10,
                    "longest_us": 1000,
                    "first_seen": time,
                    "last_seen": time + timedelta(minutes=59),
                    "hours": 1 << of_day,
                    "forms": 1 << FORMS.index(form),
                    **row,
                },
            )
        return self

    def broker_reports(
        self, release: str, *, broker: str = "b1:9092", day: int = 0
    ) -> TableBuilder:
        """The log has an ApiVersions response of a broker of this release."""
        self._broker(day, broker, source="log", listener="PLAINTEXT", ranges=_ranges(release))
        return self

    def roll_call(self, day: float, node_id: int | None = 1, **row: Any) -> TableBuilder:
        row = {"host": f"b{node_id}", "port": 9092, **row}
        release = row.pop("release", None)
        ranges = _ranges(release) if release else None
        time = hour(0) + timedelta(days=day)
        self._broker(
            day,
            row["host"],
            **{"source": "roll call", "node_id": node_id, "ranges": ranges} | row,
            first_seen=time,
            last_seen=time,
        )
        return self

    def _broker(self, day: float, broker: str, **row: Any) -> None:
        time = hour(0) + timedelta(days=day)
        self.add(
            "brokers",
            **{
                "hour": time.replace(minute=0, second=0, microsecond=0),
                "cluster": "prod",
                "broker": broker,
                "answers": 1,
                "first_seen": time,
                "last_seen": time,
                **row,
            },
        )

    def connect(
        self, count: int, *, day: int = 0, software: str | None = None, **row: Any
    ) -> TableBuilder:
        """A client opens connections within an hour and sends one request on each."""
        first = len(self.rows.get("connections", ()))
        for number in range(count):
            time = hour(day) + timedelta(seconds=number % 3600)
            self.add(
                "connections",
                **{
                    **IDENTITY,
                    **software_columns(software),
                    "connection": f"10.1.0.1:9092-10.0.0.1:{1024 + number}-{first + number}",
                    "day": hour(day),
                    "requests": 1,
                    "first_seen": time,
                    "last_seen": time,
                    **row,
                },
            )
        return self

    def file(self, **row: Any) -> TableBuilder:
        """A log file was read."""
        self.add(
            "files",
            **{"cluster": "prod", "file": "kafka-request.log", "lines": 100, "requests": 90}
            | {"skipped": 10, "rejected": 0, "levels": 0b10, "forms": 1 << 9}
            | row,
        )
        return self

    def write(self, directory: Path, *, totals: bool = False) -> Path:
        """Create the tables with one batch; with totals, as a compaction stores them."""
        make_tables(LocalStore(directory), "a test")
        return self.write_batch(directory, 1, totals=totals)

    def write_batch(self, directory: Path, number: int, *, totals: bool = False) -> Path:
        """Add a batch to existing tables."""
        connection = duckdb.connect()
        parts = {}
        for name, rows in self.rows.items():
            part = f"parts/{number:010}/{name}/part-0.parquet"
            (directory / part).parent.mkdir(parents=True, exist_ok=True)
            columns = {column.name: duckdb_type(column.type) for column in TABLES[name].columns}
            unknown = {column for row in rows for column in row} - columns.keys()
            assert not unknown, f"{name} has no column {unknown}"
            typed = ", ".join(f"{column} {type_}" for column, type_ in columns.items())
            connection.execute(f"CREATE TABLE {name} ({typed})")
            marks = ", ".join(f"({', '.join('?' * len(columns))})" for _ in rows)
            values = [row.get(column) for row in rows for column in columns]
            connection.execute(f"INSERT INTO {name} VALUES {marks}", values)
            connection.execute(f"COPY {name} TO {text(str(directory / part))} (FORMAT parquet)")
            parts[name] = (Part(part, (directory / part).stat().st_size),)
        for name, table in TOTALS.items() if totals else ():
            if (source := SOURCES[name].name) not in self.rows:
                continue
            part = f"parts/{number:010}/{name}.parquet"
            target = text(str(directory / part))
            connection.execute(f"COPY ({total(table, source)}) TO {target} (FORMAT parquet)")
            parts[name] = (Part(part, (directory / part).stat().st_size),)
        manifest = Manifest(number, Kind.BATCH, 0, parts=parts, counts=Counts())
        LocalStore(directory).create(file_name(number), manifest.to_json())
        return directory


def _ranges(release: str) -> list[dict[str, int]]:
    return [
        {"api_key": key, "min_version": range_.low, "max_version": range_.high}
        for key, range_ in listed_ranges(release).items()
    ]
