import resource
import subprocess
import sys

import pytest

from rollcall.client.open_files import MOST_FILES

CHECK = """
import resource
from rollcall.client.open_files import raise_open_file_limit
raise_open_file_limit()
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


def test_there_is_room_for_many_connections_where_the_system_is_sparing() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 1024:
        pytest.skip(f"this system allows {hard} open files at most")

    def be_sparing() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))

    told = subprocess.run(
        [sys.executable, "-c", CHECK],
        preexec_fn=be_sparing,
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    assert int(told.stdout) == wanted
