"""Release numbers: parsing and order."""

import pytest

from rollcall.catalog.releases.release import Release, UnknownReleaseError


@pytest.mark.parametrize(
    "text", ["0.8.2.2", "0.10.2.1", "2.8", "4.0.0", "3.9.1-ccs", "7.9.10-0-ccs"]
)
def test_release_is_printed_as_it_was_parsed(text: str) -> None:
    assert str(Release.parse(text)) == text


def test_release_parse_accepts_a_leading_v_and_other_separators() -> None:
    assert Release.parse("v1.38.1") == Release((1, 38, 1))
    assert Release.parse("3.6.0.redhat-1") == Release((3, 6, 0), "redhat-1")


def test_releases_sort_numerically() -> None:
    texts = [
        "0.8.2.2",
        "0.9.0.1",
        "0.10.2.1",
        "1.1.1",
        "2.8.2",
        "3.9.1",
        "4.0.0",
        "4.0.1",
        "4.10.0",
    ]
    assert sorted(map(Release.parse, reversed(texts))) == [Release.parse(text) for text in texts]


@pytest.mark.parametrize("text", ["", "four", "4", "4.x", "-1.0"])
def test_release_parse_rejects_other_text_with_an_example(text: str) -> None:
    with pytest.raises(UnknownReleaseError) as caught:
        Release.parse(text)
    assert "4.0.1" in str(caught.value.hint)


def test_a_patch_release_is_within_its_own_line_only() -> None:
    assert Release.parse("0.10.2.1").within(Release.parse("0.10.2"))
    assert not Release.parse("3.10.0").within(Release.parse("3.1"))
