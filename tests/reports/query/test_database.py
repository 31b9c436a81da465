"""Opening the tables, and what can be wrong with them."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone
from pathlib import Path

import pytest

from rollcall.errors import ConfigError, RollcallError
from rollcall.reports import Filters, clients
from rollcall.tables.errors import TablesError
from tests.reports.making import Made, hour


@pytest.mark.parametrize("table", ["usage", "connections"])  # one is read beside the other
def test_a_part_that_is_gone_or_broken_is_told(tmp_path: Path, table: str) -> None:
    folder = Made().use("Fetch", 11).connect(3).write(tmp_path / "tables")
    (part,) = folder.glob(f"parts/*/{table}/*.parquet")
    part.write_bytes(b"PAR1 this is none")
    with pytest.raises(TablesError, match="cannot be read") as caught:
        clients(folder)
    assert "run it again" in str(caught.value.hint)
    part.unlink()
    with pytest.raises(TablesError, match="cannot be read"):
        clients(folder)


def test_a_folder_without_tables_is_told(tmp_path: Path) -> None:
    with pytest.raises(RollcallError, match="no tables"):
        clients(tmp_path)


def test_times_with_a_zone_are_taken_as_what_they_are(tmp_path: Path) -> None:
    folder = Made().use("Fetch", 11, days=[0, 5]).write(tmp_path / "tables")
    since = (hour(4)).replace(tzinfo=UTC)
    assert clients(folder, filters=Filters(since=since)).coverage.days == 1


def test_one_end_of_a_window_may_have_a_zone_and_the_other_none(tmp_path: Path) -> None:
    folder = Made().use("Fetch", 11, days=[0, 3, 5]).write(tmp_path / "tables")
    zone = timezone(timedelta(hours=2))
    window = Filters(since=hour(3, 2).replace(tzinfo=zone), until=hour(4))
    assert clients(folder, filters=window).coverage.days == 1
    with pytest.raises(ConfigError):
        Filters(since=hour(3), until=hour(3, 2).replace(tzinfo=zone))


def test_a_window_that_ends_before_it_begins_is_an_error() -> None:
    with pytest.raises(ConfigError):
        Filters(since=hour(2), until=hour(2) - timedelta(hours=1))


def test_parts_with_the_same_keys_are_one_row(tmp_path: Path) -> None:
    made = Made().use("Fetch", 11, days=[0]).use("Fetch", 11, days=[0])
    made.connect(1, requests=2)
    made.add("connections", **made.rows["connections"][0])
    (found,) = clients(made.write(tmp_path / "tables")).clients
    assert (found.requests, found.connections) == (20, 1)


def test_an_operator_can_quote_whatever_he_likes(tmp_path: Path) -> None:
    folder = Made().use("Fetch", 11, principal="User:o'neil").write(tmp_path / "it's tables")
    (found,) = clients(folder, filters=Filters(principal="User:o'n*")).clients
    assert found.principal == "User:o'neil"


@pytest.mark.parametrize(
    ("observed", "missing"),
    [
        (["b1", "b2", "b3"], []),
        (["b1:9092", "b2", "3"], []),  # address, host, id
        (["b1"], ["b2:9092", "b3:9092"]),
        (["10.0.0.1", "10.0.0.2", "10.0.0.3"], []),  # under other names, but as many
        (["10.0.0.1", "10.0.0.2"], ["one of b1:9092, b2:9092, b3:9092"]),
        # another address of b1 does not stand for b2
        (["b1", "10.0.0.1"], ["b2:9092", "b3:9092"]),
        (["b1", "10.0.0.2", "10.0.0.3"], ["b2:9092", "b3:9092"]),
    ],
)
def test_brokers_not_observed_are_found_under_whatever_name(
    tmp_path: Path, observed: list[str], missing: list[str]
) -> None:
    made = Made()
    for node_id in (1, 2, 3):
        made.roll_call(0, node_id)
    for name in observed:
        made.use("Fetch", 11, broker=name, days=[0])
    coverage = clients(made.write(tmp_path / "tables")).coverage
    assert list(coverage.not_observed) == missing
    assert (coverage.brokers_observed, coverage.brokers_known) == (3 - len(missing), 3)
