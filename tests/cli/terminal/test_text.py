import pytest

from rollcall.cli.terminal.text import count, duration, grouped


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (59, "59s"), (61, "1m 1s"), (3600, "1h"), (90061, "1d 1h"), (86400 * 400, "400d")],
)
def test_duration_has_the_two_largest_units(seconds: int, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(("number", "text"), [(0, "0 files"), (1, "1 file"), (1234, "1,234 files")])
def test_count_adds_the_plural(number: int, text: str) -> None:
    assert count(number, "file") == text


def test_grouped_adds_separators_to_integers_only() -> None:
    assert grouped([1234567, "1234567", None]) == ["1,234,567", "1234567", None]
