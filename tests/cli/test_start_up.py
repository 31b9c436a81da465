"""Modules that a command imports before it starts."""

import subprocess
import sys

import pytest
from typer.main import get_command

from rollcall.cli.app import COMMANDS, app

HEAVY = ("asyncio", "duckdb", "pyspark", "rich", "rollcall.catalog", "rollcall.protocol", "uvloop")
IMPORTED = """
import sys
sys.argv = {argv!r}
from rollcall.__main__ import main
try:
    main()
except SystemExit:
    pass
print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)
"""


def imported(*arguments: str, heavy: tuple[str, ...] = HEAVY) -> str:
    source = IMPORTED.format(argv=["rollcall", *arguments], heavy=heavy)
    result = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=60
    )
    return result.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_help_imports_no_implementation(name: str | None) -> None:
    assert imported(*([] if name is None else [name]), "--help") == "[]"


def test_report_imports_neither_client_nor_spark() -> None:
    heavy = ("asyncio", "pyspark", "rollcall.protocol", "rollcall.client", "rollcall.server")
    arguments = ("report", "impact", "--tables", "nowhere", "--target", "4.0.0")
    assert imported(*arguments, heavy=heavy) == "[]"


def test_unknown_command_suggests_a_similar_one() -> None:
    command = [sys.executable, "-m", "rollcall", "reprot"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 2
    assert "Did you mean 'report'" in result.stderr


def test_every_command_has_a_summary_of_one_line() -> None:
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        summary = (command.help or "").partition("\n\n")[0]
        assert summary.endswith("."), name
        assert "\n" not in summary, name
