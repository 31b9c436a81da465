"""A full or read-only disk is an error, and no line is lost or counted twice.

The disk is a tmpfs in a mount namespace of the test.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.running import lines, put, requests

pytestmark = pytest.mark.slow

UNSHARE = ["unshare", "--mount", "--map-root-user"]
SCRIPT = """
mount -t tmpfs -o size=8k none "$DISK" || exit 9
"$@"; echo "code $?"
mount -o remount,size=20m "$DISK"
"$@"; echo "code $?"
mount -o remount,ro "$DISK"
"$@"; echo "code $?"
cp -r "$DISK/tables" "$COPY"
"""


def can_unshare() -> bool:
    try:
        return subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.timeout(600)
@pytest.mark.skipif(not can_unshare(), reason="user namespaces are not available")
def test_run_after_a_full_disk_counts_each_line_once(
    tmp_path: Path,
) -> None:
    log = put(tmp_path / "a.log", "".join(lines(9, n * 9, client=f"app-{n}") for n in range(40)))
    disk, copy = tmp_path / "disk", tmp_path / "copy"
    disk.mkdir()
    program = [sys.executable, "-m", "rollcall", "pipeline", "run"]
    command = [*program, str(log), "--tables", f"{disk}/tables", "--master", "local[2]", "--json"]
    done = subprocess.run(
        [*UNSHARE, "sh", "-c", SCRIPT, "sh", *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env={**os.environ, "DISK": str(disk), "COPY": str(copy)},
    )
    codes = [line for line in done.stdout.splitlines() if line.startswith("code ")]
    assert codes == ["code 1", "code 0", "code 1"], done.stderr
    full, read_only = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert full.startswith("error: the disk is full: ")
    assert f"{disk}/tables" in full
    assert read_only.endswith("cannot be used: Read-only file system")
    result = json.loads(done.stdout.split("code 1")[1].split("code 0")[0])
    assert (result["requests"], requests(copy)) == (360, 360)
