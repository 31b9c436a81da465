"""Where logs lie, as the driver sees them: lists, sizes, and pieces of their bytes."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rollcall.pipeline.errors import ChangedError, SourceError
from rollcall.pipeline.sources.paths import absolute, local_path

GZIP_RATIO = 10
"""Request logs shrink to about a tenth."""


@dataclass(frozen=True, slots=True)
class LogFile:
    path: str
    bytes: int
    """As it lies there; of a gzip, compressed."""
    modified: float
    named: bool
    """Given by its name, and not found in a folder or by a pattern."""


class FileSystem(Protocol):
    def find(self, wanted: str) -> list[LogFile]:
        """A file, all files under a folder, or those that fit a pattern."""

    def chunks(self, path: str, start: int, size: int) -> Iterator[bytes]:
        """The bytes from `start` on, in pieces of `size`."""


FileSystemOf = Callable[[str], FileSystem]
"""Maps a path to the file system that reads it."""


class LocalFileSystem:
    def find(self, wanted: str) -> list[LogFile]:
        wanted = local_path(wanted)
        try:
            if os.path.isfile(wanted):  # noqa: PTH113 - a pattern may be no valid path
                return [_log_file(wanted, named=True)]
            if wanted and Path(wanted).is_dir():
                return _walk(wanted)
        except OSError as error:
            raise unreadable(wanted, error.strerror) from error
        matches = sorted(glob.glob(wanted, recursive=True)) if glob.has_magic(wanted) else []  # noqa: PTH207
        if not matches:
            raise missing(wanted)
        found = [_walk(match) if Path(match).is_dir() else _found(match) for match in matches]
        return [file for files in found for file in files]

    def chunks(self, path: str, start: int, size: int) -> Iterator[bytes]:
        try:
            with Path(path).open("rb") as file:
                file.seek(start)
                while chunk := file.read(size):
                    yield chunk
        except FileNotFoundError as error:
            raise gone(path) from error
        except OSError as error:
            raise unreadable(path, error.strerror) from error


def find_logs(file_system_of: FileSystemOf, paths: Iterable[str]) -> list[LogFile]:
    """Every file of these paths, once; a file that is given explicitly stays explicit."""
    found: dict[str, LogFile] = {}
    for path in paths:
        for file in file_system_of(path).find(path):
            if file.named or file.path not in found:
                found[file.path] = file
    return list(found.values())


def _walk(folder: str) -> list[LogFile]:
    """All files under a folder, through links to other folders, too; each folder once."""

    def fail(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise unreadable(str(error.filename), error.strerror) from error

    found: list[LogFile] = []
    been = set()
    for where, folders, names in os.walk(folder, onerror=fail, followlinks=True):
        if (real := Path(where).resolve()) in been:
            folders.clear()
            continue
        been.add(real)
        folders.sort()
        paths = [Path(where, name) for name in sorted(names) if not name.startswith(".")]
        found += [file for path in paths for file in _found(str(path))]
    return found


def _found(path: str) -> list[LogFile]:
    """None if it is a pipe or the like, or was rolled or moved since it was listed: the next look
    finds it where it is."""
    try:
        return [_log_file(path, named=False)] if Path(path).is_file() else []
    except FileNotFoundError:
        return []


def _log_file(path: str, *, named: bool) -> LogFile:
    state = Path(path).stat()
    return LogFile(str(absolute(path)), state.st_size, state.st_mtime, named)


def missing(path: str) -> SourceError:
    if path and Path(path).exists():
        return SourceError(
            f"{path} is neither a file nor a folder",
            hint="a pipe can be read once only, and a log is looked at more often: give the file "
            "itself, plain or gzip",
        )
    return SourceError(
        f"there is no file or folder {path or repr(path)}",
        hint="check the path; a pattern is quoted, as in '/var/log/kafka/*.log.*'",
    )


def unreadable(path: str, why: str | None) -> SourceError:
    return SourceError(
        f"{path} cannot be read: {why}",
        hint="let the user who runs this read it (group, ACL), or copy it elsewhere",
    )


def gone(path: str) -> ChangedError:
    return ChangedError(
        f"{path} went away while it was read", hint="was it rolled or moved? run this again"
    )
