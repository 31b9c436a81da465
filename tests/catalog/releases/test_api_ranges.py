"""Listed, accepted and deprecated are three things, and patch releases differ in them."""

import pytest

from rollcall.catalog.apis import Mode, known_apis
from rollcall.catalog.loader import TableError, read_table
from rollcall.catalog.releases.api_ranges import (
    DEPRECATED,
    Acceptance,
    acceptance,
    accepted_ranges,
    accepts,
    build_marks,
    first_line_listing,
    is_deprecated,
    is_known_release,
    listed,
    listed_ranges,
    newest,
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
def test_join_group_1_is_refused_by_4_0_0_alone(release: str, accepted: bool) -> None:
    assert accepts(release, JOIN_GROUP, 1) is accepted
    assert listed(release, JOIN_GROUP, 1) is accepted


@pytest.mark.parametrize("release", ["4.0.0", "4.0.1", "4.1.0", "4.2.1", "4.3.1"])
@pytest.mark.parametrize("version", [0, 1, 2])
def test_produce_0_to_2_is_listed_by_4_x_and_refused(release: str, version: int) -> None:
    assert listed(release, PRODUCE, version)
    assert acceptance(release, PRODUCE, version) is Acceptance.TOO_OLD


def test_controlled_shutdown_0_was_accepted_before_it_was_listed() -> None:
    assert not listed("0.11.0.3", CONTROLLED_SHUTDOWN, 0)
    assert accepts("0.11.0.3", CONTROLLED_SHUTDOWN, 0)
    assert listed("1.0.0", CONTROLLED_SHUTDOWN, 0)


@pytest.mark.parametrize(
    ("release", "key", "version", "what"),
    [
        ("4.0.0", FETCH, 3, Acceptance.TOO_OLD),
        ("4.0.0", FETCH, 4, Acceptance.ACCEPTED),
        ("4.0.0", FETCH, 18, Acceptance.TOO_NEW),
        ("4.0.0", METADATA, 0, Acceptance.ACCEPTED),
        ("4.0.0", LEADER_AND_ISR, 7, Acceptance.REMOVED),
        ("3.9.1", 88, 0, Acceptance.NOT_YET),
        ("4.3.0", 71, 0, Acceptance.ACCEPTED),
        ("3.6.0", 71, 0, Acceptance.NOT_YET),
        # delegation tokens and SCRAM came to KRaft in 3.6 and 3.5: ZooKeeper kept them
        ("3.4.0", 38, 0, Acceptance.ACCEPTED),
        ("3.4.0", 51, 0, Acceptance.ACCEPTED),
        # the quorum is KRaft's alone, in lines where ZooKeeper is meant too
        ("3.3.0", 55, 0, Acceptance.ACCEPTED),
        ("4.0.0", 38, 0, Acceptance.TOO_OLD),
    ],
)
def test_what_a_release_does_with_a_version(
    release: str, key: int, version: int, what: Acceptance
) -> None:
    assert acceptance(release, key, version) is what
    assert what.refused == (what in (Acceptance.TOO_OLD, Acceptance.REMOVED))


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
def test_marks_differ_by_patch_release(release: str, key: int, version: int, marked: bool) -> None:
    assert is_deprecated(release, key, version) is marked


def test_some_marked_versions_are_accepted_by_every_4_x_from_4_0_1_on() -> None:
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


def test_everything_accepted_lies_within_what_is_listed_but_for_known_exceptions() -> None:
    odd = {
        (line.name, key)
        for line in known_release_lines()
        for mode in line.modes
        for key, range_ in accepted_ranges(line.name, mode).items()
        if key not in line.telemetry and listed_ranges(line.name, mode)[key] != range_
    }
    assert odd == {(line, 7) for line in ("0.10.0", "0.10.1", "0.10.2", "0.11")} | {
        (line, 0) for line in ("4.0", "4.1", "4.2", "4.3")
    }


def test_a_bare_line_means_its_newest_patch_and_a_later_patch_the_same() -> None:
    assert listed_ranges("4.0") == listed_ranges("4.0.2") == listed_ranges("4.0.99")
    assert listed_ranges("4.0") != listed_ranges("4.0.0")
    assert listed_ranges("3.9.1-ccs") == listed_ranges("3.9.1")
    assert (is_known_release("4.0.2"), is_known_release("4.0"), is_known_release("4.0.99")) == (
        True,
        True,
        False,
    )


def test_modes_list_different_things() -> None:
    assert LEADER_AND_ISR in listed_ranges("3.9", Mode.ZOOKEEPER)
    assert LEADER_AND_ISR not in listed_ranges("3.9")
    assert 52 in listed_ranges("3.9", Mode.CONTROLLER)
    with pytest.raises(UnknownReleaseError, match=r"4\.0 has no zookeeper mode") as caught:
        listed_ranges("4.0", Mode.ZOOKEEPER)
    assert caught.value.hint == "it has kraft, controller"


@pytest.mark.parametrize(
    ("release", "hint"),
    [
        ("4.4.0", "the newest line known here is 4.3"),
        ("1.2", "did you mean one of 1.0, 1.1?"),
        ("3.10.0", "did you mean one of 3.0, 3.1"),
        ("7.9.1-ccs", "carries Apache Kafka 3.9"),
        ("11.0", "known lines: 0.8.0, "),
    ],
)
def test_an_unknown_release_is_an_error_with_a_way_out(release: str, hint: str) -> None:
    with pytest.raises(UnknownReleaseError, match="there is no release") as caught:
        release_line(release)
    assert hint in str(caught.value.hint)


def test_an_api_is_known_by_the_line_that_first_listed_it() -> None:
    names = {
        key: line.name if (line := first_line_listing(key)) else None for key in (0, 18, 60, 71, 52)
    }
    assert names == {0: "0.8.0", 18: "0.10.0", 60: "2.8", 71: "3.7", 52: None}
    assert newest().name == "4.3"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"since": "3.7.9", "versions": {}}, "row 3.7.9: is no later patch release"),
        ({"since": "4.0.0", "versions": {}}, "row 4.0.0: is no later patch release"),
        ({"since": "4.1.0", "versions": {"Fetch": [0, 1]}}, "marks Fetch .0, 1., not listed there"),
        ({"since": "4.1.0", "versions": {"ApiVersions": [0, 0]}}, "marks ApiVersions"),
        ({"since": "4.1.0"}, "row 4.1.0: lacks versions"),
    ],
)
def test_35_8_marks_that_cannot_be_right_are_refused(row: dict[str, object], message: str) -> None:
    rows = [*read_table(DEPRECATED)["marks"], row]
    with pytest.raises(TableError, match=message):
        build_marks(rows, known_release_lines(), known_apis())
