"""`rollcall tables`: contents of a directory of tables, for people and for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from rollcall.cli.options.common import JsonOption
from rollcall.cli.options.spark import ConfOption, open_store
from rollcall.cli.pipeline.options import TablesOption
from rollcall.cli.terminal.output import print_json, print_table
from rollcall.cli.terminal.text import grouped
from rollcall.errors import ConfigError

if TYPE_CHECKING:
    from rollcall.tables.folder import Snapshot

app = typer.Typer(no_args_is_help=True, help="Inspect the tables that the pipeline wrote.")

TableArgument = Annotated[
    str, typer.Argument(metavar="TABLE", help="Name of the table, as in `rollcall tables list`.")
]


def _read(tables: str, conf: Sequence[str] | None) -> Snapshot:
    from rollcall.tables.folder import read_tables

    with open_store(tables, conf or ()) as store:
        return read_tables(store)


def _check_name(table: str) -> None:
    from rollcall.tables.columns import TABLES

    if table not in TABLES:
        raise ConfigError(f"there is no table {table!r}", hint=f"choose one of {', '.join(TABLES)}")


@app.command("list")
def list_tables(tables: TablesOption, conf: ConfOption = None, as_json: JsonOption = False) -> None:
    """List the tables with their files and bytes, and the logs that they were made from.

    Example: rollcall tables list --tables tables
    """
    from rollcall.cli.pipeline.view import counts_text
    from rollcall.tables.columns import TABLES

    snapshot = _read(tables, conf)
    last = max((manifest.time_ms for manifest in snapshot.live), default=None)
    rows = [
        {
            "table": name,
            "files": len(snapshot.parts(name)),
            "bytes": sum(part.bytes for part in snapshot.parts(name)),
            "about": table.about,
        }
        for name, table in TABLES.items()
    ]
    counts = snapshot.counts
    if as_json:
        totals = {
            "files": counts.files,
            "lines": counts.lines,
            "requests": counts.requests,
            "skipped": counts.skipped,
            "rejected": counts.rejected,
        }
        print_json({"tables": rows, "read": totals, "written_ms": last})
        return
    columns = ("table", "files", "bytes", "about")
    cells = [grouped([row[name] for name in columns]) for row in rows]
    print_table(columns, cells, right=columns[1:3])
    written = ""
    if last is not None:
        time = datetime.fromtimestamp(last / 1000, UTC)
        written = f"; last written {time:%Y-%m-%d %H:%M:%S} UTC"
    print(f"\n{counts_text(counts)}{written}")


@app.command()
def files(
    table: TableArgument,
    tables: TablesOption,
    conf: ConfOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the live data files of a table; together they are the whole table.

    Example: rollcall tables files usage --tables tables
    """
    _check_name(table)
    names = list(_read(tables, conf).addresses(table))
    if as_json:
        print_json(names)
        return
    for name in names:
        print(name)


@app.command("view")
def print_view(
    table: TableArgument,
    tables: TablesOption,
    engine: Annotated[
        str,
        typer.Option(
            metavar="duckdb|spark", show_default=False, help="SQL dialect (default duckdb)."
        ),
    ] = "duckdb",
    conf: ConfOption = None,
) -> None:
    """Print a SQL statement that creates a view of a table, with partial sums merged.

    Example: rollcall tables view usage --tables tables | duckdb
    """
    from rollcall.tables.views import Engine, view

    _check_name(table)
    if engine not in list(Engine):
        raise typer.BadParameter(f"choose one of {', '.join(Engine)}", param_hint="--engine")
    print(view(_read(tables, conf), table, Engine(engine)))
