"""Opening the tables, and what can be wrong with them."""

from __future__ import annotations

from datetime import UTC, timedelta
from pathlib import Path

import pytest

from rollcall.errors import ConfigError, RollcallError
from rollcall.reports import Question, clients
from rollcall.tables.errors import TablesError
from tests.reports.making import Made, hour


def test_a_part_that_is_gone_or_broken_is_told(tmp_path: Path) -> None:
    folder = Made().use("Fetch", 11).write(tmp_path / "tables")
    (part,) = folder.glob("parts/*/usage/*.parquet")
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
    assert clients(folder, question=Question(since=since)).basis.days == 1


def test_a_window_that_ends_before_it_begins_is_an_error() -> None:
    with pytest.raises(ConfigError):
        Question(since=hour(2), until=hour(2) - timedelta(hours=1))


def test_parts_with_the_same_keys_are_one_row(tmp_path: Path) -> None:
    made = Made().use("Fetch", 11, days=[0]).use("Fetch", 11, days=[0])
    made.connect(1, requests=2)
    made.add("connections", **made.rows["connections"][0])
    (found,) = clients(made.write(tmp_path / "tables")).clients
    assert (found.requests, found.connections) == (20, 1)


def test_an_operator_can_quote_whatever_he_likes(tmp_path: Path) -> None:
    folder = Made().use("Fetch", 11, principal="User:o'neil").write(tmp_path / "it's tables")
    (found,) = clients(folder, question=Question(principal="User:o'n*")).clients
    assert found.principal == "User:o'neil"
