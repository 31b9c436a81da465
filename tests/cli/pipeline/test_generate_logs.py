"""The command that makes logs: what it takes, and what it refuses."""

import pytest
from typer.testing import CliRunner

from rollcall.cli.app import app
from rollcall.cli.pipeline.options import parse_count
from rollcall.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "count"), [("5000", 5000), ("250k", 250_000), ("1M", 1_000_000), ("1.5m", 1_500_000)]
)
def test_count_accepts_units(text: str, count: int) -> None:
    assert parse_count(text) == count


@pytest.mark.parametrize("text", ["", "M", "-1", "1T", "1 000"])
def test_count_rejects_other_text_with_an_example(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_count(text)
    assert refused.value.hint is not None
    assert "1M" in refused.value.hint


@pytest.mark.parametrize("wrong", [["--format", "Z"], ["--brokers", "0"], ["--lines", "0"]])
def test_wrong_settings_are_rejected_before_spark_starts(wrong: list[str]) -> None:
    arguments = ["generate-logs", "--output", "never-made", "--lines", "10", *wrong]
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, ConfigError)
