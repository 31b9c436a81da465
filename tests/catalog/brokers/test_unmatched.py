"""Lists that fit no release: newer ones, proxies, and what is no Apache Kafka at all."""

import pytest

from rollcall.catalog.apis import Mode
from rollcall.catalog.brokers.identify import identify_release
from rollcall.catalog.brokers.result import Sign, Verdict
from rollcall.catalog.provenance import Source
from rollcall.catalog.ranges import intersect
from rollcall.catalog.releases.api_ranges import ranges_of

NEWEST = dict(ranges_of("4.3"))


@pytest.mark.parametrize(
    "more",
    [
        {18: (0, 5)},
        {93: (0, 0), 94: (0, 0)},
        {18: (0, 5), 28: (0, 6), 42: (0, 3), 88: (0, 1), 89: (0, 1), 93: (0, 0), 94: (0, 0)},
        {1: (6, 20)},
        {18: (0, 5), 45: (0, 0)},
    ],
)
def test_what_goes_beyond_the_newest_release_is_newer(more: dict[int, tuple[int, int]]) -> None:
    guess = identify_release({**NEWEST, **more}, supported_features={"metadata.version": (7, 31)})
    assert guess.verdict is Verdict.NEWER
    assert guess.newer_than == "4.3"
    assert guess.candidates == ()
    assert {it.sign for it in guess.evidence} <= {Sign.BEYOND, Sign.UNKNOWN_KEY}


def test_a_newer_controller_is_newer_too() -> None:
    guess = identify_release({**ranges_of("4.3", Mode.CONTROLLER), 18: (0, 5), 94: (0, 0)})
    assert guess.verdict is Verdict.NEWER


def test_an_error_that_names_a_newer_api_versions_is_newer() -> None:
    assert identify_release({18: (0, 5)}, error_code=35).verdict is Verdict.NEWER


def test_keys_of_a_vendor_are_not_a_newer_kafka() -> None:
    guess = identify_release({**NEWEST, 18: (0, 5), 9000: (0, 0)})
    assert guess.verdict is Verdict.OTHER
    assert guess.evidence[0].api_key == 9000


def test_a_proxy_that_lists_the_overlap_of_two_is_not_taken_for_a_release() -> None:
    guess = identify_release(intersect([ranges_of("3.9"), ranges_of("4.0")]))
    assert guess.verdict is Verdict.CANNOT_TELL
    assert guess.candidates == ()
    assert {"3.9", "4.0"} <= set(guess.behind)
    assert "3.8" not in guess.behind
    assert guess.source is Source.INFERRED


def test_the_metadata_version_tells_which_release_is_behind_the_proxy() -> None:
    overlap = intersect([ranges_of("3.9"), ranges_of("4.1")])
    assert len(identify_release(overlap).behind) > 1
    guess = identify_release(overlap, supported_features={"metadata.version": (7, 27)})
    assert (guess.verdict, guess.behind) == (Verdict.CANNOT_TELL, ("4.1",))


def test_a_zookeeper_list_without_the_keys_of_zookeeper_is_behind_a_proxy() -> None:
    hidden = {
        key: r for key, r in ranges_of("2.8", Mode.ZOOKEEPER).items() if key not in range(4, 8)
    }
    guess = identify_release(hidden)
    assert guess.verdict is Verdict.CANNOT_TELL
    assert guess.behind[0] == "2.8"
    assert "2.7" not in guess.behind


@pytest.mark.parametrize(
    "ranges",
    [
        {3: (0, 13), 17: (0, 1), 18: (0, 4), 36: (0, 2), 60: (0, 2)},
        {3: (0, 11), 18: (0, 3), 60: (0, 1)},
    ],
)
def test_a_short_list_such_as_our_own_nodes_have_is_no_apache_kafka(
    ranges: dict[int, tuple[int, int]],
) -> None:
    guess = identify_release(ranges)
    assert guess.verdict is Verdict.OTHER
    assert guess.candidates == ()
    assert guess.others == ()


def test_a_mix_of_versions_that_no_release_has_is_no_apache_kafka() -> None:
    guess = identify_release({**ranges_of("2.8"), 0: (0, 13)})
    assert guess.verdict is Verdict.OTHER
    assert guess.evidence[0].sign is Sign.MIX
    assert guess.next_best is not None
    assert (guess.next_best.line, len(guess.next_best.against)) == ("2.8", 1)
