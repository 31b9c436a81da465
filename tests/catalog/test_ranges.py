"""Ranges of API versions: overlap, intersection and differences."""

import pytest

from rollcall.catalog.ranges import Difference, Range, differences, intersect


@pytest.mark.parametrize(
    ("left", "right", "shared"),
    [
        ((0, 3), (1, 2), (1, 2)),
        ((0, 3), (3, 9), (3, 3)),
        ((0, 3), (4, 9), None),
        ((2, 2), (0, 9), (2, 2)),
    ],
)
def test_overlap_is_symmetric(
    left: tuple[int, int], right: tuple[int, int], shared: tuple[int, int] | None
) -> None:
    assert Range(*left).overlap(Range(*right)) == shared
    assert Range(*right).overlap(Range(*left)) == shared


def test_35_7_intersect_returns_the_result_printed_in_the_kip() -> None:
    b1 = {0: (0, 3), 1: (2, 3)}
    b2 = {0: (1, 2), 1: (0, 3), 2: (0, 0)}
    assert intersect([b1, b2]) == {0: (1, 2), 1: (2, 3)}


def test_intersect_drops_an_api_without_a_common_version() -> None:
    assert intersect([{0: (0, 1)}, {0: (2, 3)}]) == {}
    assert intersect([]) == {}


def test_differences_include_apis_that_one_side_lacks() -> None:
    assert differences({0: (0, 1), 1: (0, 0)}, {0: (0, 2), 1: (0, 0), 2: (0, 0)}) == (
        Difference(0, Range(0, 1), Range(0, 2)),
        Difference(2, None, Range(0, 0)),
    )
