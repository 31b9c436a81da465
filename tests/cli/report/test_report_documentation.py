"""What the reports can do is on the page about them, and in their help."""

import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from rollcall.cli.app import app
from rollcall.reports import ProblemThresholds, Verdict
from rollcall.reports.problems import ProblemKind

PAGE = (Path(__file__).parents[3] / "docs" / "reports.md").read_text(encoding="utf-8")
NAMES = ["clients", "impact", "restarts", "problems"]


def command(name: str) -> Any:
    return get_command(app).commands["report"].commands[name]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_are_calls_that_are_understood(name: str) -> None:
    shown = re.findall(rf"^\$ rollcall report {name} (.+)$", PAGE, re.MULTILINE)
    examples = re.findall(rf"Example: rollcall report {name} (.+)", command(name).help or "")
    assert shown
    assert examples
    for arguments in [*shown, *examples]:
        command(name).make_context(name, arguments.replace("'", "").split())


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_on_the_page(name: str) -> None:
    options = [option for parameter in command(name).params for option in parameter.opts]
    assert [o for o in options if o.startswith("--") and f"`{o}" not in PAGE] == []


def test_every_verdict_and_every_kind_of_problems_is_on_the_page() -> None:
    assert [word for word in [*Verdict, *ProblemKind] if f"`{word}`" not in PAGE] == []


def test_where_trouble_begins_is_on_the_page() -> None:
    limits = ProblemThresholds()
    for number in (limits.reconnects_per_hour, limits.requests_per_hour, limits.once_count):
        assert re.search(rf"\b{number}\b", PAGE)
    assert f"{limits.error_share:.0%}" in PAGE
    assert f"{limits.throttled_share:.0%}" in PAGE
