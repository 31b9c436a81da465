"""The page of all commands, and the commands that it is made from."""

from typing import Any

import pytest
from typer.main import get_command

from rollcall.cli.app import app
from rollcall.cli.reference import commands_of, reference

COMMANDS = dict(commands_of(get_command(app), "rollcall"))


@pytest.mark.parametrize("name", COMMANDS)
def test_what_to_write_after_an_option_is_told_by_a_word_and_not_by_a_type(name: str) -> None:
    def has_a_word(parameter: Any) -> bool:
        return parameter.metavar or parameter.is_flag or hasattr(parameter.type, "choices")

    options = [each for each in COMMANDS[name].params if each.param_type_name == "option"]
    assert [each.name for each in options if not has_a_word(each)] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name: str) -> None:
    assert f"Example: {name} " in COMMANDS[name].help


def test_a_row_tells_what_to_write_and_what_happens_without_it() -> None:
    page = reference()
    assert (
        "| `--sort id\\|start` | By id, or by start time: unknown last. By default `id`. |" in page
    )
    assert "| `LOGS...` | Files, folders or patterns. |" in page
    assert "| `TABLE` | One of usage, " in page
