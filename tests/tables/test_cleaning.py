"""What goes, and what stays."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from rollcall.tables.cleaning import Cleaner, clean
from rollcall.tables.folder import make_tables, read_tables
from rollcall.tables.stores import Entry, LocalStore
from rollcall.tables.writers import open_writer
from tests.tables.making import commit

ROW = {"file": "a.log", "line": 1, "reason": "odd"}
NOW = 1_800_000_000.0


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    store = LocalStore(tmp_path / "tables")
    make_tables(store, "tests")
    return store


def compacted(store: LocalStore) -> set[str]:
    with open_writer(store, "test", clock=lambda: NOW) as writer:
        for _ in range(2):
            commit(writer, {"rejects": [ROW]})
        commit(writer, {"rejects": [ROW]}, covers=(1, 2))
    return set(read_tables(store).addresses("rejects"))


def files_in(store: LocalStore) -> set[str]:
    return {str(path) for path in store.root.rglob("*.parquet")}


def test_replaced_files_stay_for_an_hour_for_those_who_read_them(store: LocalStore) -> None:
    compacted(store)
    before = files_in(store)
    with open_writer(store, "test", clock=lambda: NOW + 3500) as writer:
        clean(writer)
    assert files_in(store) == before


def test_replaced_files_go_after_an_hour_and_their_manifests_with_them(store: LocalStore) -> None:
    live = compacted(store)
    with open_writer(store, "test", clock=lambda: NOW + 3700) as writer:
        clean(writer)
    assert files_in(store) == live
    assert [manifest.number for manifest in read_tables(store).manifests] == [3]
    assert read_tables(store).next_number == 4


def test_what_dead_runs_left_goes_when_it_is_old(store: LocalStore) -> None:
    live = compacted(store)
    for name in ("parts/0000000009-dead/usage/a.parquet", "staging/0000000009-dead/0.log"):
        (store.root / name).parent.mkdir(parents=True)
        (store.root / name).write_bytes(b"x")
    modified = (store.root / "parts/0000000009-dead").stat().st_mtime
    with open_writer(store, "test", clock=lambda: modified + 60) as writer:
        clean(writer)
    assert (store.root / "parts/0000000009-dead").exists()
    with open_writer(store, "test", clock=lambda: modified + 3700) as writer:
        clean(writer)
    assert live <= files_in(store)
    assert not (store.root / "parts/0000000009-dead").exists()
    assert not (store.root / "staging/0000000009-dead").exists()


def test_a_cleaning_that_was_cut_short_is_taken_up_again(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = compacted(store)
    delete, left = LocalStore.delete, [1]

    def delete_one(self: LocalStore, name: str) -> None:
        if name.startswith("parts/") and not left:
            raise KeyboardInterrupt
        left.clear()
        delete(self, name)

    with open_writer(store, "test", clock=lambda: NOW + 3700) as writer, monkeypatch.context() as m:
        m.setattr(LocalStore, "delete", delete_one)
        with pytest.raises(KeyboardInterrupt):
            clean(writer)
    assert set(read_tables(store).addresses("rejects")) == live
    with open_writer(store, "test", clock=lambda: NOW + 3700) as writer:
        clean(writer)
    assert files_in(store) == live


def test_a_folder_is_as_old_as_its_youngest_file(store: LocalStore) -> None:
    class ObjectStore(LocalStore):
        """Has no folders: whoever asks for the time of one is told that it is now."""

        def list(self, folder: str) -> list[Entry]:
            found = super().list(folder)
            return [
                replace(entry, modified=NOW) if entry.name.endswith("/") else entry
                for entry in found
            ]

    objects = ObjectStore(store.root)
    for name, age in (("dead", 7200), ("young", 60)):
        file = store.root / f"parts/0000000009-{name}/usage/a.parquet"
        file.parent.mkdir(parents=True)
        file.write_bytes(b"x")
        os.utime(file, (NOW - age, NOW - age))
    with open_writer(objects, "test", clock=lambda: NOW) as writer:
        clean(writer)
    assert [path.name for path in (store.root / "parts").iterdir()] == ["0000000009-young"]


def test_who_writes_on_and_on_cleans_now_and_then(store: LocalStore) -> None:
    times = [NOW]
    with open_writer(store, "test", clock=lambda: times[-1]) as writer:
        cleaner = Cleaner(writer)
        cleaner.clean_if_due()
        commit(writer, {"rejects": [ROW]})
        commit(writer, {"rejects": [ROW]}, covers=(1, 1))
        replaced = files_in(store)
        times.append(NOW + 599)
        cleaner.clean_if_due()
        assert files_in(store) == replaced
        times.append(NOW + 3700)
        cleaner.clean_if_due()
    assert files_in(store) < replaced
