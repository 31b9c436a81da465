"""Python packages in a separate directory, because they conflict with those of the tests."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kafka.jars import FETCH_SECONDS, one_at_a_time


def unpacked(directory: Path, *wanted: str) -> Path:
    """The directory with the installed requirements."""
    with one_at_a_time():
        if (directory / "complete").exists():
            return directory
        shutil.rmtree(directory, ignore_errors=True)
        words = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(directory)]
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
        (directory / "complete").touch()
        return directory
