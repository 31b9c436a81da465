"""The Makefile names what is missing on the machine, and sets up once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TARGETS = {
    "help",
    "setup",
    "demo",
    "test",
    "test-slow",
    "test-kafka",
    "test-browser",
    "check",
    "lint",
    "bench",
    "docs",
    "clean",
}
OLD = 1_000_000_000  # modification time of the copied files


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A copy of the files that the Makefile depends on, in a path with a space."""
    directory = tmp_path / "my clone"
    (directory / "requirements").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "requirements/dev.txt"):
        shutil.copy(ROOT / name, directory / name)
        os.utime(directory / name, (OLD, OLD))
    return directory


def program(directory: Path, name: str, body: str) -> Path:
    path = directory / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def make(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # the inner make must not inherit the flags of the `make test` that runs these tests
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    return subprocess.run(
        ["make", f"PYTHON={sys.executable}", *arguments],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "target",
    [
        "setup",
        "demo",
        "test",
        "test-slow",
        "test-kafka",
        "test-browser",
        "check",
        "bench",
        "lint",
        "docs",
    ],
)
def test_old_python_is_an_error_of_one_line_before_set_up(directory: Path, target: str) -> None:
    old = program(directory, "python3.9", "echo version 3.9")
    result = make(directory, target, f"PYTHON={old}")
    assert result.returncode != 0
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert "needs Python 3.11 or newer" in result.stderr
    assert "is version 3.9" in result.stderr
    assert "PYTHON=/path/to/python3.11" in result.stderr
    assert not (directory / ".venv").exists()


def test_missing_python_is_an_error_of_one_line(directory: Path) -> None:
    result = make(directory, "setup", "PYTHON=python-that-is-not-there")
    assert result.returncode != 0
    assert len(result.stderr.splitlines()) == 1
    assert "is missing: install one" in result.stderr


@pytest.mark.parametrize(
    ("printed", "named"),
    [
        ('openjdk version "11.0.26" 2025-01-21', "is version 11:"),
        ('java version "1.8.0_442"', "is version 8:"),
        (None, "is missing:"),
    ],
)
def test_old_or_missing_java_is_an_error_of_one_line_and_skips_real_kafka(
    directory: Path, printed: str | None, named: str
) -> None:
    java = (
        directory / "no-java"
        if printed is None
        else program(directory, "java", f"echo '{printed}' >&2")
    )
    for target in ("demo", "test", "test-slow"):
        result = make(directory, target, f"JAVA={java}")
        assert result.returncode != 0
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1
        assert f"'{target}' needs Java 17 or newer" in result.stderr
        assert named in result.stderr
        assert "JAVA_HOME" in result.stderr
        assert not (directory / ".venv").exists()  # checked before set-up

    set_up(directory)
    skipped = make(directory, "test-kafka", f"JAVA={java}")
    assert skipped.returncode == 0
    assert skipped.stderr == ""
    assert len(skipped.stdout.splitlines()) == 1
    assert skipped.stdout.startswith("skipped: 'test-kafka' needs Java 17 or newer, and ")
    assert named in skipped.stdout
    assert "JAVA_HOME" in skipped.stdout


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
def test_supported_java_is_used(directory: Path, version: str) -> None:
    set_up(directory)
    java = program(directory, "java", f"echo 'openjdk version \"{version}\"' >&2")
    result = make(directory, "--dry-run", "test-kafka", f"JAVA={java}")
    assert result.returncode == 0
    assert "-m kafka" in result.stdout


def test_second_run_does_not_install_again(directory: Path) -> None:
    set_up(directory)
    result = make(directory, "--dry-run", "setup")
    assert "pip install" not in result.stdout
    (directory / "pyproject.toml").touch()
    result = make(directory, "--dry-run", "setup")
    assert "pip install" in result.stdout


def test_help_is_the_default_target_and_lists_every_target(directory: Path) -> None:
    result = make(directory)
    assert result.returncode == 0
    listed = {line.split()[1] for line in result.stdout.splitlines()}
    assert listed == TARGETS


def set_up(directory: Path) -> None:
    stamp = directory / ".venv" / ".installed"
    stamp.parent.mkdir()
    stamp.touch()
    os.utime(stamp, (OLD + 10, OLD + 10))
