"""docs/brokers.md describes every option, exit code and event of the broker commands."""

import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from rollcall.cli.app import app
from rollcall.cli.options.connection import load_settings
from rollcall.client import FailureKind
from rollcall.client.restarts import RestartEvent

PAGE = (Path(__file__).parents[2] / "docs" / "brokers.md").read_text(encoding="utf-8")
NAMES = ["brokers", "api-versions", "features", "wait-restart", "identify"]


def command(name: str) -> Any:
    return get_command(app).commands[name]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_an_example_in_its_help(name: str) -> None:
    found = re.search(r"Example: (rollcall .+)", command(name).help or "")
    assert found is not None
    assert found[1].split()[1] == name


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_valid_calls(name: str) -> None:
    shown = [
        line.split()[2:] for line in PAGE.splitlines() if line.startswith(f"$ rollcall {name}")
    ]
    [example] = re.findall(r"Example: rollcall \S+ (.+)", command(name).help or "")
    for arguments in [*(line[1:] for line in shown), example.split()]:
        command(name).make_context(name, list(arguments))  # a wrong option would be an error


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_on_the_page(name: str) -> None:
    options = [option for parameter in command(name).params for option in parameter.opts]
    assert [o for o in options if o.startswith("--") and o not in PAGE] == []
    assert "Exit codes: 0" in (command(name).help or "")


def test_every_failure_and_every_event_is_on_the_page() -> None:
    words = [*FailureKind, *(step.name.lower() for step in RestartEvent)]
    assert [word for word in words if f"`{word}`" not in PAGE] == []


def test_settings_file_on_the_page_is_valid(tmp_path: Path) -> None:
    [text] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    path = tmp_path / "rollcall.toml"
    path.write_text(text)
    settings = load_settings(None, path, environ={})
    assert len(settings.bootstrap) == 2
    assert settings.config.sasl is not None
    assert settings.config.tls is not None
