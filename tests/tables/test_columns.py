"""The columns, and the page that describes them."""

from pathlib import Path

import pytest

from rollcall.tables.columns import TABLES, Merge, Table
from rollcall.tables.reference import page

DOCS = Path(__file__).parents[2] / "docs" / "tables.md"


def test_the_page_of_the_tables_is_made_from_the_columns() -> None:
    assert DOCS.read_text(encoding="utf-8") == page(), "run: make docs"


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_keys_come_first_and_every_column_once(table: Table) -> None:
    merges = [column.merge is Merge.KEY for column in table.columns]
    assert merges == sorted(merges, reverse=True)
    names = [column.name for column in table.columns]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_no_sum_depends_on_the_order_of_rows(table: Table) -> None:
    assert {column.type for column in table.values} <= {"BIGINT", "INT", "TIMESTAMP_NTZ"}
