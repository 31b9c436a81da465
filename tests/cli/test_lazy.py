"""Commands are loaded when they are called; what the help says of them before is what they say."""

import subprocess
import sys
from typing import Any

import pytest
from typer.main import get_command

from rollcall.cli.app import COMMANDS, app
from rollcall.cli.report import commands as report
from tests.broker.running import ROLLCALL

HEAVY = ("asyncio", "duckdb", "pyspark", "rollcall.catalog", "rollcall.protocol", "uvloop")
LOADED = """
import sys
sys.argv = {argv!r}
from rollcall.cli import main
try:
    main()
except SystemExit:
    pass
print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)
"""


def loaded(*arguments: str, heavy: tuple[str, ...] = HEAVY) -> str:
    source = LOADED.format(argv=["rollcall", *arguments], heavy=heavy)
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=30
    )
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("group", "table"),
    [(get_command(app), COMMANDS), (get_command(report.app), report.COMMANDS)],
    ids=["rollcall", "report"],
)
def test_the_table_says_what_the_commands_say(
    group: Any, table: dict[str, tuple[str, str]]
) -> None:
    for name, (_, line) in table.items():
        first = (group.commands[name].help or "").partition("\n\n")[0]
        assert " ".join(first.split()) == line


@pytest.mark.parametrize("name", ["brokers", "protocol", "report"])
def test_help_is_prose_and_what_takes_no_value_shows_no_type(name: str) -> None:
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    for each in [command, *getattr(command, "commands", {}).values()]:
        assert all("\n" not in paragraph for paragraph in each.help.split("\n\n"))
        assert [it.name for it in each.params if getattr(it, "is_flag", False) and it.metavar] == []
        assert [it.name for it in each.params if it.name == "as_json" and it.metavar is None] == []


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["report", "--help"]])
def test_help_loads_none_of_them(arguments: list[str]) -> None:
    assert loaded(*arguments) == "[]"


def test_a_report_loads_no_server_and_no_spark() -> None:
    heavy = ("asyncio", "pyspark", "rollcall.protocol", "rollcall.client", "rollcall.server")
    arguments = ("report", "impact", "--tables", "nowhere", "--target", "4.0.0")
    assert loaded(*arguments, heavy=heavy) == "[]"


def test_a_wrong_name_is_told_with_the_right_one() -> None:
    command = [*ROLLCALL, "reprot"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 2
    assert "Did you mean 'report'" in done.stderr
