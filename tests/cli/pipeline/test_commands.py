"""`rollcall pipeline` and `rollcall tables` as processes, as far as they do not need Spark."""

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
def test_missing_path_is_an_error_before_spark_starts(tmp_path: Path, command: str) -> None:
    result = rollcall("pipeline", command, "no/such.log", "--tables", str(tmp_path / "t"))
    assert result.returncode == 1
    assert result.stderr.startswith("error: there is no file or directory no/such.log\nhint: ")
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize("path", ["", "/dev/null"])
def test_path_that_is_neither_file_nor_directory_is_an_error(tmp_path: Path, path: str) -> None:
    result = rollcall("pipeline", "run", path, "--tables", str(tmp_path / "t"))
    assert result.returncode == 1
    message = "there is no file or directory ''"
    if path:
        message = f"{path} is neither a file nor a directory"
    assert result.stderr.startswith(f"error: {message}\nhint: ")


def test_directory_without_tables_is_rejected(tmp_path: Path, log: Path) -> None:
    result = rollcall("pipeline", "run", str(log), "--tables", str(tmp_path))
    assert result.returncode == 1
    assert "is no folder of tables: it holds a.log" in result.stderr


def test_tables_of_a_newer_layout_are_rejected(tmp_path: Path, log: Path) -> None:
    mark(tmp_path / "t", layout=9)
    for command in (["pipeline", "run", str(log)], ["tables", "list"]):
        result = rollcall(*command, "--tables", str(tmp_path / "t"))
        assert (result.returncode, "are of layout 9" in result.stderr) == (1, True)


def test_missing_java_is_an_error(tmp_path: Path, log: Path) -> None:
    command = ["pipeline", "run", str(log), "--tables", str(tmp_path / "t")]
    result = rollcall(*command, JAVA_HOME=str(tmp_path))
    assert result.returncode == 1
    assert result.stderr.startswith("error: Spark needs Java, which was not found\nhint: install")
    assert not (tmp_path / "t").exists()


def test_old_java_is_an_error(tmp_path: Path, log: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\nexit 1\n")
    java.chmod(0o755)
    command = ["pipeline", "run", str(log), "--tables", str(tmp_path / "t")]
    result = rollcall(*command, JAVA_HOME=str(tmp_path))
    assert result.returncode == 1
    assert result.stderr.startswith("error: Spark needs Java 17 or newer, but found version 11\n")


def test_missing_pyspark_is_an_error(tmp_path: Path, log: Path) -> None:
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


def test_app_does_not_import_pyspark() -> None:
    code = "import sys, rollcall.cli.app; print('pyspark' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout == "False\n"


@pytest.mark.parametrize("conf", ["spark.x", "=1"])
def test_conf_without_a_value_is_rejected(conf: str) -> None:
    with pytest.raises(ConfigError, match="is not KEY=VALUE"):
        parse_conf([conf])


def test_conf_is_split_at_the_first_equal_sign() -> None:
    assert parse_conf(["a=b=c", "d="]) == {"a": "b=c", "d": ""}


@pytest.mark.parametrize(
    ("text", "seconds"), [("10s", 10), ("500ms", 0.5), ("5m", 300), ("2h", 7200), ("90d", 7776000)]
)
def test_duration_accepts_units(text: str, seconds: float) -> None:
    assert parse_seconds(text, "--keep", "90d") == seconds


@pytest.mark.parametrize("text", ["", "90", "d", "-1d", "1w", "0d", "36501d", "9" * 400 + "d"])
def test_invalid_duration_is_rejected(text: str) -> None:
    with pytest.raises(ConfigError, match=r"--keep .* is "):
        parse_seconds(text, "--keep", "90d")


def test_invalid_duration_has_a_hint_with_an_example() -> None:
    with pytest.raises(ConfigError) as caught:
        parse_seconds("fast", "--trigger", "10s or once")
    assert (caught.value.hint or "").endswith("for example 10s or once")


@pytest.fixture
def tables(tmp_path: Path) -> str:
    store = LocalStore(tmp_path / "tables")
    make_tables(store, "tests")
    with open_writer(store, "test") as writer:
        commit(writer, {"rejects": [{"file": "a.log", "line": 1, "reason": "odd"}]})
    return str(store.root)


def test_list_shows_the_tables(tables: str) -> None:
    result = rollcall("tables", "list", "--tables", tables, "--json")
    listed = json.loads(result.stdout)
    assert {row["table"]: row["files"] for row in listed["tables"]}["rejects"] == 1
    assert listed["read"]["lines"] == 0
    assert "rejects" in rollcall("tables", "list", "--tables", tables).stdout


def test_files_prints_the_live_files_of_a_table(tables: str) -> None:
    result = rollcall("tables", "files", "rejects", "--tables", tables)
    assert [Path(name).is_file() for name in result.stdout.splitlines()] == [True]
    assert (
        json.loads(rollcall("tables", "files", "usage", "--tables", tables, "--json").stdout) == []
    )


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_view_prints_a_statement(tables: str, engine: str) -> None:
    result = rollcall("tables", "view", "rejects", "--tables", tables, "--engine", engine)
    assert result.stdout.startswith("CREATE OR REPLACE TEMPORARY VIEW rejects AS\nSELECT")


def test_unknown_table_is_an_error_with_the_known_ones(tables: str) -> None:
    for command in ("files", "view"):
        result = rollcall("tables", command, "use", "--tables", tables)
        assert (result.returncode, "choose one of usage, connections" in result.stderr) == (2, True)
