"""Lists that match no release: a newer Kafka, a proxy, or another product."""

import pytest

from rollcall.catalog.apis import Mode
from rollcall.catalog.brokers.identify import identify_release
from rollcall.catalog.brokers.result import BrokerKind, EvidenceKind
from rollcall.catalog.provenance import Provenance
from rollcall.catalog.ranges import intersect
from rollcall.catalog.releases.api_ranges import listed_ranges

NEWEST = dict(listed_ranges("4.3"))


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
def test_a_list_above_the_newest_release_is_newer(more: dict[int, tuple[int, int]]) -> None:
    inference = identify_release(
        {**NEWEST, **more}, supported_features={"metadata.version": (7, 31)}
    )
    assert inference.kind is BrokerKind.NEWER
    assert inference.newer_than == "4.3"
    assert inference.candidates == ()
    assert {evidence.kind for evidence in inference.evidence} <= {
        EvidenceKind.ABOVE_NEWEST_RELEASE,
        EvidenceKind.UNKNOWN_API,
    }


def test_a_controller_above_the_newest_release_is_newer() -> None:
    inference = identify_release({**listed_ranges("4.3", Mode.CONTROLLER), 18: (0, 5), 94: (0, 0)})
    assert inference.kind is BrokerKind.NEWER


def test_an_error_response_with_a_newer_api_versions_range_is_newer() -> None:
    assert identify_release({18: (0, 5)}, error_code=35).kind is BrokerKind.NEWER


def test_api_keys_of_a_vendor_are_another_product() -> None:
    inference = identify_release({**NEWEST, 18: (0, 5), 9000: (0, 0)})
    assert inference.kind is BrokerKind.OTHER
    assert inference.evidence[0].api_key == 9000


def test_the_overlap_of_two_releases_is_unknown_with_the_lines_that_contain_it() -> None:
    inference = identify_release(intersect([listed_ranges("3.9"), listed_ranges("4.0")]))
    assert inference.kind is BrokerKind.UNKNOWN
    assert inference.candidates == ()
    assert {"3.9", "4.0"} <= set(inference.containing_lines)
    assert "3.8" not in inference.containing_lines
    assert inference.provenance is Provenance.INFERRED


def test_metadata_version_narrows_the_lines_that_contain_a_list() -> None:
    overlap = intersect([listed_ranges("3.9"), listed_ranges("4.1")])
    assert len(identify_release(overlap).containing_lines) > 1
    inference = identify_release(overlap, supported_features={"metadata.version": (7, 27)})
    assert (inference.kind, inference.containing_lines) == (BrokerKind.UNKNOWN, ("4.1",))


def test_a_zookeeper_list_without_inter_broker_apis_is_unknown() -> None:
    visible = {
        key: r for key, r in listed_ranges("2.8", Mode.ZOOKEEPER).items() if key not in range(4, 8)
    }
    inference = identify_release(visible)
    assert inference.kind is BrokerKind.UNKNOWN
    assert inference.containing_lines[0] == "2.8"
    assert "2.7" not in inference.containing_lines


@pytest.mark.parametrize(
    "ranges",
    [
        {3: (0, 13), 17: (0, 1), 18: (0, 4), 36: (0, 2), 60: (0, 2)},
        {3: (0, 11), 18: (0, 3), 60: (0, 1)},
    ],
)
def test_a_short_list_as_of_the_embedded_cluster_is_another_product(
    ranges: dict[int, tuple[int, int]],
) -> None:
    inference = identify_release(ranges)
    assert inference.kind is BrokerKind.OTHER
    assert inference.candidates == ()
    assert inference.other_products == ()


def test_a_combination_of_versions_that_no_release_has_is_another_product() -> None:
    inference = identify_release({**listed_ranges("2.8"), 0: (0, 13)})
    assert inference.kind is BrokerKind.OTHER
    assert inference.evidence[0].kind is EvidenceKind.UNKNOWN_COMBINATION
    assert inference.closest is not None
    assert (inference.closest.line, len(inference.closest.differences)) == ("2.8", 1)
