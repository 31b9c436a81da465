"""Deleting what no reader can want any more: replaced parts after an hour, and what dead runs left.

Only the writer cleans. A replaced manifest goes last, after its parts, so that a cleaning that
was cut short is taken up again.
"""

from __future__ import annotations

from dataclasses import dataclass

from rollcall.tables import manifests
from rollcall.tables.folder import Snapshot
from rollcall.tables.manifests import Manifest
from rollcall.tables.stores import Entry, Store
from rollcall.tables.writers import Writer

KEEP_SECONDS = 3600.0
CLEAN_EVERY_SECONDS = 600.0
PARTS = "parts"
STAGING = "staging"


def clean(writer: Writer) -> int:
    """Delete what is due; how many folders of parts went."""
    snapshot = writer.snapshot()
    due = [manifest for manifest in snapshot.manifests if _is_due(writer, snapshot, manifest)]
    folders = {folder for manifest in due for folder in part_folders(manifest)}
    gone = folders | _left_behind(writer, snapshot)
    for folder in sorted(gone):
        writer.store.delete(folder)
    for manifest in due:
        writer.store.delete(manifests.file_name(manifest.number))
    return len(gone)


@dataclass
class Cleaner:
    """Cleans now and then, for who writes on and on."""

    writer: Writer
    _cleaned: float = 0.0

    def clean_if_due(self) -> None:
        now = self.writer.clock()
        if now - self._cleaned > CLEAN_EVERY_SECONDS:
            clean(self.writer)
            self._cleaned = now


def part_folders(manifest: Manifest) -> set[str]:
    """The folders, one or none, that hold the parts of a manifest and nothing else."""
    names = (part.name for parts in manifest.parts.values() for part in parts)
    return {"/".join(name.split("/")[:2]) for name in names}


def _is_due(writer: Writer, snapshot: Snapshot, manifest: Manifest) -> bool:
    oldest = writer.now_ms() - KEEP_SECONDS * 1000
    return any(
        other.replaces(manifest.number) and other.time_ms < oldest for other in snapshot.manifests
    )


def _left_behind(writer: Writer, snapshot: Snapshot) -> set[str]:
    """Folders of runs that ended before their commit. Young ones stay: a run may be mistaken for
    dead, and its number is taken then, but its files should not vanish under its hands."""
    named = {folder for manifest in snapshot.manifests for folder in part_folders(manifest)}
    oldest = writer.now_ms() / 1000 - KEEP_SECONDS
    found = {
        f"{folder}/{entry.name.rstrip('/')}": entry
        for folder in (PARTS, STAGING)
        for entry in writer.store.list(folder)
    }
    return {
        name
        for name, entry in found.items()
        if name not in named and _last_change(writer.store, name, entry) < oldest
    }


def _last_change(store: Store, name: str, entry: Entry) -> float:
    """That of the youngest file in it: an object store has no folders, and calls each one new."""
    inside = store.list(name) if entry.name.endswith("/") else []
    times = (_last_change(store, f"{name}/{each.name.rstrip('/')}", each) for each in inside)
    return max(times, default=entry.modified)
