"""Output that nobody takes: a reader who has gone, a disk that is full."""

from __future__ import annotations

import errno
import os
import sys

from rollcall.errors import RollcallError

NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


def drop_output() -> None:
    """What could not be written, Python would try to write once more when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def no_room(error: OSError) -> RollcallError:
    return RollcallError(str(error.strerror), hint="make room where it is to write")
