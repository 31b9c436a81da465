"""Totals: sums of the tables, made by the same query whoever makes them."""

import duckdb
import pytest

from rollcall.tables.columns import BROKERS, CONNECTION_HOURS, TABLES, USAGE, Table
from rollcall.tables.totals import (
    BROKER_HOURS,
    BROKER_LISTS,
    DAY_USAGE,
    MONTH_CONNECTIONS,
    MONTH_USAGE,
    SOURCES,
    STORED,
    TOTALS,
    total,
)
from rollcall.tables.views import Engine, duckdb_type, merge

ROW = {"cluster": "'prod'", "forwarded": "false", "replica": "false", "requests": "10"} | {
    "hours": "1", "forms": "512", "api_key": "1", "api_version": "11",
}  # fmt: skip


def rows(*changes: dict[str, str], of: Table = USAGE) -> str:
    """Rows of a table as a query."""
    selects = []
    for change in changes:
        values = {**ROW, **change}
        columns = (
            f"CAST({values.get(it.name, 'NULL')} AS {duckdb_type(it.type)}) AS {it.name}"
            for it in of.columns
        )
        selects.append(f"SELECT {', '.join(columns)}")
    return f"({' UNION ALL '.join(selects)})"


def at(time: str) -> dict[str, str]:
    return {"hour": f"'{time}'", "first_seen": f"'{time}'", "last_seen": f"'{time}'"}


def ask(query: str, what: str) -> list[tuple[object, ...]]:
    return duckdb.sql(f"SELECT {what} FROM ({query}) ORDER BY ALL").fetchall()


def test_a_month_holds_its_days_as_bits() -> None:
    usage = rows(at("2026-10-01"), at("2026-10-03 07:00"), at("2026-10-31"), at("2026-11-01"))
    found = ask(total(MONTH_USAGE, usage), "month::DATE::TEXT, days, requests")
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
    assert ask(total(MONTH_USAGE, usage), "requests") == [(10,)]


def test_the_rate_is_the_highest_of_an_hour_at_one_broker() -> None:
    day = at("2026-10-01")
    usage = rows(day | {"requests": "48", "hours": "15"}, day | {"requests": "9"})
    assert ask(total(MONTH_USAGE, usage), "peak.per_hour") == [(12.0,)]


def test_with_the_rate_comes_the_broker_that_had_it() -> None:
    day = at("2026-10-01")
    usage = rows(day | {"requests": "48", "broker": "'b1'"}, day | {"broker": "'b2'"})
    assert ask(total(DAY_USAGE, usage), "peak.broker, peak.per_hour") == [("b1", 48.0)]


def test_old_connections_are_counted_by_month_with_their_rates() -> None:
    day = {"opened": "40", "seen_once": "20", "broker": "'b1'", "hour": "'2026-10-01'"}
    day |= {"most_opened": "8", "most_seen_once": "3"}  # a day's row
    hour = {**day, "opened": "9", "most_opened": "9", "most_seen_once": "1", "broker": "'b2'"}
    made = total(MONTH_CONNECTIONS, rows(day, hour, of=CONNECTION_HOURS))
    found = ask(made, "opened, seen_once, peak.per_hour, peak.broker, once_per_hour")
    assert found == [(49, 40, 9.0, "b2", 3.0)]


def test_a_list_is_one_row_as_long_as_it_is_told_and_another_when_it_comes_back() -> None:
    old, new = (f"[{{'api_key': 1, 'min_version': 0, 'max_version': {it}}}]" for it in (3, 4))
    told = [(1, old), (2, old), (3, new), (4, old), (5, old)]
    brokers = rows(*(at(f"2026-10-0{day}") | {"ranges": list_} for day, list_ in told), of=BROKERS)
    told_of = "day(first_seen), day(last_seen), ranges[1].max_version"
    found = ask(total(BROKER_LISTS, brokers), told_of)
    assert found == [(1, 2, 3), (3, 3, 4), (4, 5, 3)]


def test_null_is_a_name_like_any_other() -> None:
    day = at("2026-10-01")
    usage = rows(day, day, day | {"client_id": "'a'"})
    assert ask(total(MONTH_USAGE, usage), "client_id, requests") == [("a", 10), (None, 20)]


@pytest.mark.parametrize("name", sorted(TOTALS.keys() - {BROKER_LISTS.name}))
def test_totals_of_totals_are_what_one_total_is(name: str) -> None:
    table, source = TOTALS[name], SOURCES[name]
    days = [at(f"2026-{month}-{day:02}") for month in (10, 11) for day in (1, 9, 30)]
    made = [total(table, rows(*some, of=source)) for some in (days[:2], days[2:], days)]
    assert ask(merge(table, f"({made[0]} UNION ALL {made[1]})"), "*") == ask(made[2], "*")


def test_they_are_no_tables_to_ask_by_yourself() -> None:
    assert not TABLES.keys() & TOTALS.keys()
    assert STORED.keys() == TABLES.keys() | TOTALS.keys()


def test_spark_groups_by_the_keys_themselves() -> None:
    assert "hash(" not in total(BROKER_HOURS, "usage", Engine.SPARK)
