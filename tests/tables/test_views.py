"""The views, as DuckDB reads them."""

from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from rollcall.tables.columns import CONNECTIONS, TABLES
from rollcall.tables.folder import make_tables, read_tables
from rollcall.tables.stores import LocalStore
from rollcall.tables.views import Engine, duckdb_type, merge, select, view
from rollcall.tables.writers import open_writer
from tests.tables.making import Rows, commit

T = datetime(2026, 3, 1, 10)  # noqa: DTZ001 - the tables hold UTC, and no zone


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    store = LocalStore(tmp_path / "it's tables")
    make_tables(store, "tests")
    return store


def read(store: LocalStore, table: str, what: str) -> list[tuple[object, ...]]:
    with duckdb.connect() as connection:
        connection.execute(view(read_tables(store), table))
        return connection.execute(f"SELECT {what} FROM {table} ORDER BY ALL").fetchall()


def write(store: LocalStore, table: str, *batches: Rows) -> None:
    with open_writer(store, "test") as writer:
        for rows in batches:
            commit(writer, {table: rows})


@pytest.mark.parametrize("table", TABLES)
def test_a_table_without_files_has_its_columns_and_no_rows(store: LocalStore, table: str) -> None:
    with duckdb.connect() as connection:
        found = connection.execute(select(read_tables(store), table))
        described = [(name, kind) for name, kind, *_ in found.description or ()]
        assert [name for name, _ in described] == [c.name for c in TABLES[table].columns]
        assert found.fetchall() == []


@pytest.mark.parametrize("table", TABLES)
def test_a_view_has_the_types_of_the_columns(store: LocalStore, table: str) -> None:
    write(store, table, [{TABLES[table].columns[0].name: None}])
    with duckdb.connect() as connection:
        connection.execute(view(read_tables(store), table))
        described = connection.execute(f"DESCRIBE {table}").fetchall()
    wanted = [duckdb_type(c.type).replace("INT,", "INTEGER,") for c in TABLES[table].columns]
    for row, kind in zip(described, wanted, strict=True):
        same = kind.replace("INT)", "INTEGER)")
        assert row[1] == ("INTEGER" if same == "INT" else same)


def test_partial_sums_are_merged(store: LocalStore) -> None:
    def row(minute: int, requests: int, longest: int, hours: int) -> dict[str, object]:
        seen = T + timedelta(minutes=minute)
        return {
            "hour": T, "principal": "User:a", "api_key": 3, "requests": requests,
            "longest_us": longest, "hours": hours, "first_seen": seen, "last_seen": seen,
        }  # fmt: skip

    write(store, "usage", [row(5, 2, 10, 1)], [row(1, 3, 40, 4)], [row(9, 5, 20, 1)])
    what = "requests, longest_us, hours, first_seen, last_seen"
    minutes = [T + timedelta(minutes=minute) for minute in (1, 9)]
    assert read(store, "usage", what) == [(10, 40, 5, *minutes)]


def test_missing_keys_are_one_key(store: LocalStore) -> None:
    write(store, "usage", [{"requests": 1}], [{"requests": 2}])
    assert read(store, "usage", "requests") == [(3,)]


def connection(first: float, last: float, requests: int, **more: object) -> dict[str, object]:
    return {
        "cluster": "c", "broker": "b", "connection": "1-2", "forwarded": False, "replica": False,
        "requests": requests, "first_seen": T + timedelta(hours=first),
        "last_seen": T + timedelta(hours=last),
    } | more  # fmt: skip


def test_an_id_that_was_silent_for_24_hours_is_a_new_connection(store: LocalStore) -> None:
    rows = [connection(0, 1, 2), connection(24.9, 30, 3), connection(54, 60, 4)]
    write(store, "connections", *([row] for row in reversed(rows)))
    assert read(store, "connections", "requests, first_seen") == [
        (4, T + timedelta(hours=54)),
        (5, T),
    ]


def test_a_long_row_bridges_a_silence_of_the_rows_after_it(store: LocalStore) -> None:
    rows = [connection(0, 40, 1, client_id="x"), connection(1, 2, 1), connection(50, 51, 1)]
    write(store, "connections", rows)
    assert read(store, "connections", "requests") == [(3,)]


def test_a_late_row_joins_two_connections_that_it_shows_to_be_one(store: LocalStore) -> None:
    write(store, "connections", [connection(0, 1, 1), connection(30, 31, 1)])
    assert len(read(store, "connections", "requests")) == 2
    write(store, "connections", [connection(15, 16, 1)])
    assert read(store, "connections", "requests") == [(3,)]


def test_a_connection_has_the_identity_it_told_most_often(store: LocalStore) -> None:
    rows = [
        connection(0, 1, 9),
        connection(0, 1, 2, software_name="rdkafka", client_id="a"),
        connection(0, 1, 1, software_name="rdkafka", client_id="b"),
        connection(0, 1, 50, principal="User:client", forwarded=True),
    ]
    write(store, "connections", rows)
    what = "requests, software_name, client_id, principal"
    assert read(store, "connections", what) == [(62, "rdkafka", "a", None)]


def test_rows_of_the_same_moment_are_one_connection() -> None:
    told = {"connection": "c", "client_id": "i", "requests": "1", "forwarded": "false"}
    told |= {"first_seen": "TIMESTAMP '2026-03-01'", "last_seen": "TIMESTAMP '2026-03-01'"}
    columns = ", ".join(f"{told.get(it.name, 'NULL')} AS {it.name}" for it in CONNECTIONS.columns)
    rows = f"(SELECT {columns} FROM range(100000) AS ids(c), range(3) AS identities(i))"
    query = f"SELECT count(*), min(requests) FROM ({merge(CONNECTIONS, rows)})"
    assert duckdb.sql(query).fetchall() == [(100_000, 3)]


def test_rejects_are_not_merged(store: LocalStore) -> None:
    row: dict[str, object] = {"file": "a", "line": 1, "reason": "odd"}
    write(store, "rejects", [row, row])
    assert read(store, "rejects", "line") == [(1,), (1,)]


def test_a_view_for_spark_names_every_file(store: LocalStore) -> None:
    write(store, "usage", [{"requests": 1}], [{"requests": 2}])
    statement = view(read_tables(store), "usage", Engine.SPARK)
    assert statement.count("parquet.`") == 2
    assert "TEMPORARY VIEW usage" in statement
