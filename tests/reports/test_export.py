"""Answers as plain rows: in the same columns whatever is in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rollcall.reports import clients, impact, restarts, shapes
from rollcall.reports.export import broker_row, client_row, impact_row, problem_row
from tests.reports.making import Made, hour


def asked(folder: Path) -> dict[str, tuple[Any, list[dict[str, Any]], shapes.Shape]]:
    """Each report, its plain rows, and their shape."""
    impacts, seen = impact(folder, "4.0.0"), clients(folder)
    started, complained = restarts(folder), problems(folder)
    return {
        "impact": (impacts, [*map(impact_row, impacts.clients)], shapes.IMPACT),
        "clients": (seen, [*map(client_row, seen.clients)], shapes.CLIENT),
        "restarts": (started, [*map(broker_row, started.brokers)], shapes.BROKER),
        "problems": (complained, [*map(problem_row, complained.problems)], shapes.PROBLEM),
    }


@pytest.mark.parametrize("report", ["impact", "clients", "restarts", "problems"])
def test_rows_have_the_columns_and_types_of_their_shape(tmp_path: Path, report: str) -> None:
    made = Made().told("3.9.0").use("Fetch", 3, "sarama v1.30.0").use("Fetch", 3, client_id="x")
    made.use("Fetch", 13, "librdkafka 2.4.0", listener="SASL_SSL", client_id="y", requests=9000)
    made.roll_call(1, start_time=hour(0)).roll_call(2, start_time=hour(1)).connect(
        90, told="sarama v1.30.0"
    )
    answer, rows, shape = asked(made.write(tmp_path / "some"))[report]
    assert rows
    assert all(list(row) == list(shape) for row in rows)
    table = answer.to_arrow()
    assert table.to_pylist() == rows

    nothing, no_rows, _ = asked(Made().write(tmp_path / "none"))[report]
    assert no_rows == []
    assert nothing.to_arrow().schema == table.schema
