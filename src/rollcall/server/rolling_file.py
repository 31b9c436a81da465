"""Log file that rolls every hour: `kafka-request.log.2026-03-01-10`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final, TextIO

from rollcall.errors import RollcallError

HOUR: Final = "%Y-%m-%d-%H"
QUARTER_SECONDS: Final = 900


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
                f"cannot write the request log {path}: {error.strerror}",
                hint="choose a directory with write permission",
            ) from error

    def write(self, timestamp: float, text: str) -> None:
        """Append text; its timestamp (Unix seconds) determines the file."""
        if self._file is None or timestamp >= self._until:
            self._open(timestamp)
        assert self._file is not None
        self._file.write(text)

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self, timestamp: float) -> None:
        self.close()
        hour = time.strftime(HOUR, time.localtime(timestamp))
        if self.path.exists():
            written = time.strftime(HOUR, time.localtime(self.path.stat().st_mtime))
            last = self._hour or written
            if last != hour:
                self.path.rename(_unused(self.path.with_name(f"{self.path.name}.{last}")))
        self._file = self.path.open("a", encoding="utf-8", errors="backslashreplace")
        self._hour = hour
        # Time zones have offsets of quarter hours, so a local hour begins at a whole quarter.
        self._until = (timestamp // QUARTER_SECONDS + 1) * QUARTER_SECONDS


def _unused(path: Path) -> Path:
    """The path, with a number appended if it exists: no file is overwritten."""
    candidate, number = path, 0
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}.{number}")
    return candidate
