"""Who sends what when: every line has one file, one client and one step."""

import itertools
from datetime import datetime

import pytest

from rollcall.errors import ConfigError
from rollcall.loggen.bodies import MARKS
from rollcall.loggen.plan import GenerateSettings, Plan, cut_at_marks


@pytest.mark.parametrize("lines", [1, 7, 1000, 999_983])
def test_the_files_hold_every_line_once_and_in_order(lines: int) -> None:
    files = Plan(GenerateSettings(lines=lines, brokers=5)).files
    assert files[0].first == 0
    assert files[-1].end == lines
    assert all(a.end == b.first for a, b in itertools.pairwise(files))


def test_the_number_of_a_line_tells_its_file() -> None:
    settings = GenerateSettings(lines=1009, brokers=3, hours=4)
    for file in Plan(settings).files:
        for number in range(file.first, file.end):
            assert ((number + 1) * settings.files - 1) // settings.lines == file.number


def test_no_file_grows_beyond_what_one_task_should_write() -> None:
    settings = GenerateSettings(lines=900_000_000, brokers=12)
    assert settings.lines / settings.files <= 500_000


def test_hours_behind_the_end_of_the_calendar_are_refused() -> None:
    late = datetime(9999, 12, 29, 20)  # noqa: DTZ001 - as brokers log
    assert GenerateSettings(lines=10, start=late, hours=4).hours_each == 4
    with pytest.raises(ConfigError, match="5 hours from 9999-12-29 20:00 on end behind"):
        GenerateSettings(lines=10, start=late, hours=5)


def test_in_a_round_each_client_has_as_many_places_as_its_weight() -> None:
    plan = Plan(GenerateSettings(lines=10))
    for at, client in enumerate(plan.fleet.clients):
        assert plan.round.count(at) == client.weight
    dealt = [(row[1], row[2]) for row in plan.ticket_rows()]
    assert len(set(dealt)) == len(dealt)


def test_the_same_seed_makes_the_same_plan_and_another_seed_another() -> None:
    def rows(seed: int) -> list[tuple[object, ...]]:
        return [*Plan(GenerateSettings(lines=10, seed=seed, form="J")).actor_rows()]

    assert rows(7) == rows(7)
    assert rows(7) != rows(8)


def test_a_text_is_cut_where_a_value_goes_in() -> None:
    text = f"a{MARKS[0]}b{MARKS[6]}"
    cut = cut_at_marks(text)
    assert [piece["text"] for piece in cut] == ["a", "b", ""]
    assert "".join(piece["text"] + piece["mark"] for piece in cut) == text
