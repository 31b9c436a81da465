"""Python packages in a folder of their own, as they would not fit with those of the tests."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kafka.jars import FETCH_SECONDS, one_at_a_time


def unpacked(folder: Path, *wanted: str) -> Path:
    """The folder with what pip is asked for."""
    with one_at_a_time():
        if (folder / "complete").exists():
            return folder
        shutil.rmtree(folder, ignore_errors=True)
        words = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder)]
        try:
            done = subprocess.run(
                [*words, *wanted],
                capture_output=True,
                text=True,
                check=False,
                timeout=FETCH_SECONDS,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            pytest.skip(f"{wanted[-1]} could not be fetched within {FETCH_SECONDS} s")
        if done.returncode != 0:
            pytest.skip(f"{wanted[-1]} could not be fetched: {done.stderr[-500:]}")
        (folder / "complete").touch()
        return folder
