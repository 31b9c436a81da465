"""A file that is moved aside when its hour is over: `kafka-request.log.2026-03-01-10`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final, TextIO

from rollcall.errors import RollcallError

HOUR: Final = "%Y-%m-%d-%H"
SECONDS_PER_HOUR: Final = 3600


class RollingFile:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: TextIO | None = None
        self._until = 0.0
        self._hour = ""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._open(time.time())
        except OSError as error:
            raise RollcallError(
                f"the request log {path} cannot be written: {error.strerror}",
                hint="choose a folder that this user may write to",
            ) from error

    def write(self, at: float, text: str) -> None:
        """`at` is the time of the text in Unix seconds: it decides the file."""
        if self._file is None or at >= self._until:
            self._open(at)
        assert self._file is not None
        self._file.write(text)

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self, at: float) -> None:
        self.close()
        hour = time.strftime(HOUR, time.localtime(at))
        if self.path.exists():
            written = time.strftime(HOUR, time.localtime(self.path.stat().st_mtime))
            last = self._hour or written
            if last != hour:
                self.path.rename(_free(self.path.with_name(f"{self.path.name}.{last}")))
        self._file = self.path.open("a", encoding="utf-8", errors="backslashreplace")
        self._hour = hour
        # Where hours begin depends on the time zone, but all of them begin at a whole quarter.
        self._until = (at // (SECONDS_PER_HOUR / 4) + 1) * (SECONDS_PER_HOUR / 4)


def _free(path: Path) -> Path:
    """The path, or one with a number where that is taken: nothing is overwritten."""
    candidate, number = path, 0
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}.{number}")
    return candidate
