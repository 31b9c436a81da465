"""What the Makefile says when the machine lacks something, and that it sets up once."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OLD = 1_000_000_000  # when the copied files were last changed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of what the Makefile looks at, in a path with a space."""
    folder = tmp_path / "my clone"
    (folder / "requirements").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "requirements/dev.txt"):
        shutil.copy(ROOT / name, folder / name)
        os.utime(folder / name, (OLD, OLD))
    return folder


def program(folder: Path, name: str, body: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # the flags and variables of a `make test` that runs these tests must not reach the inner one
    environment = {name: value for name, value in os.environ.items() if "MAKE" not in name}
    return subprocess.run(
        ["make", f"PYTHON={sys.executable}", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("target", ["setup", "demo", "test", "test-kafka", "bench", "lint", "docs"])
def test_an_old_python_is_told_in_one_line_before_anything_is_made(
    folder: Path, target: str
) -> None:
    old = program(folder, "python3.9", "echo version 3.9")
    result = make(folder, target, f"PYTHON={old}")
    assert result.returncode != 0
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert "needs Python 3.11 or newer" in result.stderr
    assert "is version 3.9" in result.stderr
    assert "PYTHON=/path/to/python3.11" in result.stderr
    assert not (folder / ".venv").exists()


def test_no_python_at_all_is_told_the_same_way(folder: Path) -> None:
    result = make(folder, "setup", "PYTHON=python-that-is-not-there")
    assert result.returncode != 0
    assert len(result.stderr.splitlines()) == 1
    assert "is missing: install one" in result.stderr


@pytest.mark.parametrize(
    ("says", "told"),
    [
        ('openjdk version "11.0.26" 2025-01-21', "is version 11:"),
        ('java version "1.8.0_442"', "is version 8:"),
        (None, "is missing:"),
    ],
)
def test_an_old_or_missing_java_is_told_in_one_line_and_real_kafka_is_skipped(
    folder: Path, says: str | None, told: str
) -> None:
    java = folder / "no-java" if says is None else program(folder, "java", f"echo '{says}' >&2")
    for target in ("demo", "test"):
        result = make(folder, target, f"JAVA={java}")
        assert result.returncode != 0
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1
        assert f"'{target}' needs Java 17 or newer" in result.stderr
        assert told in result.stderr
        assert "JAVA_HOME" in result.stderr
        assert not (folder / ".venv").exists()  # told before anything is made

    set_up(folder)
    skipped = make(folder, "test-kafka", f"JAVA={java}")
    assert skipped.returncode == 0
    assert skipped.stderr == ""
    assert len(skipped.stdout.splitlines()) == 1
    assert skipped.stdout.startswith("skipped: 'test-kafka' needs Java 17 or newer, and ")
    assert told in skipped.stdout
    assert "JAVA_HOME" in skipped.stdout


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
def test_a_fitting_java_is_used(folder: Path, version: str) -> None:
    set_up(folder)
    java = program(folder, "java", f"echo 'openjdk version \"{version}\"' >&2")
    result = make(folder, "--dry-run", "test-kafka", f"JAVA={java}")
    assert result.returncode == 0
    assert "pytest -m kafka" in result.stdout


def test_a_second_run_does_not_install_again(folder: Path) -> None:
    set_up(folder)
    result = make(folder, "--dry-run", "setup")
    assert "pip install" not in result.stdout
    (folder / "pyproject.toml").touch()
    result = make(folder, "--dry-run", "setup")
    assert "pip install" in result.stdout


def test_help_is_the_default_and_names_every_target(folder: Path) -> None:
    result = make(folder)
    assert result.returncode == 0
    named = {line.split()[1] for line in result.stdout.splitlines()}
    assert named == {
        "help",
        "setup",
        "demo",
        "test",
        "test-kafka",
        "bench",
        "lint",
        "docs",
        "clean",
    }


def set_up(folder: Path) -> None:
    stamp = folder / ".venv" / ".installed"
    stamp.parent.mkdir()
    stamp.touch()
    os.utime(stamp, (OLD + 10, OLD + 10))
