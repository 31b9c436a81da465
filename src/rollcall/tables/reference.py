"""The page that describes every table and column, made from `columns`."""

from __future__ import annotations

from rollcall.tables.columns import TABLES, Merge, Table
from rollcall.tables.totals import TOTALS

OPENING = """# The tables

`rollcall pipeline` writes them, `rollcall tables` lists their files and prints views on them. This
page is made from `src/rollcall/tables/columns.py`.

A table is a set of Parquet files. A file holds partial sums: several rows may have the same
keys. When read, they are one row: counts are added (`sum`), bounds taken (`min`, `max`), masks
joined (`bit_or`). The views of `rollcall tables view` do that. Take the files from `rollcall
tables files`, never from a listing of the folder: it also holds files that are replaced, or not
part of the tables yet.

All times are UTC. Durations are whole microseconds. Missing is null.
"""

WITH_TOTALS = """# Totals

A compaction adds up the tables once more, for the reports: the same sums in far fewer rows.
They are files of their own beside the tables, only in parts that a compaction wrote, and no table
to ask by yourself: what was read since the last compaction is not in them.
"""


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
        f"| column | type | merged by | what it is |\n| --- | --- | --- | --- |\n{rows}\n"
    )


def _merge(merge: Merge) -> str:
    return "key" if merge is Merge.KEY else f"`{merge}`"
