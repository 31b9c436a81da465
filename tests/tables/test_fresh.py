"""Tables that were made and came to nothing are taken away again; all others stay."""

from pathlib import Path

import pytest

from rollcall.tables import writers
from rollcall.tables.folder import make_tables, read_tables
from rollcall.tables.fresh import tables_to_write
from rollcall.tables.stores import LocalStore
from rollcall.tables.writers import open_writer
from tests.tables.making import commit

ROW = {"file": "a.log", "line": 1, "reason": "odd"}


class FailedError(Exception):
    pass


def write_and_fail(store: LocalStore, *, after_commit: bool) -> None:
    with tables_to_write(store, "tests"), open_writer(store, "test") as writer:
        store.write("staging/1/a.log", b"a copy")
        if after_commit:
            commit(writer, {"rejects": [ROW]})
        raise FailedError


def fail(store: LocalStore, *, after_commit: bool = False) -> None:
    with pytest.raises(FailedError):
        write_and_fail(store, after_commit=after_commit)


def test_a_failure_leaves_nothing_where_nothing_was(tmp_path: Path) -> None:
    fail(LocalStore(tmp_path / "new" / "deep" / "tables"))
    assert list(tmp_path.iterdir()) == []


def test_one_that_is_stopped_over_the_mark_itself_leaves_nothing(tmp_path: Path) -> None:
    class Stopped(LocalStore):
        def create(self, name: str, content: bytes) -> bool:
            super().create(name, b"")
            raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        tables_to_write(Stopped(tmp_path / "new" / "tables"), "tests"),
    ):
        pytest.fail("there are no tables to write to")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_that_was_there_stays(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    fail(LocalStore(tmp_path / "tables"))
    assert list((tmp_path / "tables").iterdir()) == []


def test_what_was_committed_before_the_failure_stays(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "tables")
    fail(store, after_commit=True)
    assert len(read_tables(store).live) == 1


def test_tables_that_were_there_stay_though_they_are_empty(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "tables")
    make_tables(store, "tests")
    fail(store)
    assert read_tables(store).live == ()


def test_what_another_writer_has_entered_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = LocalStore(tmp_path / "tables")
    monkeypatch.setattr(writers, "is_free", lambda _: False)
    fail(store)
    assert read_tables(store).live == ()


def test_tables_are_free_unless_another_process_writes(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "tables")
    make_tables(store, "tests")
    assert writers.is_free(store)
    with open_writer(store, "test"):
        assert writers.is_free(store)
    assert writers.is_free(store)
    note = b'{"host": "elsewhere", "pid": 1, "process": "", "doing": "x", "began_ms": 0}'
    store.create("writers/0000000002.json", note)
    assert not writers.is_free(store)


def test_a_block_that_ends_well_leaves_its_tables(tmp_path: Path) -> None:
    store = LocalStore(tmp_path / "tables")
    with tables_to_write(store, "tests"):
        pass
    assert read_tables(store).live == ()
