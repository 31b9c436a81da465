"""DuckDB on the files of the tables, restricted to the filters of one report.

Most rows come from the totals that compactions store. Partial sums of the same key in several
files are read as they are, because sums of partial sums are sums. Later queries run on small
in-memory tables that the first ones create. DuckDB releases the GIL, so two queries can run at the
same time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import MAXYEAR, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rollcall.errors import RollcallError
from rollcall.reports.query.filters import Filters, in_utc, like
from rollcall.tables.columns import Table
from rollcall.tables.errors import TablesError
from rollcall.tables.folder import Snapshot, read_tables
from rollcall.tables.manifests import Manifest
from rollcall.tables.stores import LocalStore
from rollcall.tables.totals import (
    BROKER_HOURS,
    BROKER_LISTS,
    DAY_USAGE,
    MONTH_CONNECTIONS,
    MONTH_USAGE,
    SOURCES,
    total,
)
from rollcall.tables.views import merge, select, text

if TYPE_CHECKING:
    import duckdb

Result = TypeVar("Result")
Span = tuple[datetime, datetime]
DAYS_AS_MONTHS = """
SELECT * EXCLUDE (day), date_trunc('month', day) AS month,
  CAST(1 AS INT) << (datepart('day', day) - 1) AS days
FROM {days}
"""


@dataclass
class Reader:
    """Queries on one snapshot of the tables with one set of filters."""

    snapshot: Snapshot
    filters: Filters
    connection: duckdb.DuckDBPyConnection
    _created: set[str] = field(default_factory=set)
    _background: ThreadPoolExecutor = field(
        default_factory=partial(ThreadPoolExecutor, max_workers=1)
    )

    def in_background(self, work: Callable[[Reader], Result]) -> Future[Result]:
        """Run queries on the same tables in another thread."""
        other = replace(self, connection=self.connection.cursor())
        return self._background.submit(work, other)

    def is_new(self, table: str) -> bool:
        """Whether a temporary table is to be created: true for the first caller only."""
        if table in self._created:
            return False
        self._created.add(table)
        return True

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with _readable_errors(self.snapshot.store.address):
            return self.connection.execute(sql, list(parameters)).fetchall()

    def run(self, sql: str) -> None:
        with _readable_errors(self.snapshot.store.address):
            self.connection.execute(sql)

    def table(self, name: str) -> str:
        """SQL for all rows of a table; a key may have several partial sums."""
        return _read(self.snapshot.addresses(name)) or f"({select(self.snapshot, name)})"

    def broker_hours(self) -> str:
        """SQL for sums per hour and broker; rows that overlap the window count."""
        rows = [*self._stored(BROKER_HOURS), *self._computed(BROKER_HOURS)]
        return f"(FROM {self._union(BROKER_HOURS, rows)} WHERE {self.window()})"

    def broker_lists(self) -> str:
        """SQL for the API ranges that brokers reported, inside and outside the window."""
        rows = [*self._stored(BROKER_LISTS), *self._computed(BROKER_LISTS)]
        return f"(FROM {self._union(BROKER_LISTS, rows)} WHERE {self.cluster()})"

    def day_usage(self) -> str:
        """SQL for usage per day and client in the window."""
        return self._union(DAY_USAGE, [*self._days(), *self._computed(DAY_USAGE, self.window())])

    def month_usage(self) -> str:
        """SQL for usage per month and client in the window.

        A month that is only partly in the window is read by day."""
        window, partial_months = self.window(), self._partial_spans("month")
        queries = [
            *self._stored(MONTH_USAGE, f"{window} AND NOT ({_within(partial_months, 'month')})"),
            *self._computed(MONTH_USAGE, window),
        ]
        if partial_months and (days := self._days(_within(partial_months, "day"))):
            queries.append(DAYS_AS_MONTHS.format(days=self._union(DAY_USAGE, days)))
        return self._union(MONTH_USAGE, queries)

    @property
    def has_partial_months(self) -> bool:
        """Whether a month is only partly in the window."""
        return bool(self._partial_spans("month"))

    def whole_months(self) -> str:
        """SQL for usage of all months that overlap the window, each as a whole.

        It has every client in the window and may have more. Empty if the months are not stored
        as totals and would have to be computed."""
        if self._computed(MONTH_USAGE):
            return ""
        return self._union(MONTH_USAGE, self._stored(MONTH_USAGE, self.window()))

    def month_connections(self) -> str:
        """SQL for older connections per month and client in the window."""
        window, partial_months = self.window(), self._partial_spans("month")
        whole = f"{window} AND NOT ({_within(partial_months, 'month')})"
        queries = [
            *self._stored(MONTH_CONNECTIONS, whole),
            *self._partly(MONTH_CONNECTIONS, partial_months),
            *self._computed(MONTH_CONNECTIONS, window),
        ]
        return self._union(MONTH_CONNECTIONS, queries)

    def _days(self, condition: str = "true") -> list[str]:
        """Stored totals of whole days, and computed ones of days partly in the window."""
        partial_days = self._partial_spans("day")
        whole = f"{self.window()} AND ({condition}) AND NOT ({_within(partial_days, 'day')})"
        return [*self._stored(DAY_USAGE, whole), *self._partly(DAY_USAGE, partial_days)]

    def _stored(self, table: Table, where: str = "true") -> list[str]:
        """Totals that compactions stored."""
        files = self._files(self._with_totals(table), table)
        return [f"(FROM {files} WHERE {where})"] if files else []

    def _partly(self, table: Table, spans: Sequence[Span]) -> list[str]:
        """Totals of days or months partly in the window, computed from the rows that are in it."""
        files = self._files(self._with_totals(table), SOURCES[table.name]) if spans else ""
        where = f"{self.window()} AND ({_within(spans, 'hour')})"
        return [total(table, f"(FROM {files} WHERE {where})")] if files else []

    def _computed(self, table: Table, where: str = "true") -> list[str]:
        """Totals of files without stored totals."""
        with_totals, source = self._with_totals(table), SOURCES[table.name]
        others = [manifest for manifest in self.snapshot.live if manifest not in with_totals]
        files = self._files(others, source)
        if not files:
            return []
        rows = f"(FROM {files} WHERE {where})"
        if len(others) > 1 and _has_rate(table):  # an hour may be in several files
            rows = f"({merge(source, rows)})"
        return [total(table, rows)]

    def _with_totals(self, table: Table) -> list[Manifest]:
        """Manifests whose stored totals can be used.

        For rates only the first one: everything before it was merged into it, but later ones may
        hold parts of the same hour."""
        live = [manifest for manifest in self.snapshot.live if table.name in manifest.parts]
        return live[:1] if _has_rate(table) else live

    def _union(self, table: Table, queries: Sequence[str]) -> str:
        source = SOURCES[table.name].name
        or_empty = queries or [total(table, f"({select(self.snapshot, source)})")]
        return f"({' UNION ALL BY NAME '.join(or_empty)})"

    def _files(self, manifests: Sequence[Manifest], table: Table) -> str:
        parts = [part for manifest in manifests for part in manifest.parts.get(table.name, ())]
        return _read([f"{self.snapshot.store.address}/{part.name}" for part in parts])

    def _partial_spans(self, unit: str) -> Sequence[Span]:
        """The days or months that are only partly in the window."""
        limits = (self.filters.since, self.filters.until)
        ends = [in_utc(time) for time in limits if time is not None]
        ends = [end for end in ends if end.year < MAXYEAR]  # datetime ends with the year 9999
        return sorted({span for end in ends if (span := _span(end, unit))[0] != end})

    def window(self) -> str:
        """SQL condition for rows that overlap the window."""
        filters = self.filters
        parts = [f"last_seen >= {_time(filters.since)}"] if filters.since else []
        parts += [f"first_seen < {_time(filters.until)}"] if filters.until else []
        return " AND ".join([*parts, self.cluster()])

    def cluster(self) -> str:
        """SQL condition for the cluster."""
        cluster = self.filters.cluster
        return "true" if cluster is None else f"cluster = {text(cluster)}"

    def names(self) -> str:
        """SQL condition for principal, client id and software name."""
        patterns = {
            "principal": self.filters.principal,
            "client_id": self.filters.client_id,
            "software_name": self.filters.software,
        }
        parts = [like(column, glob) for column, glob in patterns.items() if glob is not None]
        return " AND ".join(parts) or "true"


Tables = Path | str | Snapshot | Reader
"""What a report reads from. A Reader keeps its own filters."""


def open_tables(tables: Tables, filters: Filters) -> Reader:
    if isinstance(tables, Reader):
        return tables
    if not isinstance(tables, Snapshot):
        tables = read_tables(LocalStore(Path(tables)))
    return Reader(tables, filters, _connect())


def _connect() -> duckdb.DuckDBPyConnection:
    try:
        import duckdb
    except ImportError:
        raise RollcallError(
            "reports need DuckDB, which is not installed",
            hint="install it with `pip install 'rollcall[pipeline]'`",
        ) from None
    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = false")
    return connection


@contextmanager
def _readable_errors(where: str) -> Iterator[None]:
    """Turn DuckDB's errors about files into TablesError."""
    from duckdb import InvalidInputException, IOException

    try:
        yield
    except (InvalidInputException, IOException) as error:
        cause = str(error).partition("\n")[0]
        raise TablesError(
            f"the tables in {where} cannot be read: {cause}",
            hint="run the command again; if it fails again, a file was changed or removed",
        ) from error


def _has_rate(table: Table) -> bool:
    return any(column.name == "peak" for column in table.columns)


def _read(files: Sequence[str]) -> str:
    return f"read_parquet([{', '.join(map(text, files))}])" if files else ""


def _span(time: datetime, unit: str) -> Span:
    """The day or month that contains a time."""
    day = time.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "day":
        return day, day + timedelta(days=1)
    month = day.replace(day=1)
    return month, (month + timedelta(days=31)).replace(day=1)


def _within(spans: Sequence[Span], column: str) -> str:
    conditions = (
        f"({column} >= {_time(start)} AND {column} < {_time(end)})" for start, end in spans
    )
    return " OR ".join(conditions) or "false"


def _time(value: datetime) -> str:
    return f"TIMESTAMP '{in_utc(value).isoformat(' ')}'"
