"""Listed, accepted and deprecated API versions of a release."""

import pytest

from rollcall.catalog.apis import Mode, known_apis
from rollcall.catalog.loader import TableError, read_table
from rollcall.catalog.releases.api_ranges import (
    DEPRECATED,
    Acceptance,
    acceptance,
    accepted_ranges,
    accepts,
    build_deprecated,
    first_line_listing,
    is_deprecated,
    is_known_release,
    listed_ranges,
    lists,
    newest_release_line,
    release_line,
)
from rollcall.catalog.releases.release import UnknownReleaseError
from rollcall.catalog.releases.release_lines import known_release_lines

PRODUCE, FETCH, METADATA, LEADER_AND_ISR, CONTROLLED_SHUTDOWN, JOIN_GROUP = 0, 1, 3, 4, 7, 11


@pytest.mark.parametrize(
    ("release", "accepted"),
    [
        ("3.9.2", True),
        ("4.0.0", False),
        ("4.0.1", True),
        ("4.0.2", True),
        ("4.1.0", True),
        ("4.3", True),
    ],
)
def test_join_group_1_is_refused_by_4_0_0_only(release: str, accepted: bool) -> None:
    assert accepts(release, JOIN_GROUP, 1) is accepted
    assert lists(release, JOIN_GROUP, 1) is accepted


@pytest.mark.parametrize("release", ["4.0.0", "4.0.1", "4.1.0", "4.2.1", "4.3.1"])
@pytest.mark.parametrize("version", [0, 1, 2])
def test_produce_0_to_2_is_listed_but_refused_by_4_x(release: str, version: int) -> None:
    assert lists(release, PRODUCE, version)
    assert acceptance(release, PRODUCE, version) is Acceptance.TOO_OLD


def test_controlled_shutdown_0_is_accepted_but_not_listed_before_1_0() -> None:
    assert not lists("0.11.0.3", CONTROLLED_SHUTDOWN, 0)
    assert accepts("0.11.0.3", CONTROLLED_SHUTDOWN, 0)
    assert lists("1.0.0", CONTROLLED_SHUTDOWN, 0)


@pytest.mark.parametrize(
    ("release", "key", "version", "expected"),
    [
        ("4.0.0", FETCH, 3, Acceptance.TOO_OLD),
        ("4.0.0", FETCH, 4, Acceptance.ACCEPTED),
        ("4.0.0", FETCH, 18, Acceptance.TOO_NEW),
        ("4.0.0", METADATA, 0, Acceptance.ACCEPTED),
        ("4.0.0", LEADER_AND_ISR, 7, Acceptance.REMOVED),
        ("3.9.1", 88, 0, Acceptance.NOT_YET),
        ("4.3.0", 71, 0, Acceptance.ACCEPTED),
        ("3.6.0", 71, 0, Acceptance.NOT_YET),
        # KRaft got delegation tokens in 3.6 and SCRAM in 3.5; ZooKeeper brokers had them before
        ("3.4.0", 38, 0, Acceptance.ACCEPTED),
        ("3.4.0", 51, 0, Acceptance.ACCEPTED),
        # DescribeQuorum exists in KRaft only, in lines that have ZooKeeper brokers as well
        ("3.3.0", 55, 0, Acceptance.ACCEPTED),
        ("4.0.0", 38, 0, Acceptance.TOO_OLD),
    ],
)
def test_acceptance_of_a_version_by_a_release(
    release: str, key: int, version: int, expected: Acceptance
) -> None:
    assert acceptance(release, key, version) is expected
    assert expected.refused == (expected in (Acceptance.TOO_OLD, Acceptance.REMOVED))


@pytest.mark.parametrize(
    ("release", "key", "version", "marked"),
    [
        ("3.6.2", METADATA, 0, False),
        ("3.7.0", METADATA, 0, True),
        ("3.7.1", METADATA, 0, True),
        ("3.9.0", PRODUCE, 6, True),
        ("3.9.1", METADATA, 0, False),
        ("3.9.1", PRODUCE, 3, False),
        ("3.9.1", JOIN_GROUP, 1, True),
        ("3.9.2", JOIN_GROUP, 1, False),
        ("3.9", JOIN_GROUP, 1, False),
        ("3.9.2", PRODUCE, 2, True),
        ("4.0.0", PRODUCE, 2, False),
    ],
)
def test_deprecated_versions_differ_by_patch_release(
    release: str, key: int, version: int, marked: bool
) -> None:
    assert is_deprecated(release, key, version) is marked


