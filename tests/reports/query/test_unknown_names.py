"""A name that nobody has is a slip: it is told, with the names that there are."""

from pathlib import Path

import pytest

from rollcall.reports import Filters, UnknownNameError, clients, impact, problems, restarts
from tests.reports.making import Made, hour

RDKAFKA = "librdkafka 2.4.0"


def tables(folder: Path) -> Path:
    made = Made().file().use("Fetch", 11, RDKAFKA, principal="User:payments", client_id="pay-1")
    for number in range(9):
        made.use("Fetch", 11, RDKAFKA, principal=f"User:other-{number}", client_id=f"x{number}")
    return made.write(folder / "tables")


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        (Filters(cluster="prd"), "there is prod"),
        (Filters(principal="User:paymnts"), "there is User:payments, "),
        (Filters(client_id="pay_*"), "there is pay-1, "),
        (Filters(software="librdkafak"), "there is librdkafka"),
    ],
    ids=["cluster", "principal", "client id", "software"],
)
def test_the_nearest_name_comes_first(tmp_path: Path, asked: Filters, nearest: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        clients(tables(tmp_path), filters=asked)
    assert (caught.value.hint or "").startswith(nearest)


def test_of_many_names_some_are_told(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="no principal 'User:nobody'") as caught:
        clients(tables(tmp_path), filters=Filters(principal="User:nobody"))
    assert (caught.value.hint or "").endswith(", and 5 more")


def test_what_is_asked_for_is_only_text(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError):
        clients(tables(tmp_path), filters=Filters(principal="User:'); DROP TABLE seen; --"))


def test_every_report_tells_it(tmp_path: Path) -> None:
    folder, asked = tables(tmp_path), Filters(cluster="prd")
    for report in (clients, restarts, problems):
        with pytest.raises(UnknownNameError):
            report(folder, filters=asked)
    with pytest.raises(UnknownNameError):
        impact(folder, "4.0.0", filters=asked)


def test_where_nothing_was_heard_no_name_is_wrong(tmp_path: Path) -> None:
    asked = Filters(since=hour(99), principal="User:payments")
    assert clients(tables(tmp_path), filters=asked).clients == ()


@pytest.mark.parametrize("name", ["User:CN=Doe\\, John", "User:[ops]", "User:100%_~a", "User:it's"])
def test_a_name_may_hold_what_globs_and_sql_mean_something_by(tmp_path: Path, name: str) -> None:
    made = Made().use("Fetch", 11, RDKAFKA, principal=name).use("Fetch", 11, principal="User:oxxx")
    folder = made.write(tmp_path / "tables")
    for asked in (name, f"{name[:7]}*", f"?{name[1:]}"):
        (found,) = clients(folder, filters=Filters(principal=asked)).clients
        assert found.principal == name
