"""The plan: every line has one file, one client and one step."""

import itertools
from datetime import datetime

import pytest

from rollcall.errors import ConfigError
from rollcall.loggen.bodies import PLACEHOLDERS
from rollcall.loggen.plan import GenerateSettings, LogPlan, split_at_placeholders


@pytest.mark.parametrize("lines", [1, 7, 1000, 999_983])
def test_files_contain_every_line_once_and_in_order(lines: int) -> None:
    files = LogPlan(GenerateSettings(lines=lines, brokers=5)).files
    assert files[0].first == 0
    assert files[-1].end == lines
    assert all(a.end == b.first for a, b in itertools.pairwise(files))


def test_line_number_determines_the_file() -> None:
    settings = GenerateSettings(lines=1009, brokers=3, hours=4)
    for file in LogPlan(settings).files:
        for number in range(file.first, file.end):
            assert ((number + 1) * settings.files - 1) // settings.lines == file.number


def test_files_have_at_most_500_000_lines() -> None:
    settings = GenerateSettings(lines=900_000_000, brokers=12)
    assert settings.lines / settings.files <= 500_000


def test_hours_after_the_year_9999_are_rejected() -> None:
    late = datetime(9999, 12, 29, 20)  # noqa: DTZ001 - logs have no time zone
    assert GenerateSettings(lines=10, start=late, hours=4).hours_per_broker == 4
    with pytest.raises(ConfigError, match="5 hours from 9999-12-29 20:00 end after"):
        GenerateSettings(lines=10, start=late, hours=5)


def test_client_has_as_many_places_in_a_round_as_its_weight() -> None:
    plan = LogPlan(GenerateSettings(lines=10))
    for index, client in enumerate(plan.fleet.clients):
        assert plan.round.count(index) == client.weight
    places = [(row[1], row[2]) for row in plan.round_rows()]
    assert len(set(places)) == len(places)


def test_plan_depends_on_the_seed_only() -> None:
    def rows(seed: int) -> list[tuple[object, ...]]:
        return [*LogPlan(GenerateSettings(lines=10, seed=seed, form="J")).client_rows()]

    assert rows(7) == rows(7)
    assert rows(7) != rows(8)


def test_text_is_split_at_placeholders() -> None:
    text = f"a{PLACEHOLDERS[0]}b{PLACEHOLDERS[6]}"
    pieces = split_at_placeholders(text)
    assert [piece["text"] for piece in pieces] == ["a", "b", ""]
    assert "".join(piece["text"] + piece["placeholder"] for piece in pieces) == text
