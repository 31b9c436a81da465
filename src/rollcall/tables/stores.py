"""Where tables lie: the few things that a file system and an object store can both do.

Nothing is renamed and nothing is appended to. `create` is the only step that two writers can
contend for, and one of them loses. What it writes may be seen half-written on a file system, so
whoever reads it must be able to tell (a manifest is complete when it is a whole JSON object).
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from stat import S_ISDIR
from typing import Protocol

from rollcall.tables.errors import TablesError


@dataclass(frozen=True, slots=True)
class Entry:
    name: str
    """Relative to the folder that was listed; a folder ends in `/`."""
    bytes: int
    modified: float


class Store(Protocol):
    """A folder; all names are relative to it, with `/` between."""

    @property
    def address(self) -> str:
        """What Spark and DuckDB are to put before a name."""

    def list(self, folder: str) -> list[Entry]:
        """What is in a folder, in the order of names; nothing when there is no such folder."""

    def read(self, name: str) -> bytes:
        """The content; FileNotFoundError when it is not there."""

    def create(self, name: str, content: bytes) -> bool:
        """Write a file that is not there yet; False when it is."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whether it is there or not."""

    def delete(self, name: str) -> None:
        """Delete a file, or a folder with all that is in it; fine when it is not there."""

    def absent(self) -> Sequence[str]:
        """The folder itself and those above it, as far as they are not there; innermost first."""

    def remove_empty(self, folders: Iterable[str]) -> None:
        """Remove these folders, in their order, up to the first that holds something."""

    def settle(self, names: Iterable[str]) -> None:
        """Make sure that files which were written by others will survive a loss of power."""


@dataclass(frozen=True, slots=True)
class LocalStore:
    root: Path

    @property
    def address(self) -> str:
        return str(self.root)

    def list(self, folder: str) -> list[Entry]:
        with _explained(self.root), suppress(FileNotFoundError):
            with os.scandir(self.root / folder) as listed:
                found = [entry for each in listed for entry in _entry(each)]
            return sorted(found, key=lambda entry: entry.name)
        return []

    def read(self, name: str) -> bytes:
        with _explained(self.root):
            return (self.root / name).read_bytes()

    def create(self, name: str, content: bytes) -> bool:
        return self._put(name, content, os.O_EXCL)

    def write(self, name: str, content: bytes) -> None:
        self._put(name, content, os.O_TRUNC)

    def _put(self, name: str, content: bytes, flag: int) -> bool:
        path = self.root / name
        with _explained(self.root, may_lack=False):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                handle = os.open(path, os.O_WRONLY | os.O_CREAT | flag, 0o644)
            except FileExistsError:
                return False
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            self._sync_above([name])
        return True

    def delete(self, name: str) -> None:
        path = self.root / name
        with _explained(self.root):
            try:
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()
            except FileNotFoundError:
                return

    def absent(self) -> Sequence[str]:
        above = (self.root, *self.root.parents)
        with _explained(self.root):
            return [str(folder) for folder in above if not folder.exists()]

    def remove_empty(self, folders: Iterable[str]) -> None:
        with suppress(OSError):
            for folder in folders:
                Path(folder).rmdir()

    def settle(self, names: Iterable[str]) -> None:
        written = list(names)
        with _explained(self.root):
            for name in written:
                with (self.root / name).open("rb") as file:
                    os.fsync(file.fileno())
            self._sync_above(written)

    def _sync_above(self, names: Iterable[str]) -> None:
        """Every folder on the way to these files: each may be a new one in the folder above."""
        for folder in {folder for name in names for folder in PurePath(name).parents}:
            _sync_folder(self.root / folder)


def _entry(listed: os.DirEntry[str]) -> list[Entry]:
    """None if it was deleted since it was listed: the others are still there."""
    try:
        state = listed.stat()
    except FileNotFoundError:
        return []
    name = f"{listed.name}/" if S_ISDIR(state.st_mode) else listed.name
    return [Entry(name, state.st_size, state.st_mtime)]


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


FULL = {errno.ENOSPC, errno.EDQUOT}


@contextmanager
def _explained(root: Path, *, may_lack: bool = True) -> Iterator[None]:
    """With `may_lack` a file that is not there is left to the caller."""
    try:
        yield
    except OSError as error:
        if may_lack and isinstance(error, FileNotFoundError):
            raise
        if error.errno in FULL:
            raise disk_full(str(root)) from error
        raise TablesError(
            f"{error.filename or root} cannot be used: {error.strerror}",
            hint="name a folder with --tables that you may read and write",
        ) from error


def disk_full(where: str) -> TablesError:
    return TablesError(
        f"the disk is full: {where}",
        hint="make room and run the same command again; what was committed is kept, "
        "and nothing will be counted twice",
    )
