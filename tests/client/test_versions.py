import pytest

from rollcall.catalog import Range
from rollcall.client.errors import UnsupportedError
from rollcall.client.versions import choose_version
from rollcall.protocol import ApiSpec, VersionRange, dialect
from rollcall.protocol.schema_parser import parse_message

METADATA = dialect("released").apis[3]


def api(versions: str, deprecated: str = "none") -> ApiSpec:
    common = {"apiKey": 99, "validVersions": versions, "fields": []}
    request = parse_message(
        {"name": "ExampleRequest", "type": "request", "deprecatedVersions": deprecated, **common}
    )
    return ApiSpec(
        99, "Example", request, parse_message({"name": "R", "type": "response", **common})
    )


@pytest.mark.parametrize(
    ("offered", "chosen"), [((0, 13), 13), ((0, 99), 13), ((2, 5), 5), ((13, 20), 13), ((0, 0), 0)]
)
def test_35_6_choose_version_takes_the_highest_common_version(
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
        ("5", set(), (5, 9), 5),  # the only common version
        ("none", {5}, (5, 5), 5),
        ("5", {4}, (4, 5), 5),  # the setting takes precedence over the deprecation
        ("4-5", {5}, (4, 5), 4),
    ],
)
def test_35_8_choose_version_avoids_deprecated_and_configured_versions_while_another_is_common(
    deprecated: str, avoid: set[int], offered: tuple[int, int], chosen: int
) -> None:
    example = api("0-5", deprecated)
    assert choose_version(example, Range(*offered), "b:1", avoid=avoid) == chosen


def test_35_8_choose_version_avoids_versions_deprecated_in_the_bundled_schemas() -> None:
    produce = dialect("released").apis[0]
    assert 2 in produce.request.deprecated
    assert choose_version(produce, Range(0, 3), "b:1") == 3
    assert choose_version(produce, Range(0, 2), "b:1") == 2


@pytest.mark.parametrize(
    ("offered", "theirs"),
    [
        (Range(14, 15), "versions 14 to 15"),
        (Range(5, 2), "versions 5 to 2"),
        (None, "no version of it"),
    ],
)
def test_35_9_no_common_version_is_an_error_with_both_ranges(
    offered: Range | None, theirs: str
) -> None:
    with pytest.raises(UnsupportedError) as caught:
        choose_version(METADATA, offered, "b:1")
    assert caught.value.message == (
        f"no common version of Metadata: b:1 supports {theirs}, rollcall 0 to 13"
    )


def test_choose_version_can_be_limited_to_a_range() -> None:
    among = VersionRange(8, 10)
    assert choose_version(METADATA, Range(0, 13), "b:1", among=among) == 10
    with pytest.raises(UnsupportedError, match="of which 8-10 can be used here"):
        choose_version(METADATA, Range(0, 7), "b:1", among=among)
