"""A folder of this machine as a store."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from rollcall.tables.errors import TablesError
from rollcall.tables.stores import LocalStore


def test_a_file_is_created_once(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    assert store.create("a/b.json", b"first")
    assert not store.create("a/b.json", b"second")
    assert store.read("a/b.json") == b"first"


def test_a_list_has_folders_and_files_in_order(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    for name in ("b.json", "c/d.json", "a.json"):
        store.write(name, b"12")
    assert [entry.name for entry in store.list("")] == ["a.json", "b.json", "c/"]
    assert store.list("nowhere") == []


def test_a_file_that_goes_while_a_folder_is_listed_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = LocalStore(tmp_path)
    for name in ("a", "b", "c"):
        store.write(name, b"")

    class Going:
        def __init__(self, entries: Iterator[os.DirEntry[str]]) -> None:
            self.entries = entries

        def __enter__(self) -> Iterator[os.DirEntry[str]]:
            listed = sorted(self.entries, key=lambda entry: entry.name)
            (tmp_path / "b").unlink()
            return iter(listed)

        def __exit__(self, *_: object) -> None: ...

    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: Going(scandir(folder)))
    assert [entry.name for entry in store.list("")] == ["a", "c"]


def test_what_is_not_there_may_be_deleted(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.write("a/b", b"")
    store.delete("a")
    store.delete("a")
    assert store.list("") == []


def test_what_was_written_survives_with_every_folder_above_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "parts" / "1" / "usage").mkdir(parents=True)
    (tmp_path / "parts" / "1" / "usage" / "a").write_bytes(b"")
    synced: set[Path] = set()
    monkeypatch.setattr(os, "fsync", lambda it: synced.add(Path(f"/proc/self/fd/{it}").readlink()))
    LocalStore(tmp_path).settle(["parts/1/usage/a"])
    names = ("parts/1/usage/a", "parts/1/usage", "parts/1", "parts", "")
    assert synced == {tmp_path.resolve() / name for name in names}


def test_a_full_disk_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TablesError, match="the disk is full") as error:
        LocalStore(tmp_path).create("a", b"")
    assert error.value.hint is not None
    assert "run the same command again" in error.value.hint


def test_a_folder_that_cannot_be_made_is_an_error_with_a_hint() -> None:
    with pytest.raises(TablesError, match="cannot be used"):
        LocalStore(Path("/proc/rollcall/tables")).create("mark", b"x")


def test_a_folder_that_may_not_be_written_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TablesError, match=r"cannot be used: (Not a directory|File exists)"):
        LocalStore(tmp_path / "file").create("a", b"")