def test_some_deprecated_versions_are_accepted_from_4_0_1_on() -> None:
    marked = [
        (key, version)
        for key, range_ in listed_ranges("3.9.0").items()
        for version in range(range_.high + 1)
        if is_deprecated("3.9.0", key, version) and accepts("4.0.1", key, version)
    ]
    assert marked == [
        (0, 3), (0, 4), (0, 5), (0, 6), (3, 0), (3, 1), (3, 2), (3, 3),
        (10, 0), (11, 0), (11, 1), (17, 0), (42, 0),
    ]  # fmt: skip


def test_accepted_ranges_equal_listed_ranges_with_known_exceptions() -> None:
    different = {
        (line.name, key)
        for line in known_release_lines()
        for mode in line.modes
        for key, range_ in accepted_ranges(line.name, mode).items()
        if key not in line.telemetry and listed_ranges(line.name, mode)[key] != range_
    }
    assert different == {(line, 7) for line in ("0.10.0", "0.10.1", "0.10.2", "0.11")} | {
        (line, 0) for line in ("4.0", "4.1", "4.2", "4.3")
    }


def test_a_line_and_an_unknown_patch_release_mean_the_newest_patch_release() -> None:
    assert listed_ranges("4.0") == listed_ranges("4.0.2") == listed_ranges("4.0.99")
    assert listed_ranges("4.0") != listed_ranges("4.0.0")
    assert listed_ranges("3.9.1-ccs") == listed_ranges("3.9.1")
    assert (is_known_release("4.0.2"), is_known_release("4.0"), is_known_release("4.0.99")) == (
        True,
        True,
        False,
    )


def test_modes_list_different_apis() -> None:
    assert LEADER_AND_ISR in listed_ranges("3.9", Mode.ZOOKEEPER)
    assert LEADER_AND_ISR not in listed_ranges("3.9")
    assert 52 in listed_ranges("3.9", Mode.CONTROLLER)
    with pytest.raises(UnknownReleaseError, match=r"4\.0 has no zookeeper mode") as caught:
        listed_ranges("4.0", Mode.ZOOKEEPER)
    assert caught.value.hint == "use one of kraft, controller"


@pytest.mark.parametrize(
    ("release", "hint"),
    [
        ("4.4.0", "the newest known line is 4.3"),
        ("1.2", "did you mean one of 1.0, 1.1?"),
        ("3.10.0", "did you mean one of 3.0, 3.1"),
        ("7.9.1-ccs", "contains Apache Kafka 3.9"),
        ("11.0", "use one of 0.8.0, "),
    ],
)
def test_release_line_of_an_unknown_release_is_an_error_with_a_hint(
    release: str, hint: str
) -> None:
    with pytest.raises(UnknownReleaseError, match="there is no release") as caught:
        release_line(release)
    assert hint in str(caught.value.hint)


def test_first_line_listing_an_api() -> None:
    names = {
        key: line.name if (line := first_line_listing(key)) else None for key in (0, 18, 60, 71, 52)
    }
    assert names == {0: "0.8.0", 18: "0.10.0", 60: "2.8", 71: "3.7", 52: None}
    assert newest_release_line().name == "4.3"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"since": "3.7.9", "versions": {}}, "row 3.7.9: is unknown or out of order"),
        ({"since": "4.0.0", "versions": {}}, "row 4.0.0: is unknown or out of order"),
        ({"since": "4.1.0", "versions": {"Fetch": [0, 1]}}, "Fetch .0, 1. is not listed"),
        ({"since": "4.1.0", "versions": {"ApiVersions": [0, 0]}}, "marks ApiVersions"),
        ({"since": "4.1.0"}, "row 4.1.0: lacks versions"),
    ],
)
def test_35_8_build_deprecated_rejects_an_invalid_row(row: dict[str, object], message: str) -> None:
    rows = [*read_table(DEPRECATED)["deprecated"], row]
    with pytest.raises(TableError, match=message):
        build_deprecated(rows, known_release_lines(), known_apis())
