import pytest

from rollcall.catalog import Range
from rollcall.client.errors import UnsupportedError
from rollcall.client.versions import Choice, choose_version
from rollcall.protocol.dialects import ApiSpec, dialect
from rollcall.protocol.schema_parser import parse_message
from rollcall.protocol.versions import VersionRange

METADATA = dialect("released").apis[3]


def api(versions: str, deprecated: str = "none") -> ApiSpec:
    common = {"apiKey": 99, "validVersions": versions, "fields": []}
    request = parse_message(
        {"name": "AskRequest", "type": "request", "deprecatedVersions": deprecated, **common}
    )
    return ApiSpec(99, "Ask", request, parse_message({"name": "R", "type": "response", **common}))


@pytest.mark.parametrize(
    ("offered", "chosen"), [((0, 13), 13), ((0, 99), 13), ((2, 5), 5), ((13, 20), 13), ((0, 0), 0)]
)
def test_35_6_the_highest_version_of_both_sides_is_used(
    offered: tuple[int, int], chosen: int
) -> None:
    assert choose_version(METADATA, Range(*offered), "b:1") == chosen


@pytest.mark.parametrize(
    ("deprecated", "avoid", "offered", "chosen"),
    [
        ("5", set(), (0, 5), 4),
        ("4-5", set(), (0, 9), 3),
        ("5", {4}, (0, 5), 3),
        ("none", {5}, (0, 5), 4),
        ("none", {3, 5}, (3, 5), 4),
        ("5", set(), (5, 9), 5),  # nothing else is common
        ("none", {5}, (5, 5), 5),
        ("5", {4}, (4, 5), 5),  # what we were told to avoid counts for more than a mark
        ("4-5", {5}, (4, 5), 4),
    ],
)
def test_35_8_deprecated_and_named_versions_are_avoided_while_another_is_common(
    deprecated: str, avoid: set[int], offered: tuple[int, int], chosen: int
) -> None:
    choice = Choice(avoid=avoid)
    assert choose_version(api("0-5", deprecated), Range(*offered), "b:1", choice) == chosen


def test_35_8_the_marks_of_our_own_schemas_are_heeded() -> None:
    produce = dialect("released").apis[0]
    assert 2 in produce.request.deprecated
    assert choose_version(produce, Range(0, 3), "b:1") == 3
    assert choose_version(produce, Range(0, 2), "b:1") == 2


@pytest.mark.parametrize(
    ("offered", "told"),
    [
        (Range(14, 15), "it has versions 14 to 15"),
        (Range(5, 2), "it has versions 5 to 2"),
        (None, "it does not have it"),
    ],
)
def test_35_9_nothing_in_common_is_an_error_with_both_ranges(
    offered: Range | None, told: str
) -> None:
    with pytest.raises(UnsupportedError) as caught:
        choose_version(METADATA, offered, "b:1")
    assert caught.value.message == (
        f"Metadata cannot be asked of b:1: {told}, rollcall has 0 to 13"
    )


def test_versions_may_be_limited_to_those_that_will_do() -> None:
    choice = Choice(among=VersionRange(8, 10))
    assert choose_version(METADATA, Range(0, 13), "b:1", choice) == 10
    with pytest.raises(UnsupportedError, match="of which 8-10 would do"):
        choose_version(METADATA, Range(0, 7), "b:1", choice)
