"""docs/reports.md describes every option, verdict, problem and threshold of the reports."""

import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from rollcall.cli.app import app
from rollcall.reports import ProblemKind, ProblemThresholds, Verdict

PAGE = (Path(__file__).parents[3] / "docs" / "reports.md").read_text(encoding="utf-8")
NAMES = ["clients", "impact", "restarts", "problems"]


def command(name: str) -> Any:
    return get_command(app).commands["report"].commands[name]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", NAMES)
def test_documented_examples_are_valid_commands(name: str) -> None:
    shown = re.findall(rf"^\$ rollcall report {name} (.+)$", PAGE, re.MULTILINE)
    examples = re.findall(rf"Example: rollcall report {name} (.+)", command(name).help or "")
    assert shown
    assert examples
    for arguments in [*shown, *examples]:
        command(name).make_context(name, arguments.replace("'", "").split())


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_documented(name: str) -> None:
    options = [option for parameter in command(name).params for option in parameter.opts]
    assert [o for o in options if o.startswith("--") and f"`{o}" not in PAGE] == []


def test_every_verdict_and_kind_of_problem_is_documented() -> None:
    assert [verdict for verdict in Verdict if f"`{verdict}`" not in PAGE] == []
    assert [
        kind for kind in ProblemKind if f"| {kind}" not in PAGE and f", {kind}" not in PAGE
    ] == []


def test_thresholds_of_problems_are_documented() -> None:
    thresholds = ProblemThresholds()
    for number in (
        thresholds.reconnects_per_hour,
        thresholds.requests_per_hour,
        thresholds.single_request_count,
    ):
        assert re.search(rf"\b{number}\b", PAGE)
    assert f"{thresholds.error_share:.0%}" in PAGE
    assert f"{thresholds.throttled_share:.0%}" in PAGE
