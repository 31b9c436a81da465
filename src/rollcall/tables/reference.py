"""Generates docs/tables.md from `columns`."""

from __future__ import annotations

from rollcall.tables.columns import TABLES, Merge, Table
from rollcall.tables.totals import TOTALS

OPENING = """# The tables

`rollcall pipeline` writes these tables. `rollcall tables` lists their files and prints views for other engines. This
page is generated from `src/rollcall/tables/columns.py`.

A table is a set of Parquet files with partial sums: several rows can have the same keys. Readers merge them: counts are
added (`sum`), minima and maxima taken (`min`, `max`), masks joined (`bit_or`). The views of `rollcall tables view` do
that. Take the list of files from `rollcall tables files`, not from a listing of the directory, which also holds replaced
and uncommitted files.

Times are UTC. Durations are whole microseconds. Unknown values are null.
"""  # noqa: E501

WITH_TOTALS = """# Totals

A compaction also writes sums of these tables with far fewer rows, for the reports. They hold compacted data only: what
was read since the last compaction is not in them.
"""  # noqa: E501


def page() -> str:
    tables, totals = map(_section, TABLES.values()), map(_section, TOTALS.values())
    return "\n".join([OPENING, *tables, WITH_TOTALS, *totals])


def _section(table: Table) -> str:
    rows = "\n".join(
        f"| `{column.name}` | {column.type} | {_merge(column.merge)} | {column.about} |"
        for column in table.columns
    )
    return (
        f"## {table.name}\n\n{table.about}\n\n"
        f"| column | type | merged by | description |\n| --- | --- | --- | --- |\n{rows}\n"
    )


def _merge(merge: Merge) -> str:
    return "key" if merge is Merge.KEY else f"`{merge}`"
