"""What a client can use on a cluster, and which broker stands in the way."""

import copy
from typing import Any

import pytest

from rollcall.catalog.apis import known_apis
from rollcall.catalog.features import (
    FILE,
    BrokerSupport,
    Feature,
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


def usable(offers: dict[str, BrokerSupport]) -> dict[str, Usable]:
    return {verdict.feature.id: verdict.usable for verdict in usable_features(offers)}


def test_35_7_the_example_of_the_kip_comes_out_as_printed() -> None:
    one, two = usable_features({"B1": B1, "B2": B2}, [FEATURE_1, FEATURE_2])
    assert one.usable is Usable.NO
    assert one.missing == (
        MissingRequirement("B2", api_key=0, needed=Range(3, 3), offered=Range(1, 2)),
    )
    assert (two.usable, two.missing) == (Usable.YES, ())


def test_35_7_an_api_that_a_broker_lacks_is_an_obstacle_without_an_offer() -> None:
    (verdict,) = usable_features({1: B1, 2: B2}, [Feature("Feature3", {2: Range(0, 0)})])
    assert verdict.missing == (MissingRequirement(1, api_key=2, needed=Range(0, 0), offered=None),)


def test_35_7_brokers_without_a_version_in_common_are_all_named() -> None:
    offers = {1: BrokerSupport({0: (0, 1)}), 2: BrokerSupport({0: (2, 3)})}
    (verdict,) = usable_features(offers, [Feature("Feature4", {0: Range(0, 3)})])
    assert [obstacle.broker for obstacle in verdict.missing] == [1, 2]


def test_no_brokers_no_verdicts() -> None:
    assert usable_features({}) == ()


def test_the_table_has_many_real_features_each_with_its_kip() -> None:
    assert len(known_features()) >= 20
    assert all(feature.kip and feature.title for feature in known_features())


@pytest.mark.parametrize(
    "feature", [f for f in known_features() if f.since and not f.levels], ids=lambda f: f.id
)
def test_a_feature_is_usable_from_its_first_line_on_and_not_before(feature: Feature) -> None:
    """Judged through the public way, from the lists, and not as the loader checks it."""
    names = [line.name for line in known_release_lines()]
    first = names.index(str(feature.since))
    for line in known_release_lines()[4:]:
        modes = [mode for mode in line.modes if mode != "controller"]
        can = {
            usable_features(
                {1: BrokerSupport({**line.listings[-1].listed[mode], **line.telemetry})}, [feature]
            )[0].usable
            for mode in modes
        }
        assert (Usable.YES in can) == (names.index(line.name) >= first), line.name


def test_a_mixed_cluster_has_what_its_oldest_broker_has() -> None:
    offers = {
        "new": BrokerSupport(listed_ranges("4.3")),
        "old": BrokerSupport(listed_ranges("2.3")),
    }
    found = usable(offers)
    assert found["zstd"] is Usable.YES
    assert found["client-identity"] is Usable.NO
    (verdict,) = [v for v in usable_features(offers) if v.feature.id == "client-identity"]
    assert [(o.broker, o.api_key, o.offered) for o in verdict.missing] == [("old", 18, (0, 2))]


def test_finalized_levels_decide_beside_ranges() -> None:
    ranges = listed_ranges("4.3")
    levels = {"group.version": 1, "transaction.version": 1}
    found = usable({"told": BrokerSupport(ranges, finalized=levels)})
    assert found["consumer-groups"] is Usable.YES
    assert found["transactions-v2"] is Usable.NO
    assert found["share-groups"] is Usable.NO
    assert usable({"untold": BrokerSupport(ranges)})["transactions-v2"] is Usable.UNKNOWN


def test_a_missing_level_is_named() -> None:
    offers = {7: BrokerSupport(listed_ranges("4.3"), finalized={"transaction.version": 1})}
    (verdict,) = [v for v in usable_features(offers) if v.feature.id == "transactions-v2"]
    (obstacle,) = verdict.missing
    assert (obstacle.broker, obstacle.level, obstacle.offered) == (7, "transaction.version", (1, 1))
    assert obstacle.needed is not None
    assert obstacle.needed.low == 2


def test_885_no_release_of_apache_kafka_tells_its_identity_and_our_nodes_do() -> None:
    apache = {1: BrokerSupport(listed_ranges("4.3"))}
    ours = {1: BrokerSupport(listed_ranges("4.3"), extensions=frozenset({"broker-identity"}))}
    for offers, expected in ((apache, Usable.NO), (ours, Usable.YES)):
        (verdict,) = [v for v in usable_features(offers) if v.feature.id == "broker-identity"]
        assert verdict.usable is expected


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        ({"id": "zstd"}, "row zstd: is there twice"),
        ({"since": "2.0"}, "is said to be there since 2.0; the first line that has it is 0.10.1"),
        ({"needs": {"CreateTopics": 99}}, "the first line that has it is None"),
        ({"needs": {"CreateTopic": 0}}, "there is no API CreateTopic"),
        ({"level": {}}, "has the unknown field level"),
        ({"levels": {"group.version": 1}}, "the first line that has it is 4.0"),
    ],
)
def test_a_spoilt_row_is_named_with_its_file(spoil: dict[str, Any], message: str) -> None:
    rows = copy.deepcopy(read_table(FILE)["features"])
    rows[0] = {**rows[0], **spoil}
    with pytest.raises(TableError, match=message) as caught:
        build_features(rows, known_release_lines(), known_apis())
    assert "features.json" in caught.value.message
