"""Fingerprints: the lists of API ranges that releases return."""

import pytest

from rollcall.catalog.apis import Mode
from rollcall.catalog.brokers.fingerprints import (
    NOT_COMPARED,
    BrokerCondition,
    compared_ranges,
    conditional_fingerprints,
    default_fingerprints,
    matching_fingerprints,
)
from rollcall.catalog.ranges import Range, Ranges
from rollcall.catalog.releases.api_ranges import listed_ranges, release_line

UNSTABLE_4_1 = {**listed_ranges("4.1"), **release_line("4.1").unstable[Mode.KRAFT]}


@pytest.mark.parametrize(
    ("ranges", "expected"),
    [
        (listed_ranges("4.3"), [("4.3", Mode.KRAFT, ())]),
        (listed_ranges("2.8", Mode.CONTROLLER), [("2.8", Mode.CONTROLLER, ())]),
        (listed_ranges("3.4"), [("3.3", Mode.KRAFT, ()), ("3.4", Mode.KRAFT, ())]),
        (UNSTABLE_4_1, [("4.1", Mode.KRAFT, (BrokerCondition.UNSTABLE_APIS,))]),
        ({**listed_ranges("4.3"), 0: Range(0, 99)}, []),
        ({}, []),
    ],
)
def test_matching_fingerprints_of_a_list(
    ranges: Ranges, expected: list[tuple[str, Mode, tuple[BrokerCondition, ...]]]
) -> None:
    found = [(f.line.name, f.mode, f.conditions) for f in matching_fingerprints(ranges)]
    assert found == expected


def test_compared_ranges_leave_out_the_apis_that_proxies_hide() -> None:
    visible = {key: r for key, r in listed_ranges("3.9").items() if key not in NOT_COMPARED}
    assert compared_ranges(listed_ranges("3.9")) == compared_ranges(visible)


def test_conditional_fingerprints_have_conditions_and_default_ones_do_not() -> None:
    default = [f for found in default_fingerprints().values() for f in found]
    conditional = [f for found in conditional_fingerprints().values() for f in found]
    assert not any(fingerprint.conditions for fingerprint in default)
    assert all(fingerprint.conditions for fingerprint in conditional)


def test_only_kraft_brokers_depend_on_the_release_of_the_controller() -> None:
    for found in conditional_fingerprints().values():
        for fingerprint in found:
            has_controllers = BrokerCondition.OTHER_CONTROLLER in fingerprint.conditions
            assert has_controllers == bool(fingerprint.controllers)
            assert not has_controllers or fingerprint.mode is Mode.KRAFT
