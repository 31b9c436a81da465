"""Help of every command, and the page that is generated from it."""

from typing import Any

import pytest
from typer.main import get_command

from rollcall.cli.app import app
from rollcall.cli.reference import leaf_commands, reference

COMMANDS = dict(leaf_commands(get_command(app), "rollcall"))


def options_of(name: str) -> list[Any]:
    return [
        parameter
        for parameter in COMMANDS[name].params
        if parameter.param_type_name == "option" and "--help" not in parameter.opts
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_with_a_value_has_a_metavar(name: str) -> None:
    assert [
        option.name for option in options_of(name) if not option.is_flag and not option.metavar
    ] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_option_ends_with_its_default(name: str) -> None:
    """Only an option with a value as its default needs it."""
    for option in options_of(name):
        default = getattr(option.default, "value", option.default)
        if option.is_flag or default is None or option.required:
            continue
        text = f"{default:g}" if isinstance(default, float) else str(default)
        assert option.help.endswith(f"(default {text})."), option.name


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name: str) -> None:
    assert f"Example: {name} " in COMMANDS[name].help


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_takes_a_secret(name: str) -> None:
    names = [option for parameter in COMMANDS[name].params for option in parameter.opts]
    assert not [option for option in names if "password" in option or "secret" in option]


def test_page_has_a_row_for_every_argument_and_option() -> None:
    page = reference()
    assert "| `--sort id\\|start` | Sort by broker id or by start time" in page
    assert "| `LOGS...` | Files, directories or glob patterns. |" in page
    assert "| `--json` | Print JSON. |" in page
    assert "| `--lines N` | Number of lines, for example 5000, 250k, 1M or 2G. Required. |" in page
