"""`rollcall tables`: what is in a folder of tables, for people and for other programs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer

from rollcall.cli.options.common import JsonOption
from rollcall.cli.options.spark import ConfOption, store_of
from rollcall.cli.pipeline.view import counts_text
from rollcall.cli.terminal.output import print_json, print_table
from rollcall.cli.terminal.text import grouped
from rollcall.errors import ConfigError
from rollcall.tables.columns import TABLES
from rollcall.tables.folder import Snapshot, read_tables
from rollcall.tables.views import Engine, view

app = typer.Typer(no_args_is_help=True, help="Show the tables that the pipeline wrote.")

TablesOption = Annotated[
    str, typer.Option("--tables", metavar="DIR", help="The folder of the tables.")
]
TableArgument = Annotated[str, typer.Argument(help=f"One of {', '.join(TABLES)}.")]


def _read(tables: str, conf: Sequence[str] | None) -> Snapshot:
    with store_of(tables, conf or ()) as store:
        return read_tables(store)


def _check_name(table: str) -> None:
    if table not in TABLES:
        raise ConfigError(f"there is no table {table!r}", hint=f"known are {', '.join(TABLES)}")


@app.command("list")
def list_tables(tables: TablesOption, conf: ConfOption = None, as_json: JsonOption = False) -> None:
    """List the tables: files, bytes, and what they rest on.

    Example: rollcall tables list --tables tables
    """
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
    when = (
        datetime.fromtimestamp(last / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if last else ""
    )
    print(counts_text(counts) + (f"; last written {when}" if when else ""))


@app.command()
def files(
    table: TableArgument,
    tables: TablesOption,
    conf: ConfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the live files of a table: all of them, and no others, make up the table.

    Example: rollcall tables files usage --tables tables
    """
    _check_name(table)
    found = list(_read(tables, conf).addresses(table))
    if as_json:
        print_json(found)
        return
    for name in found:
        print(name)


@app.command("view")
def show_view(
    table: TableArgument,
    tables: TablesOption,
    engine: Annotated[Engine, typer.Option(help="Whose SQL it shall be.")] = Engine.DUCKDB,
    conf: ConfOption = None,
) -> None:
    """Print a statement that makes a view of a table, its partial sums merged.

    Example: rollcall tables view usage --tables tables | duckdb
    """
    _check_name(table)
    print(view(_read(tables, conf), table, engine))
