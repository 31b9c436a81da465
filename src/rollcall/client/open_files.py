"""Room for many connections: each takes a file, and many systems allow 1024 unless asked."""

import resource
from typing import Final

MOST_FILES: Final = 65536


def raise_open_file_limit() -> None:
    """For the whole process, as far as the system lets it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
