"""The tables opened for one question: DuckDB on the live files.

Sums of partial sums are sums, so parts are read as they lie there. Most is read from the totals
that compactions leave; whatever is asked later is asked of small tables in memory. DuckDB leaves
Python alone while it reads, so that two things can be done at the same time.
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
from rollcall.reports.query.filters import Question, in_utc
from rollcall.reports.query.wildcards import like
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
AS_MONTHS = """
SELECT * EXCLUDE (day), date_trunc('month', day) AS month,
  CAST(1 AS INT) << (datepart('day', day) - 1) AS days
FROM {days}
"""


@dataclass
class Reader:
    """One question to one state of the tables."""

    snapshot: Snapshot
    question: Question
    connection: duckdb.DuckDBPyConnection
    _made: set[str] = field(default_factory=set)
    _beside: ThreadPoolExecutor = field(default_factory=partial(ThreadPoolExecutor, max_workers=1))

    def beside(self, work: Callable[[Reader], Result]) -> Future[Result]:
        """Begin something else on the same tables, while the caller goes on."""
        other = replace(self, connection=self.connection.cursor())
        return self._beside.submit(work, other)

    def is_new(self, table: str) -> bool:
        """Whether a table is to be made: the first who asks makes it."""
        if table in self._made:
            return False
        self._made.add(table)
        return True

    def rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with _explained(self.snapshot.store.address):
            return self.connection.execute(sql, list(parameters)).fetchall()

    def run(self, sql: str) -> None:
        with _explained(self.snapshot.store.address):
            self.connection.execute(sql)

    def table(self, name: str) -> str:
        """The rows of a table as they lie there, partial sums and all."""
        return _read(self.snapshot.addresses(name)) or f"({select(self.snapshot, name)})"

    def broker_hours(self) -> str:
        """Per hour and broker; an hour, or an older day, that reaches into the window counts."""
        hours = self._union(BROKER_HOURS, [*self._left(BROKER_HOURS), *self._summed(BROKER_HOURS)])
        return f"(FROM {hours} WHERE {self.window()})"

    def broker_lists(self) -> str:
        """What brokers told, from when to when; whatever the window."""
        lists = self._union(BROKER_LISTS, [*self._left(BROKER_LISTS), *self._summed(BROKER_LISTS)])
        return f"(FROM {lists} WHERE {self.cluster()})"

    def day_usage(self) -> str:
        """Per day and client, in the window."""
        left = [*self._days(), *self._summed(DAY_USAGE, self.window())]
        return self._union(DAY_USAGE, left)

    def month_usage(self) -> str:
        """Per month and client, in the window; of a month that lies in it in part, the days."""
        window, ends = self.window(), self._ends("month")
        queries = [
            *self._left(MONTH_USAGE, f"{window} AND NOT ({_within(ends, 'month')})"),
            *self._summed(MONTH_USAGE, window),
        ]
        if ends and (days := self._days(_within(ends, "day"))):
            queries.append(AS_MONTHS.format(days=self._union(DAY_USAGE, days)))
        return self._union(MONTH_USAGE, queries)

    @property
    def cuts_months(self) -> bool:
        """Whether a month lies in the window in part."""
        return bool(self._ends("month"))

    def months(self) -> str:
        """Usage of months that reach into the window, whole: everybody in it is there, and others
        may be. Empty where that would have to be added up first."""
        if self._summed(MONTH_USAGE):
            return ""
        return self._union(MONTH_USAGE, self._left(MONTH_USAGE, self.window()))

    def month_connections(self) -> str:
        """Connections that ended long ago, per month and client, in the window."""
        window, ends = self.window(), self._ends("month")
        queries = [
            *self._left(MONTH_CONNECTIONS, f"{window} AND NOT ({_within(ends, 'month')})"),
            *self._cut(MONTH_CONNECTIONS, ends),
            *self._summed(MONTH_CONNECTIONS, window),
        ]
        return self._union(MONTH_CONNECTIONS, queries)

    def _days(self, which: str = "true") -> list[str]:
        """Days that a compaction added up; of those that lie in the window in part, the rows."""
        ends = self._ends("day")
        inside = f"{self.window()} AND ({which}) AND NOT ({_within(ends, 'day')})"
        return [*self._left(DAY_USAGE, inside), *self._cut(DAY_USAGE, ends)]

    def _left(self, table: Table, where: str = "true") -> list[str]:
        """Totals that compactions left."""
        files = self._files(self._totalled(table), table)
        return [f"(FROM {files} WHERE {where})"] if files else []

    def _cut(self, table: Table, ends: Sequence[Span]) -> list[str]:
        """Totals of the ends of the window, of what compactions added up in larger pieces."""
        files = self._files(self._totalled(table), SOURCES[table.name]) if ends else ""
        where = f"{self.window()} AND ({_within(ends, 'hour')})"
        return [total(table, f"(FROM {files} WHERE {where})")] if files else []

    def _summed(self, table: Table, where: str = "true") -> list[str]:
        """Totals of all else."""
        totalled, source = self._totalled(table), SOURCES[table.name]
        others = [it for it in self.snapshot.live if it not in totalled]
        files = self._files(others, source)
        if not files:
            return []
        rows = f"(FROM {files} WHERE {where})"
        if len(others) > 1 and _has_rate(table):  # an hour may be in several
            rows = f"({merge(source, rows)})"
        return [total(table, rows)]

    def _totalled(self, table: Table) -> list[Manifest]:
        """Those whose totals are taken as they are. Of rates, the first only, into which all before
        it was merged: what came since may hold parts of the same hour."""
        live = [it for it in self.snapshot.live if table.name in it.parts]
        return live[:1] if _has_rate(table) else live

    def _union(self, table: Table, queries: Sequence[str]) -> str:
        """With no rows if there is nothing to ask."""
        source = SOURCES[table.name].name
        some = queries or [total(table, f"({select(self.snapshot, source)})")]
        return f"({' UNION ALL BY NAME '.join(some)})"

    def _files(self, manifests: Sequence[Manifest], table: Table) -> str:
        parts = [part for manifest in manifests for part in manifest.parts.get(table.name, ())]
        return _read([f"{self.snapshot.store.address}/{part.name}" for part in parts])

    def _ends(self, unit: str) -> Sequence[Span]:
        """The days or months that lie in the window in part: their sums do not help."""
        ends = [in_utc(it) for it in (self.question.since, self.question.until) if it is not None]
        inside = [it for it in ends if it.year < MAXYEAR]  # behind that, nothing is cut
        return sorted({span for it in inside if (span := _span(it, unit))[0] != it})

    def window(self) -> str:
        """The part of usage that is asked for; a row that reaches into the window counts."""
        asked = self.question
        parts = [f"last_seen >= {_time(asked.since)}"] if asked.since else []
        parts += [f"first_seen < {_time(asked.until)}"] if asked.until else []
        return " AND ".join([*parts, self.cluster()])

    def cluster(self) -> str:
        asked = self.question.cluster
        return "true" if asked is None else f"cluster = {text(asked)}"

    def whose(self) -> str:
        """Whose rows are asked for, of the rows in the window."""
        asked = self.question
        globs = {
            "principal": asked.principal,
            "client_id": asked.client_id,
            "software_name": asked.software,
        }
        parts = [like(name, glob) for name, glob in globs.items() if glob is not None]
        return " AND ".join(parts) or "true"


Tables = Path | str | Snapshot | Reader
"""Where a report is read from; tables that are open already keep their question."""


def open_tables(tables: Tables, question: Question) -> Reader:
    if isinstance(tables, Reader):
        return tables
    if not isinstance(tables, Snapshot):
        tables = read_tables(LocalStore(Path(tables)))
    return Reader(tables, question, _connect())


def _connect() -> duckdb.DuckDBPyConnection:
    try:
        import duckdb
    except ImportError:
        raise RollcallError(
            "reports read the tables with DuckDB, which is not installed",
            hint="install it with `pip install 'rollcall[pipeline]'`",
        ) from None
    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = false")
    return connection


@contextmanager
def _explained(where: str) -> Iterator[None]:
    """What DuckDB finds wrong with a file, in words that lead somewhere."""
    from duckdb import InvalidInputException, IOException

    try:
        yield
    except (InvalidInputException, IOException) as error:
        what = str(error).partition("\n")[0]
        raise TablesError(
            f"the tables in {where} cannot be read: {what}",
            hint="run it again; if it stays, a file was changed or removed by something else",
        ) from error


def _has_rate(table: Table) -> bool:
    return any(column.name == "peak" for column in table.columns)


def _read(files: Sequence[str]) -> str:
    return f"read_parquet([{', '.join(map(text, files))}])" if files else ""


def _span(time: datetime, unit: str) -> Span:
    """The day or month that a time lies in."""
    day = time.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "day":
        return day, day + timedelta(days=1)
    month = day.replace(day=1)
    return month, (month + timedelta(days=31)).replace(day=1)


def _within(spans: Sequence[Span], column: str) -> str:
    inside = (f"({column} >= {_time(it[0])} AND {column} < {_time(it[1])})" for it in spans)
    return " OR ".join(inside) or "false"


def _time(value: datetime) -> str:
    return f"TIMESTAMP '{in_utc(value).isoformat(' ')}'"
