"""Filters: windows, wildcards, and names that match nothing."""

from datetime import UTC, timedelta, timezone
from pathlib import Path

import pytest

from rollcall.errors import ConfigError
from rollcall.reports import Filters, UnknownNameError, clients, impact, problems, restarts
from tests.reports.table_builder import TableBuilder, hour

RDKAFKA = "librdkafka 2.4.0"


def tables(directory: Path) -> Path:
    builder = TableBuilder().file()
    builder.use("Fetch", 11, RDKAFKA, principal="User:payments", client_id="pay-1")
    for number in range(9):
        builder.use("Fetch", 11, RDKAFKA, principal=f"User:other-{number}", client_id=f"x{number}")
    return builder.write(directory / "tables")


def test_a_time_with_a_zone_is_converted_to_utc(tmp_path: Path) -> None:
    directory = TableBuilder().use("Fetch", 11, days=[0, 5]).write(tmp_path / "tables")
    since = hour(4).replace(tzinfo=UTC)
    assert clients(directory, filters=Filters(since=since)).coverage.days == 1


def test_a_window_may_have_a_zone_at_one_end_only(tmp_path: Path) -> None:
    directory = TableBuilder().use("Fetch", 11, days=[0, 3, 5]).write(tmp_path / "tables")
    zone = timezone(timedelta(hours=2))
    window = Filters(since=hour(3, 2).replace(tzinfo=zone), until=hour(4))
    assert clients(directory, filters=window).coverage.days == 1
    with pytest.raises(ConfigError):
        Filters(since=hour(3), until=hour(3, 2).replace(tzinfo=zone))


def test_a_window_that_ends_before_its_start_is_an_error() -> None:
    with pytest.raises(ConfigError, match="before its start"):
        Filters(since=hour(2), until=hour(2) - timedelta(hours=1))


@pytest.mark.parametrize(
    ("filters", "hint"),
    [
        (Filters(cluster="prd"), "use a known name: prod"),
        (Filters(principal="User:paymnts"), "use a known name: User:payments, "),
        (Filters(client_id="pay_*"), "use a known name: pay-1, "),
        (Filters(software="librdkafak"), "use a known name: librdkafka"),
    ],
    ids=["cluster", "principal", "client id", "software"],
)
def test_an_unknown_name_is_an_error_that_lists_similar_names_first(
    tmp_path: Path, filters: Filters, hint: str
) -> None:
    with pytest.raises(UnknownNameError) as caught:
        clients(tables(tmp_path), filters=filters)
    assert (caught.value.hint or "").startswith(hint)


def test_the_hint_for_an_unknown_name_lists_five_names(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="no principal 'User:nobody'") as caught:
        clients(tables(tmp_path), filters=Filters(principal="User:nobody"))
    assert (caught.value.hint or "").endswith(" and 5 more")


def test_a_filter_is_never_executed_as_sql(tmp_path: Path) -> None:
    filters = Filters(principal="User:'); DROP TABLE part_usage; --")
    with pytest.raises(UnknownNameError):
        clients(tables(tmp_path), filters=filters)


def test_every_report_rejects_an_unknown_name(tmp_path: Path) -> None:
    directory, filters = tables(tmp_path), Filters(cluster="prd")
    for report in (clients, restarts, problems):
        with pytest.raises(UnknownNameError):
            report(directory, filters=filters)
    with pytest.raises(UnknownNameError):
        impact(directory, "4.0.0", filters=filters)


def test_a_name_is_not_an_error_in_a_window_without_logs(tmp_path: Path) -> None:
    filters = Filters(since=hour(99), principal="User:payments")
    assert clients(tables(tmp_path), filters=filters).clients == ()


@pytest.mark.parametrize("name", ["User:CN=Doe\\, John", "User:[ops]", "User:100%_~a", "User:it's"])
def test_special_characters_of_globs_and_sql_are_literal(tmp_path: Path, name: str) -> None:
    builder = TableBuilder().use("Fetch", 11, RDKAFKA, principal=name)
    directory = builder.use("Fetch", 11, principal="User:oxxx").write(tmp_path / "tables")
    for pattern in (name, f"{name[:7]}*", f"?{name[1:]}"):
        (client,) = clients(directory, filters=Filters(principal=pattern)).clients
        assert client.principal == name
