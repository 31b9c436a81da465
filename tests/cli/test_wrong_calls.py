"""Wrong usage of any command is exit code 2, without side effects."""

from pathlib import Path

import pytest

from rollcall.errors import ConfigError
from tests.cli.scripted_cluster import rollcall

TABLES = ("--tables", "no-tables")
LOGS = ("generate-logs", "--output", "never-made")
WRONG = [
    ("brokers",),
    ("brokers", ""),
    ("brokers", "broker1:99999"),
    ("brokers", "broker1:port"),
    ("brokers", "/not/an/address"),
    ("brokers", "broker1", "--release", "nonsense"),
    ("brokers", "broker1", "--release", "77.7"),
    ("brokers", "broker1", "--config", "no-such.toml"),
    ("brokers", "broker1", "--timeout", "0"),
    ("brokers", "broker1", "--timeout", "inf"),
    ("brokers", "broker1", "--watch", "1e20"),
    ("brokers", "broker1", "--sort", "age"),
    ("api-versions",),
    ("api-versions", "broker1", "--compare", "nonsense"),
    ("api-versions", "broker1", "--broker", "one"),
    ("features",),
    ("features", "broker1", "--release", "nonsense"),
    ("wait-restart", "--all"),
    ("wait-restart", "broker1"),
    ("wait-restart", "broker1", "--all", "--broker", "1"),
    ("wait-restart", "broker1", "--all", "--after", "yesterday"),
    ("wait-restart", "broker1", "--all", "--poll", "nan"),
    ("connections",),
    ("connections", ""),
    ("connections", "ftp://node"),
    ("connections", "node:port"),
    ("connections", "node", "--limit", "0"),
    ("connections", "node", "--timeout", "1e20"),
    ("connections", "node", "--watch", "1e20"),
    ("identify", "a.json", "b.json"),
    ("protocol", "list", "--dialect", "nonsense"),
    ("protocol", "list", "--schemas", "no-such-directory"),
    ("protocol", "show"),
    ("protocol", "show", "Nonsense"),
    ("protocol", "show", "Metadata", "--version", "99"),
    ("protocol", "show", "Metadata", "--version", "-1"),
    ("protocol", "reference"),
    ("tables", "list"),
    ("tables", "files", "nonsense", *TABLES),
    ("tables", "view", "nonsense", *TABLES),
    ("tables", "view", "usage", *TABLES, "--engine", "nonsense"),
    ("cluster", "start", "--brokers", "0"),
    ("cluster", "start", "--host", ""),
    ("cluster", "start", "--base-port", "70000"),
    ("cluster", "start", "--config", "no-such.toml"),
    (*LOGS, "--lines", "lots"),
    (*LOGS, "--lines", "0"),
    (*LOGS, "--lines", "10", "--format", "Z"),
    (*LOGS, "--lines", "10", "--brokers", "0"),
    (*LOGS, "--lines", "10", "--hours", "0"),
    (*LOGS, "--lines", "10", "--start", "yesterday"),
    (*LOGS, "--lines", "10", "--conf", "nonsense"),
    ("demo", "--lines", "lots", "--output", "never-made"),
]


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_wrong_usage_is_exit_code_2_without_side_effects(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = rollcall(*arguments)
    assert result.code == 2, result
    assert result.out == "" or "Usage: " in result.out
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "impact", *TABLES, "--target", "4"), "'4' is not a Kafka release"),
        (("report", "clients", *TABLES, "--since", "noon"), "--since 'noon' is not a valid time"),
        (
            ("report", "clients", *TABLES, "--json", "--csv"),
            "--json, --csv and --html exclude each other",
        ),
        ((*LOGS, "--lines", "10", "--start", "noon"), "--start 'noon' is not an hour"),
    ],
)
def test_usage_error_has_a_message_and_a_hint(arguments: tuple[str, ...], message: str) -> None:
    error = rollcall(*arguments).error
    assert isinstance(error, ConfigError)
    assert error.message.startswith(message)
    assert error.hint
