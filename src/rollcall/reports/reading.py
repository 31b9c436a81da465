"""The tables opened for one question: DuckDB on the live files.

Sums of partial sums are sums, so parts are read as they lie there. Most is read from the totals
that compactions leave; whatever is asked later is asked of small temporary tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rollcall.errors import RollcallError
from rollcall.reports.question import Question
from rollcall.tables.columns import USAGE, Table
from rollcall.tables.errors import TablesError
from rollcall.tables.folder import Snapshot, read_tables
from rollcall.tables.manifests import Manifest
from rollcall.tables.stores import LocalStore
from rollcall.tables.totals import total
from rollcall.tables.views import select, text

if TYPE_CHECKING:
    import duckdb


@dataclass
class Reader:
    """One question to one state of the tables."""

    snapshot: Snapshot
    question: Question
    connection: duckdb.DuckDBPyConnection = field(init=False)
    _made: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.connection = _connect()

    def is_new(self, table: str) -> bool:
        """Whether a temporary table is to be made: the first who asks makes it."""
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

    def totals(self, table: Table) -> str:
        """Totals of usage in the window, partial sums and all."""
        added = [it for it in self.snapshot.live if table.name in it.parts]
        others = [it for it in self.snapshot.live if table.name not in it.parts]
        window, edges = self.window(), self._edges()
        queries = []
        if files := self._files(added, table):
            inside = f" AND NOT ({_within(edges, table.keys[0])})" if edges else ""
            queries.append(f"(FROM {files} WHERE {window}{inside})")
        if edges and (files := self._files(added, USAGE)):
            queries.append(
                total(table, f"(FROM {files} WHERE ({_within(edges, 'hour')}) AND {window})")
            )
        if files := self._files(others, USAGE):
            queries.append(total(table, f"(FROM {files} WHERE {window})"))
        if not queries:
            queries.append(total(table, self.table(USAGE.name)))
        return f"({' UNION ALL BY NAME '.join(queries)})"

    def _files(self, manifests: Sequence[Manifest], table: Table) -> str:
        parts = [part for manifest in manifests for part in manifest.parts.get(table.name, ())]
        return _read([f"{self.snapshot.store.address}/{part.name}" for part in parts])

    def _edges(self) -> set[datetime]:
        """The months that may lie in the window in part: of these, totals do not help."""
        ends = (self.question.since, self.question.until)
        return {
            _utc(end).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
            for end in ends
            if end is not None
        }

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
        parts = [f"{name} GLOB {text(glob)}" for name, glob in globs.items() if glob is not None]
        return " AND ".join(parts) or "true"


Tables = Path | str | Snapshot | Reader
"""Where a report is read from; tables that are open already keep their question."""


def open_tables(tables: Tables, question: Question) -> Reader:
    if isinstance(tables, Reader):
        return tables
    if not isinstance(tables, Snapshot):
        tables = read_tables(LocalStore(Path(tables)))
    return Reader(tables, question)


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


def _read(files: Sequence[str]) -> str:
    return f"read_parquet([{', '.join(map(text, files))}])" if files else ""


def _within(months: set[datetime], column: str) -> str:
    return " OR ".join(
        f"({column} >= {_time(month)} AND {column} < "
        f"{_time((month + timedelta(days=31)).replace(day=1))})"
        for month in sorted(months)
    )


def _utc(value: datetime) -> datetime:
    """The tables hold UTC without a zone."""
    return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value


def _time(value: datetime) -> str:
    return f"TIMESTAMP '{_utc(value):%Y-%m-%d %H:%M:%S.%f}'"
