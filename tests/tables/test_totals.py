"""Totals: sums of usage, made by the same query whoever makes them."""

import duckdb
import pytest

from rollcall.tables.columns import TABLES, USAGE, Table
from rollcall.tables.totals import BROKER_HOURS, CLIENT_MONTHS, STORED, TOTALS, total
from rollcall.tables.views import Engine, duckdb_type, merge

ROW = {"cluster": "'prod'", "forwarded": "false", "replica": "false", "requests": "10"} | {
    "hours": "1", "forms": "512", "api_key": "1", "api_version": "11",
}  # fmt: skip


def rows(*changes: dict[str, str]) -> str:
    """Rows of usage as a query."""
    selects = []
    for change in changes:
        values = {**ROW, **change}
        columns = (
            f"CAST({values.get(it.name, 'NULL')} AS {duckdb_type(it.type)}) AS {it.name}"
            for it in USAGE.columns
        )
        selects.append(f"SELECT {', '.join(columns)}")
    return f"({' UNION ALL '.join(selects)})"


def at(time: str) -> dict[str, str]:
    return {"hour": f"'{time}'", "first_seen": f"'{time}'", "last_seen": f"'{time}'"}


def ask(query: str, what: str) -> list[tuple[object, ...]]:
    return duckdb.sql(f"SELECT {what} FROM ({query}) ORDER BY ALL").fetchall()


def test_a_month_holds_its_days_as_bits() -> None:
    usage = rows(at("2026-10-01"), at("2026-10-03 07:00"), at("2026-10-31"), at("2026-11-01"))
    found = ask(total(CLIENT_MONTHS, usage), "month::DATE::TEXT, days, requests")
    assert found == [("2026-10-01", 1 | 1 << 2 | 1 << 30, 30), ("2026-11-01", 1, 10)]


def test_replica_traffic_and_forwarded_requests_are_told_of_brokers_and_left_out_of_clients() -> (
    None
):
    day = at("2026-10-01")
    usage = rows(
        day, day | {"replica": "true"}, day | {"forwarded": "true"},
        day | {"replica": "true", "forwarded": "true"},
    )  # fmt: skip
    told = ask(total(BROKER_HOURS, usage), "requests, replica_requests, forwarded_requests")
    assert told == [(40, 20, 10)]
    assert ask(total(CLIENT_MONTHS, usage), "requests") == [(10,)]


def test_the_rate_is_the_highest_of_an_hour_at_one_broker() -> None:
    day = at("2026-10-01")
    usage = rows(day | {"requests": "48", "hours": "15"}, day | {"requests": "9"})
    assert ask(total(CLIENT_MONTHS, usage), "per_hour") == [(12.0,)]


def test_null_is_a_name_like_any_other() -> None:
    day = at("2026-10-01")
    usage = rows(day, day, day | {"client_id": "'a'"})
    assert ask(total(CLIENT_MONTHS, usage), "client_id, requests") == [("a", 10), (None, 20)]


@pytest.mark.parametrize("table", TOTALS.values(), ids=TOTALS)
def test_totals_of_totals_are_what_one_total_is(table: Table) -> None:
    days = [at(f"2026-{month}-{day:02}") for month in (10, 11) for day in (1, 9, 30)]
    halves = f"{total(table, rows(*days[:2]))} UNION ALL {total(table, rows(*days[2:]))}"
    assert ask(merge(table, f"({halves})"), "*") == ask(total(table, rows(*days)), "*")


def test_they_are_no_tables_to_ask_by_yourself() -> None:
    assert not TABLES.keys() & TOTALS.keys()
    assert STORED.keys() == TABLES.keys() | TOTALS.keys()


def test_spark_groups_by_the_keys_themselves() -> None:
    assert "hash(" not in total(BROKER_HOURS, "usage", Engine.SPARK)
