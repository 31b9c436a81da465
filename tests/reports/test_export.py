"""Rows of plain values: the same columns and types with and without content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rollcall.reports import clients, export, impact, problems, restarts
from tests.reports.table_builder import TableBuilder, hour


def rows_of(directory: Path) -> dict[str, tuple[Any, list[dict[str, Any]], export.Columns]]:
    """Each report with its rows and their declared columns."""
    impacts, listed = impact(directory, "4.0.0"), clients(directory)
    started, found = restarts(directory), problems(directory)
    return {
        "impact": (impacts, [*map(export.impact_row, impacts.clients)], export.IMPACT),
        "clients": (listed, [*map(export.client_row, listed.clients)], export.CLIENT),
        "restarts": (started, [*map(export.broker_row, started.brokers)], export.BROKER),
        "problems": (found, [*map(export.problem_row, found.problems)], export.PROBLEM),
    }


@pytest.mark.parametrize("name", ["impact", "clients", "restarts", "problems"])
def test_rows_have_the_declared_columns_and_types(tmp_path: Path, name: str) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("Fetch", 3, "sarama v1.30.0")
    builder.use("Fetch", 3, client_id="x").connect(90, software="sarama v1.30.0")
    builder.use("Fetch", 13, "librdkafka 2.4.0", listener="SASL_SSL", client_id="y", requests=9000)
    builder.roll_call(1, start_time=hour(0)).roll_call(2, start_time=hour(1))
    report, rows, columns = rows_of(builder.write(tmp_path / "some"))[name]
    assert rows
    assert all(list(row) == list(columns) for row in rows)
    table = report.to_arrow()
    assert table.to_pylist() == rows

    empty, no_rows, _ = rows_of(TableBuilder().write(tmp_path / "none"))[name]
    assert no_rows == []
    assert empty.to_arrow().schema == table.schema
