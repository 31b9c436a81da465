"""Reading the files of the tables with DuckDB."""

from __future__ import annotations

from pathlib import Path

import pytest

from rollcall.errors import RollcallError
from rollcall.reports import Filters, clients
from rollcall.tables.errors import TablesError
from tests.reports.table_builder import TableBuilder


@pytest.mark.parametrize("table", ["usage", "connections"])  # the latter is read in the background
def test_a_corrupt_or_missing_file_is_a_readable_error(tmp_path: Path, table: str) -> None:
    directory = TableBuilder().use("Fetch", 11).connect(3).write(tmp_path / "tables")
    (file,) = directory.glob(f"parts/*/{table}/*.parquet")
    file.write_bytes(b"PAR1 is not the only magic")
    with pytest.raises(TablesError, match="cannot be read") as caught:
        clients(directory)
    assert "run the command again" in str(caught.value.hint)
    file.unlink()
    with pytest.raises(TablesError, match="cannot be read"):
        clients(directory)


def test_a_directory_without_tables_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RollcallError, match="no tables"):
        clients(tmp_path)


def test_rows_with_the_same_key_are_summed(tmp_path: Path) -> None:
    builder = TableBuilder().use("Fetch", 11, days=[0]).use("Fetch", 11, days=[0])
    builder.connect(1, requests=2)
    builder.add("connections", **builder.rows["connections"][0])
    (client,) = clients(builder.write(tmp_path / "tables")).clients
    assert (client.requests, client.connections) == (20, 1)


def test_quotes_in_paths_and_filters_are_escaped(tmp_path: Path) -> None:
    builder = TableBuilder().use("Fetch", 11, principal="User:o'neil")
    directory = builder.write(tmp_path / "it's tables")
    (client,) = clients(directory, filters=Filters(principal="User:o'n*")).clients
    assert client.principal == "User:o'neil"
