"""The command that makes logs: what it takes, and what it refuses."""

import pytest
from typer.testing import CliRunner

from rollcall.cli.app import app
from rollcall.cli.pipeline.generate_logs import parse_count
from rollcall.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "count"), [("5000", 5000), ("250k", 250_000), ("1M", 1_000_000), ("1.5m", 1_500_000)]
)
def test_a_count_may_have_a_unit(text: str, count: int) -> None:
    assert parse_count(text) == count


@pytest.mark.parametrize("text", ["", "M", "-1", "1T", "1 000"])
def test_other_counts_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        parse_count(text)
    assert refused.value.hint is not None
    assert "1M" in refused.value.hint


@pytest.mark.parametrize("wrong", [["--form", "Z"], ["--brokers", "0"], ["--lines", "0"]])
def test_wrong_settings_are_told_before_spark_starts(wrong: list[str]) -> None:
    told = ["generate-logs", "--output", "never-made", "--lines", "10", *wrong]
    result = CliRunner().invoke(app, told)
    assert isinstance(result.exception, ConfigError)
