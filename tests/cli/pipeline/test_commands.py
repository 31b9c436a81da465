"""`rollcall pipeline` and `rollcall tables` as a shell sees them, as far as they need no Spark."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rollcall.cli.options.spark import parse_conf, parse_seconds
from rollcall.errors import ConfigError
from rollcall.tables.folder import make_tables
from rollcall.tables.stores import LocalStore
from rollcall.tables.writers import open_writer
from tests.tables.making import commit, mark

LINE = "[2026-03-01 10:00:00,000] INFO text (some.logger)\n"


def rollcall(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rollcall", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "ROLLCALL_CACHE": "", **environment},
    )


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "a.log"
    path.write_text(LINE)
    return path


@pytest.mark.parametrize("command", ["run", "stream"])
def test_a_path_that_is_not_there_is_told_before_spark_starts(tmp_path: Path, command: str) -> None:
    result = rollcall("pipeline", command, "no/such.log", "--tables", str(tmp_path / "t"))
    assert result.returncode == 1
    assert result.stderr.startswith("error: there is no file or directory no/such.log\nhint: ")
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize("path", ["", "/dev/null"])
def test_what_is_no_file_and_no_folder_is_told(tmp_path: Path, path: str) -> None:
    result = rollcall("pipeline", "run", path, "--tables", str(tmp_path / "t"))
    assert result.returncode == 1
    message = "there is no file or directory ''"
    if path:
        message = f"{path} is neither a file nor a directory"
    assert result.stderr.startswith(f"error: {message}\nhint: ")


def test_a_folder_that_is_not_ours_is_refused(tmp_path: Path, log: Path) -> None:
    result = rollcall("pipeline", "run", str(log), "--tables", str(tmp_path))
    assert result.returncode == 1
    assert "is no folder of tables: it holds a.log" in result.stderr


def test_tables_of_a_newer_layout_are_refused(tmp_path: Path, log: Path) -> None:
    mark(tmp_path / "t", layout=9)
    for command in (["pipeline", "run", str(log)], ["tables", "list"]):
        result = rollcall(*command, "--tables", str(tmp_path / "t"))
        assert (result.returncode, "are of layout 9" in result.stderr) == (1, True)


def test_java_that_is_missing_is_told(tmp_path: Path, log: Path) -> None:
    command = ["pipeline", "run", str(log), "--tables", str(tmp_path / "t")]
    result = rollcall(*command, JAVA_HOME=str(tmp_path))
    assert result.returncode == 1
    assert result.stderr.startswith("error: Spark needs Java, which was not found\nhint: install")
    assert not (tmp_path / "t").exists()


def test_java_that_is_too_old_is_told(tmp_path: Path, log: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\nexit 1\n")
    java.chmod(0o755)
    command = ["pipeline", "run", str(log), "--tables", str(tmp_path / "t")]
    result = rollcall(*command, JAVA_HOME=str(tmp_path))
    assert result.returncode == 1
    assert result.stderr.startswith("error: Java is version 11, and Spark needs 17 or newer\n")


def test_pyspark_that_is_missing_is_told(tmp_path: Path, log: Path) -> None:
    code = """
import importlib.util, sys
found = importlib.util.find_spec
import rollcall.cli.options.spark as spark
spark.find_spec = lambda name: None if name == "pyspark" else found(name)
from rollcall.__main__ import main
main()
"""
    command = [sys.executable, "-c", code, "pipeline", "run", str(log), "--tables", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (result.returncode, "pip install 'rollcall[pipeline]'" in result.stderr) == (1, True)


def test_the_commands_start_without_pyspark() -> None:
    code = "import sys, rollcall.cli.app; print('pyspark' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "False\n"


@pytest.mark.parametrize("conf", ["spark.x", "=1"])
def test_a_setting_without_a_value_is_refused(conf: str) -> None:
    with pytest.raises(ConfigError, match="is no setting"):
        parse_conf([conf])


def test_settings_are_cut_at_the_first_equal_sign() -> None:
    assert parse_conf(["a=b=c", "d="]) == {"a": "b=c", "d": ""}


@pytest.mark.parametrize(
    ("text", "seconds"), [("10s", 10), ("500ms", 0.5), ("5m", 300), ("2h", 7200), ("90d", 7776000)]
)
def test_times_have_units(text: str, seconds: float) -> None:
    assert parse_seconds(text, "--keep", "90d") == seconds


@pytest.mark.parametrize("text", ["", "90", "d", "-1d", "1w", "0d", "36501d", "9" * 400 + "d"])
def test_a_time_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--keep is"):
        parse_seconds(text, "--keep", "90d")


def test_a_time_without_a_unit_is_told_with_one_that_would_do() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_seconds("fast", "--trigger", "10s; or once")
    assert (caught.value.hint or "").endswith(", as in 10s; or once")


@pytest.fixture
def tables(tmp_path: Path) -> str:
    store = LocalStore(tmp_path / "tables")
    make_tables(store, "tests")
    with open_writer(store, "test") as writer:
        commit(writer, {"rejects": [{"file": "a.log", "line": 1, "reason": "odd"}]})
    return str(store.root)


def test_the_tables_are_listed(tables: str) -> None:
    result = rollcall("tables", "list", "--tables", tables, "--json")
    listed = json.loads(result.stdout)
    assert {row["table"]: row["files"] for row in listed["tables"]}["rejects"] == 1
    assert listed["read"]["lines"] == 0
    assert "rejects" in rollcall("tables", "list", "--tables", tables).stdout


def test_the_live_files_of_a_table_are_printed(tables: str) -> None:
    result = rollcall("tables", "files", "rejects", "--tables", tables)
    assert [Path(name).is_file() for name in result.stdout.splitlines()] == [True]
    assert (
        json.loads(rollcall("tables", "files", "usage", "--tables", tables, "--json").stdout) == []
    )


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_a_view_is_printed(tables: str, engine: str) -> None:
    result = rollcall("tables", "view", "rejects", "--tables", tables, "--engine", engine)
    assert result.stdout.startswith("CREATE OR REPLACE TEMPORARY VIEW rejects AS\nSELECT")


def test_a_table_that_is_not_there_is_refused_with_the_known_ones(tables: str) -> None:
    for command in ("files", "view"):
        result = rollcall("tables", command, "use", "--tables", tables)
        assert (result.returncode, "known are usage, connections" in result.stderr) == (2, True)
