"""Tables to write to: made where there are none, and gone again when nothing came of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from rollcall.tables import manifests, writers
from rollcall.tables.cleaning import PARTS, STAGING
from rollcall.tables.errors import TablesError
from rollcall.tables.folder import MARK, STREAMS, MissingTablesError, make_tables, read_tables
from rollcall.tables.manifests import Kind
from rollcall.tables.stores import Store

OWN_NAMES = (MARK, manifests.FOLDER, PARTS, STAGING, STREAMS, writers.FOLDER)
"""All that may lie in a folder of tables; the mark first."""


@contextmanager
def tables_to_write(store: Store, made_by: str) -> Iterator[None]:
    """Tables for a block that writes to them; if it fails, what was not there is not left."""
    absent = store.absent()
    made: bool | None = None
    try:
        made = make_tables(store, made_by)
        yield
    except BaseException:
        if made or (made is None and absent):  # None: stopped while it made them
            with suppress(TablesError, OSError):  # why the block failed is what matters
                _unmake(store, absent)
        raise


def _unmake(store: Store, absent: Sequence[str]) -> None:
    """Take away tables that nothing was committed to; the mark first, so that nobody enters."""
    try:
        committed = any(manifest.kind is not Kind.FENCE for manifest in read_tables(store).live)
    except MissingTablesError:
        committed = False
    if committed or not writers.is_free(store):
        return
    for name in OWN_NAMES:
        store.delete(name)
    store.remove_empty(absent)
