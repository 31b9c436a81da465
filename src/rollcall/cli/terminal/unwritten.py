"""Output that nobody takes: none that is open, a reader who has gone, a disk that is full."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

from rollcall.errors import RollcallError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def open_what_is_closed() -> None:
    """Who closes an output (`>&-`) wants to see nothing of it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end
            setattr(sys, name, nowhere)


def drop_output() -> None:
    """What could not be written, Python would try to write once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def no_room(error: OSError) -> RollcallError:
    return RollcallError(str(error.strerror), hint="make room where it is to write")
