"""A folder of tables: whether it is ours, and what is in it now.

tables.json             this is a folder of tables, and of which layout
manifests/0000000012.json
parts/0000000012-a1b2/usage/part-0.parquet
writers/                who writes (see `writers`)
staging/, streams/      the pipeline's own
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from rollcall.tables import manifests
from rollcall.tables.columns import TABLES
from rollcall.tables.errors import TablesError
from rollcall.tables.manifests import Counts, Manifest, Part
from rollcall.tables.stores import Store

LAYOUT = 2
MARK = "tables.json"
STREAMS = "streams"
TRIES = 5


@dataclass(frozen=True)
class Snapshot:
    """The tables as they were when the manifests were read. Its files stay for an hour at least."""

    store: Store
    manifests: tuple[Manifest, ...]
    """All that are there, also those that a compaction replaces."""
    incomplete: tuple[int, ...]
    """Numbers of manifests whose writers died over them, or are still at it."""

    @cached_property
    def live(self) -> tuple[Manifest, ...]:
        return manifests.only_live(self.manifests)

    @cached_property
    def next_number(self) -> int:
        taken = [manifest.number for manifest in self.manifests]
        return max([0, *taken, *self.incomplete]) + 1

    @cached_property
    def counts(self) -> Counts:
        return sum((manifest.counts for manifest in self.live), Counts())

    @cached_property
    def streams(self) -> Mapping[str, int]:
        last: dict[str, int] = {}
        for manifest in self.live:
            for stream, batch in manifest.streams.items():
                last[stream] = max(batch, last.get(stream, batch))
        return last

    def parts(self, table: str) -> tuple[Part, ...]:
        return tuple(part for manifest in self.live for part in manifest.parts.get(table, ()))

    def addresses(self, table: str) -> tuple[str, ...]:
        """The live files of a table, as Spark and DuckDB want them."""
        if table not in TABLES:
            raise TablesError(f"there is no table {table!r}", hint=f"known are {', '.join(TABLES)}")
        return tuple(f"{self.store.address}/{part.name}" for part in self.parts(table))


def read_tables(store: Store) -> Snapshot:
    """What is in the tables now. Needs no lock and waits for nobody."""
    check_mark(store)
    for _ in range(TRIES):
        try:
            return _read_manifests(store)
        except FileNotFoundError:  # replaced an hour ago, and gone since we listed it
            continue
    raise TablesError(
        f"the manifests of {store.address} change faster than they can be read",
        hint="is something else than rollcall deleting files there?",
    )


def _read_manifests(store: Store) -> Snapshot:
    complete, incomplete = [], []
    for entry in store.list(manifests.FOLDER):
        number = manifests.number_of(entry.name)
        if number is None:
            continue
        name = manifests.file_name(number)
        manifest = manifests.parse(store.read(name), f"{store.address}/{name}")
        if manifest is None:
            incomplete.append(number)
        else:
            complete.append(manifest)
    return Snapshot(store, tuple(complete), tuple(incomplete))


class MissingTablesError(TablesError):
    """There are no tables in this folder."""


def make_tables(store: Store, made_by: str) -> bool:
    """Mark an empty or missing folder as ours; check one that is there. Whether it was made."""
    try:
        check_mark(store)
        return False
    except MissingTablesError:
        if strangers := [entry.name for entry in store.list("") if entry.name != MARK]:
            raise _not_ours(store, strangers) from None
        mark = json.dumps({"layout": LAYOUT, "made_by": made_by}).encode() + b"\n"
        if store.create(MARK, mark):
            return True
        if not store.read(MARK):
            store.write(MARK, mark)
        return False


def check_mark(store: Store) -> None:
    try:
        if not (content := store.read(MARK)):  # who made it died over it
            raise FileNotFoundError
        mark = json.loads(content)
        layout = int(mark["layout"])
    except FileNotFoundError:
        raise MissingTablesError(
            f"there are no tables in {store.address}",
            hint="`rollcall pipeline run LOGS --tables DIR` makes them",
        ) from None
    except (ValueError, KeyError, OverflowError, TypeError) as error:
        raise _not_ours(store, [MARK]) from error
    if layout != LAYOUT:
        who = mark.get("made_by", "another rollcall")
        else_ = "or newer" if layout > LAYOUT else "or read the logs into new tables"
        raise TablesError(
            f"the tables in {store.address} are of layout {layout}, this rollcall knows {LAYOUT}",
            hint=f"they were made by {who}: use that, {else_}",
        )


def _not_ours(store: Store, names: list[str]) -> TablesError:
    return TablesError(
        f"{store.address} is no folder of tables: it holds {', '.join(sorted(names)[:3])}",
        hint="name an empty folder, or one that rollcall made",
    )
