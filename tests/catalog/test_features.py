"""Features that a client can use on a cluster, and the brokers that prevent others."""

import copy
from typing import Any

import pytest

from rollcall.catalog.apis import known_apis
from rollcall.catalog.features import (
    FILE,
    BrokerSupport,
    Feature,
    FeatureResult,
    MissingRequirement,
    Usable,
    build_features,
    known_features,
    usable_features,
)
from rollcall.catalog.loader import TableError, read_table
from rollcall.catalog.ranges import Range
from rollcall.catalog.releases.api_ranges import listed_ranges
from rollcall.catalog.releases.release_lines import known_release_lines

B1 = BrokerSupport({0: (0, 3), 1: (2, 3)})
B2 = BrokerSupport({0: (1, 2), 1: (0, 3), 2: (0, 0)})
FEATURE_1 = Feature("Feature1", {0: Range(3, 3), 1: Range(2, 3)})
FEATURE_2 = Feature("Feature2", {0: Range(0, 1), 1: Range(2, 3)})


def usable(brokers: dict[str, BrokerSupport]) -> dict[str, Usable]:
    return {result.feature.id: result.usable for result in usable_features(brokers)}


def result_of(feature: str, brokers: dict[int, BrokerSupport]) -> FeatureResult[int]:
    [wanted] = [known for known in known_features() if known.id == feature]
    [result] = usable_features(brokers, [wanted])
    return result


def test_35_7_the_example_of_the_kip_gives_the_printed_result() -> None:
    one, two = usable_features({"B1": B1, "B2": B2}, [FEATURE_1, FEATURE_2])
    assert one.usable is Usable.NO
    assert one.missing == (
        MissingRequirement("B2", api_key=0, needed=Range(3, 3), offered=Range(1, 2)),
    )
    assert (two.usable, two.missing) == (Usable.YES, ())


def test_35_7_an_api_that_a_broker_lacks_is_missing_without_an_offered_range() -> None:
    [result] = usable_features({1: B1, 2: B2}, [Feature("Feature3", {2: Range(0, 0)})])
    assert result.missing == (MissingRequirement(1, api_key=2, needed=Range(0, 0), offered=None),)


def test_35_7_brokers_without_a_common_version_are_all_named() -> None:
    brokers = {1: BrokerSupport({0: (0, 1)}), 2: BrokerSupport({0: (2, 3)})}
    [result] = usable_features(brokers, [Feature("Feature4", {0: Range(0, 3)})])
    assert [missing.broker for missing in result.missing] == [1, 2]


def test_usable_features_without_brokers_is_empty() -> None:
    assert usable_features({}) == ()


def test_every_known_feature_has_a_kip_and_a_title() -> None:
    assert len(known_features()) >= 20
    assert all(feature.kip and feature.title for feature in known_features())


@pytest.mark.parametrize(
    "feature", [f for f in known_features() if f.since and not f.levels], ids=lambda f: f.id
)
def test_a_feature_is_usable_from_its_first_line_on(feature: Feature) -> None:
    """Through the public function, independent of the check in the loader."""
    names = [line.name for line in known_release_lines()]
    first = names.index(str(feature.since))
    for line in known_release_lines()[4:]:
        results = {
            usable_features({1: BrokerSupport({**line.ranges[mode], **line.telemetry})}, [feature])[
                0
            ].usable
            for mode in line.modes
            if mode != "controller"
        }
        assert (Usable.YES in results) == (names.index(line.name) >= first), line.name


def test_a_mixed_cluster_has_the_features_of_its_oldest_broker() -> None:
    brokers = {
        "new": BrokerSupport(listed_ranges("4.3")),
        "old": BrokerSupport(listed_ranges("2.3")),
    }
    found = usable(brokers)
    assert found["zstd"] is Usable.YES
    assert found["client-identity"] is Usable.NO
    [result] = [r for r in usable_features(brokers) if r.feature.id == "client-identity"]
    assert [(m.broker, m.api_key, m.offered) for m in result.missing] == [("old", 18, (0, 2))]


@pytest.mark.parametrize(
    ("finalized", "feature", "expected"),
    [
        ({"group.version": 1}, "consumer-groups", Usable.YES),
        ({"transaction.version": 1}, "transactions-v2", Usable.NO),
        ({"group.version": 1}, "share-groups", Usable.NO),
        (None, "transactions-v2", Usable.UNKNOWN),
        (None, "zstd", Usable.YES),
    ],
)
def test_finalized_levels_decide_in_addition_to_ranges(
    finalized: dict[str, int] | None, feature: str, expected: Usable
) -> None:
    broker = BrokerSupport(listed_ranges("4.3"), finalized=finalized)
    assert result_of(feature, {1: broker}).usable is expected


def test_a_missing_level_is_named_with_the_needed_and_the_reported_level() -> None:
    brokers = {7: BrokerSupport(listed_ranges("4.3"), finalized={"transaction.version": 1})}
    [missing] = result_of("transactions-v2", brokers).missing
    assert (missing.broker, missing.level, missing.offered) == (7, "transaction.version", (1, 1))
    assert missing.needed is not None
    assert missing.needed.low == 2


def test_885_broker_identity_needs_a_broker_that_demonstrated_the_extension() -> None:
    ranges = listed_ranges("4.3")
    apache = BrokerSupport(ranges)
    rollcall = BrokerSupport(ranges, extensions=frozenset({"broker-identity"}))
    assert result_of("broker-identity", {1: apache}).usable is Usable.NO
    assert result_of("broker-identity", {1: rollcall}).usable is Usable.YES


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": "zstd"}, "row zstd: duplicate id"),
        ({"since": "2.0"}, "has since 2.0, but the first line that has it is 0.10.1"),
        ({"needs": {"CreateTopics": 99}}, "the first line that has it is None"),
        ({"needs": {"CreateTopic": 0}}, "there is no API CreateTopic"),
        ({"level": {}}, "has the unknown field level"),
        ({"levels": {"group.version": 1}}, "the first line that has it is 4.0"),
    ],
)
def test_build_features_names_the_file_and_row_of_an_invalid_row(
    change: dict[str, Any], message: str
) -> None:
    rows = copy.deepcopy(read_table(FILE)["features"])
    rows[0] = {**rows[0], **change}
    with pytest.raises(TableError, match=message) as caught:
        build_features(rows, known_release_lines(), known_apis())
    assert "features.json" in caught.value.message
