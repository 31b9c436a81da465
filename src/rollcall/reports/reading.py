"""The tables opened for one question: DuckDB on the live files, and what was heard of brokers.

Sums of partial sums are sums, so usage is read as it lies there. Whatever is asked later is asked
of small temporary tables that are made here and in `sightings`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rollcall.errors import RollcallError
from rollcall.reports.basis import Basis, HeardBroker, Limit
from rollcall.reports.question import Question
from rollcall.tables.columns import FORMS
from rollcall.tables.errors import TablesError
from rollcall.tables.folder import Snapshot, read_tables
from rollcall.tables.stores import LocalStore
from rollcall.tables.views import select, text

if TYPE_CHECKING:
    import duckdb

SLOTS = 120
"""Days of a window that fit the bits of a number; of longer ones, several days share a bit."""
TEXT_FORMS = (1 << FORMS.index("H")) - 1
WITHOUT_NAMES = (1 << FORMS.index("G")) - 1
LEVELS_BELOW_INFO = 0b11
INFO = 0b100

# Masks in one number are joined in one go: the hours, the forms, and whether anything but
# deprecated requests was heard.
HEARD = """
CREATE TEMP TABLE heard AS
SELECT cluster, broker, hour, requests, CAST(masks & 16777215 AS INT) AS hours,
  CAST((masks >> 24) & 65535 AS INT) AS forms, (masks >> 40) = 0 AS only_deprecated
FROM (
  SELECT cluster, broker, hour, sum(requests) AS requests, bit_or(CAST(hours AS BIGINT)
    | (CAST(forms AS BIGINT) << 24) | (CAST(requests <> deprecated AS BIGINT) << 40)) AS masks
  FROM {usage} WHERE {window} GROUP BY cluster, broker, hour
)
"""
# Two questions of one flag each: the files say at once which of their parts hold such rows.
APART = """
SELECT coalesce((SELECT sum(requests) FROM {usage} WHERE replica AND {window}), 0),
  coalesce((SELECT sum(requests) FROM {usage} WHERE forwarded AND NOT replica AND {window}), 0)
"""
BOUNDS = """
SELECT min(first_seen), max(last_seen) FROM {usage} WHERE {window}
"""
LINES = """
SELECT coalesce(sum(lines), 0), coalesce(sum(rejected), 0),
  coalesce(bool_or(requests > 0 AND levels & $1 = 0 AND levels & $2 <> 0), false)
FROM {files} WHERE {where}
"""
ROLL_CALLED = """
SELECT DISTINCT broker, host, concat(host, ':', port), CAST(node_id AS VARCHAR)
FROM {brokers} AS b
WHERE source = 'roll call' AND {where} AND hour = (
  SELECT max(hour) FROM {brokers} AS newest
  WHERE newest.source = 'roll call' AND newest.cluster IS NOT DISTINCT FROM b.cluster)
ORDER BY 1, 2
"""


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
        files = self.snapshot.addresses(name)
        if not files:
            return f"({select(self.snapshot, name)})"
        return f"read_parquet([{', '.join(map(text, files))}])"

    def merged(self, name: str) -> str:
        return f"({select(self.snapshot, name)})"

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

    def hear(self) -> None:
        if self.is_new("heard"):
            self.run(HEARD.format(usage=self.table("usage"), window=self.window()))

    def days(self) -> tuple[datetime | None, int, int]:
        """The first day, the days that one bit stands for, and how many days have a line."""
        ((first, last, days),) = self.rows(
            """SELECT date_trunc('day', min(hour)), date_trunc('day', max(hour)),
              count(DISTINCT date_trunc('day', hour)) FROM heard"""
        )
        span = (last - first).days + 1 if first else 1
        return first, -(-span // SLOTS), days

    def basis(self) -> Basis:
        heard = tuple(self._heard())
        known = self._roll_called()
        words = {"usage": self.table("usage"), "window": self.window()}
        ((replica, forwarded),) = self.rows(APART.format(**words))
        ((first, last),) = self.rows(BOUNDS.format(**words))
        ((forms,),) = self.rows("SELECT bit_or(forms) FROM heard")
        lines = self._lines()
        return Basis(
            first=first,
            last=last,
            days=self.days()[2],
            heard=heard,
            not_heard=tuple(_not_heard(known, heard)),
            lines=lines[0],
            rejected=lines[1],
            requests=sum(it.requests for it in heard),
            replica_requests=int(replica),
            forwarded_requests=int(forwarded),
            limits=tuple(self._limits(heard, known, int(forms or 0), lines)),
        )

    def _heard(self) -> Iterator[HeardBroker]:
        form_j = 1 << FORMS.index("J")
        for row in self.rows(
            """SELECT cluster, broker, sum(requests), sum(bit_count(hours)),
              bool_and(only_deprecated), bit_or(forms)
            FROM heard GROUP BY cluster, broker ORDER BY cluster, broker"""
        ):
            info_only = row[4] and row[5] == form_j
            yield HeardBroker(row[0], row[1], int(row[2]), int(row[3]), info_only)

    def _lines(self) -> tuple[int, int, bool]:
        """Lines, rejected lines, and whether a file held nothing below INFO."""
        sql = LINES.format(files=self.table("files"), where=self.cluster())
        ((lines, rejected, info_only),) = self.rows(sql, [LEVELS_BELOW_INFO, INFO])
        return int(lines), int(rejected), bool(info_only)

    def _roll_called(self) -> list[tuple[str | None, ...]]:
        """The brokers of the newest roll call of each cluster, by all their names."""
        return self.rows(ROLL_CALLED.format(brokers=self.table("brokers"), where=self.cluster()))

    def _limits(
        self,
        heard: Sequence[HeardBroker],
        known: Sequence[object],
        forms: int,
        lines: tuple[int, int, bool],
    ) -> Iterator[Limit]:
        yield Limit.RAW_SASL
        if lines[2] or any(it.info_only for it in heard):
            yield Limit.INFO_ONLY
        if forms & WITHOUT_NAMES:
            yield Limit.NO_NAMES
        if forms & TEXT_FORMS:
            yield Limit.FORGEABLE
            yield Limit.NO_ERRORS
        if not known:
            yield Limit.NO_ROLL_CALL
        if lines[1]:
            yield Limit.REJECTS


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


def _not_heard(
    known: Sequence[tuple[str | None, ...]], heard: Sequence[HeardBroker]
) -> Iterator[str]:
    """A log may name a broker by its address, or as its source was called, and a roll call by the
    host it gives its clients: one heard that fits none of the known may be any of the missing."""
    names = {it.broker for it in heard}
    missing = [row for row in known if not names.intersection(row)]
    strangers = names - {name for row in known for name in row}
    called = [row[0] or row[2] or "?" for row in missing]
    for name in called[len(strangers) :]:
        yield f"one of {', '.join(called)}" if strangers else name


def _time(value: datetime) -> str:
    """The tables hold UTC without a zone."""
    value = value.astimezone(UTC) if value.tzinfo else value
    return f"TIMESTAMP '{value:%Y-%m-%d %H:%M:%S.%f}'"
