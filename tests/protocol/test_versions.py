"""Version ranges: notation, membership, intersection."""

import pytest

from rollcall.protocol.errors import SchemaError
from rollcall.protocol.versions import HIGHEST_VERSION, NO_VERSIONS, VersionRange


@pytest.mark.parametrize(
    ("text", "lowest", "highest"),
    [("0+", 0, HIGHEST_VERSION), ("3-5", 3, 5), ("4", 4, 4), (" 2+ ", 2, HIGHEST_VERSION)],
)
def test_version_range_parses_kafkas_notation(text: str, lowest: int, highest: int) -> None:
    assert VersionRange.parse(text) == VersionRange(lowest, highest)


@pytest.mark.parametrize("text", ["0+", "3-5", "4", "none"])
def test_version_range_is_formatted_as_it_was_parsed(text: str) -> None:
    assert str(VersionRange.parse(text)) == text


@pytest.mark.parametrize("text", ["", "+", "-1", "1-", "1..3", "a", "5-3", "0-32768", "99999+"])
def test_version_range_rejects_other_text_with_a_hint(text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        VersionRange.parse(text)
    assert caught.value.hint


def test_version_range_includes_both_ends() -> None:
    versions = VersionRange(3, 5)
    assert [v for v in range(-1, 9) if v in versions] == [3, 4, 5]
    assert list(versions) == [3, 4, 5]
    assert len(versions) == 3
    assert "4" not in versions


@pytest.mark.parametrize(
    ("one", "other", "common"),
    [("0-5", "3+", "3-5"), ("0-2", "3+", "none"), ("none", "0+", "none"), ("4", "0+", "4")],
)
def test_version_ranges_intersect(one: str, other: str, common: str) -> None:
    first, second = VersionRange.parse(one), VersionRange.parse(other)
    assert first & second == second & first == VersionRange.parse(common)


def test_no_versions_is_empty_and_false() -> None:
    assert not NO_VERSIONS
    assert len(NO_VERSIONS) == 0
    assert list(NO_VERSIONS) == []
    assert 0 not in NO_VERSIONS
