"""Folders of tables for tests, made without Spark."""

import json
import secrets
from pathlib import Path

import duckdb

from rollcall.tables.columns import TABLES
from rollcall.tables.folder import LAYOUT
from rollcall.tables.manifests import Kind, Manifest, Part
from rollcall.tables.stores import LocalStore
from rollcall.tables.views import duckdb_type, text
from rollcall.tables.writers import Writer

Rows = list[dict[str, object]]


def write_part(store: LocalStore, number: int, table: str, rows: Rows) -> Part:
    """A Parquet file with these rows; columns that they leave out are null."""
    name = f"parts/{number:010}-{secrets.token_hex(2)}/{table}/part.parquet"
    path = store.root / name
    path.parent.mkdir(parents=True)
    columns = ", ".join(f"{c.name} {duckdb_type(c.type)}" for c in TABLES[table].columns)
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE t ({columns})")
        for row in rows:
            marks = ", ".join("?" * len(row))
            connection.execute(
                f"INSERT INTO t ({', '.join(row)}) VALUES ({marks})", list(row.values())
            )
        connection.execute(f"COPY t TO {text(str(path))} (FORMAT parquet)")
    return Part(name, path.stat().st_size)


def commit(
    writer: Writer,
    tables: dict[str, Rows],
    *,
    covers: tuple[int, int] | None = None,
    number: int | None = None,
) -> Manifest:
    assert isinstance(writer.store, LocalStore)
    number = number or writer.snapshot().next_number
    parts = {name: (write_part(writer.store, number, name, rows),) for name, rows in tables.items()}
    kind = Kind.COMPACTION if covers else Kind.BATCH
    manifest = Manifest(number, kind, writer.now_ms(), covers, parts)
    writer.commit(manifest)
    return manifest


def mark(root: Path, **mark: object) -> LocalStore:
    root.mkdir(exist_ok=True)
    (root / "tables.json").write_text(json.dumps({"layout": LAYOUT, "made_by": "tests"} | mark))
    return LocalStore(root)
