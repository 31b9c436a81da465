"""Log files: the file system interface, and the local file system."""

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
    """Size on disk; of a gzip, compressed."""
    modified: float
    explicit: bool
    """Given by its own path, not found in a directory or by a pattern."""


class FileSystem(Protocol):
    def find(self, path: str) -> list[LogFile]:
        """A file, all files below a directory, or the files that match a pattern."""

    def chunks(self, path: str, start: int, size: int) -> Iterator[bytes]:
        """The bytes of a file from `start` on, in chunks of `size`."""


FileSystemOf = Callable[[str], FileSystem]
"""Maps a path to the file system that reads it."""


def find_logs(file_system_of: FileSystemOf, paths: Iterable[str]) -> list[LogFile]:
    """Every file of these paths, once; a file that is given explicitly stays explicit."""
    found: dict[str, LogFile] = {}
    for path in paths:
        for file in file_system_of(path).find(path):
            if file.explicit or file.path not in found:
                found[file.path] = file
    return list(found.values())


class LocalFileSystem:
    def find(self, path: str) -> list[LogFile]:
        path = local_path(path)
        try:
            if os.path.isfile(path):  # noqa: PTH113 - a pattern may not be a valid Path
                return [_log_file(path, explicit=True)]
            if path and Path(path).is_dir():
                return _walk(path)
        except OSError as error:
            raise unreadable(path, error.strerror) from error
        matches = sorted(glob.glob(path, recursive=True)) if glob.has_magic(path) else []  # noqa: PTH207
        if not matches:
            raise missing(path)
        found = [_walk(match) if Path(match).is_dir() else _if_file(match) for match in matches]
        return [file for files in found for file in files]

    def chunks(self, path: str, start: int, size: int) -> Iterator[bytes]:
        try:
            with Path(path).open("rb") as file:
                file.seek(start)
                while chunk := file.read(size):
                    yield chunk
        except FileNotFoundError as error:
            raise disappeared(path) from error
        except OSError as error:
            raise unreadable(path, error.strerror) from error


def _walk(directory: str) -> list[LogFile]:
    """All files below a directory; symbolic links are followed, each directory is visited once."""

    def fail(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise unreadable(str(error.filename), error.strerror) from error

    found: list[LogFile] = []
    visited = set()
    for parent, directories, names in os.walk(directory, onerror=fail, followlinks=True):
        if (real := Path(parent).resolve()) in visited:
            directories.clear()
            continue
        visited.add(real)
        directories.sort()
        paths = [Path(parent, name) for name in sorted(names) if not name.startswith(".")]
        found += [file for path in paths for file in _if_file(str(path))]
    return found


def _if_file(path: str) -> list[LogFile]:
    """Empty for a pipe or a device, and for a file that was moved after it was listed."""
    try:
        return [_log_file(path, explicit=False)] if Path(path).is_file() else []
    except FileNotFoundError:
        return []


def _log_file(path: str, *, explicit: bool) -> LogFile:
    stat = Path(path).stat()
    return LogFile(str(absolute(path)), stat.st_size, stat.st_mtime, explicit)


def missing(path: str) -> SourceError:
    if path and Path(path).exists():
        return SourceError(
            f"{path} is neither a file nor a directory",
            hint="give a plain or gzip file; a pipe cannot be read more than once",
        )
    return SourceError(
        f"there is no file or directory {path or repr(path)}",
        hint="check the path, and quote patterns, for example '/var/log/kafka/*.log.*'",
    )


def unreadable(path: str, reason: str | None) -> SourceError:
    return SourceError(
        f"{path} cannot be read: {reason}",
        hint="grant this user read access (group or ACL), or copy the file",
    )


def disappeared(path: str) -> ChangedError:
    return ChangedError(
        f"{path} disappeared while it was read",
        hint="run the command again; the file may have been rolled or moved",
    )
