import json

from rollcall.catalog import BrokerSupport, Usable, listed_ranges, usable_features
from rollcall.cli.brokers.features import missing_texts
from rollcall.protocol.dialects import KIP
from tests.cli.scripted_cluster import rollcall, serving
from tests.client.scripted import KIP_RANGES, ScriptedBroker


def test_35_7_missing_requirements_name_broker_and_api() -> None:
    brokers = [
        ScriptedBroker(id=1, ranges=listed_ranges("2.4")),
        ScriptedBroker(id=2, ranges=listed_ranges("2.8")),
    ]
    with serving(*brokers):
        table = rollcall("features", brokers[0].address)
        document = json.loads(rollcall("features", brokers[0].address, "--json").out)
    lines = {line.split()[0]: line for line in table.out.splitlines() if line.strip()}
    assert " yes" in lines["idempotence"]
    assert "broker 1 lacks DescribeCluster 0+" in lines["describe-cluster"]
    assert "broker 1-2 lacks FindCoordinator 4+ (has 0-3)" in lines["batched-coordinators"]
    assert "features usable on 2 brokers" in table.out
    found = {feature["id"]: feature for feature in document["features"]}
    assert found["idempotence"]["usable"] == Usable.YES
    assert found["describe-cluster"]["missing_requirements"] == [
        {
            "broker": 1, "api_key": 60, "level": None, "extension": None,
            "needed": [0, 32767], "offered": None,
        }
    ]  # fmt: skip


def test_35_7_features_of_the_proposals_follow_what_a_broker_reports() -> None:
    ours = ScriptedBroker(
        ranges=KIP_RANGES, dialect_name=KIP, software=("rollcall", "0.1"), start_time_ms=1
    )
    for broker, usable in ((ours, "yes"), (ScriptedBroker(), "no")):
        with serving(broker):
            document = json.loads(rollcall("features", broker.address, "--json").out)
        found = {feature["id"]: feature["usable"] for feature in document["features"]}
        assert (found["broker-identity"], found["broker-start-time"]) == (usable, usable)


def test_feature_that_needs_a_finalized_level_follows_it() -> None:
    listed = dict(listed_ranges("4.3"))
    features = {"transaction.version": 2, "group.version": 1, "share.version": 1}
    for finalized, usable in (({}, "unknown"), (features, "yes"), ({"group.version": 1}, "no")):
        with serving(ScriptedBroker(ranges=listed, finalized_features=finalized)) as [broker]:
            document = json.loads(rollcall("features", broker.address, "--json").out)
        found = {feature["id"]: feature["usable"] for feature in document["features"]}
        assert found["transactions-v2"] == usable


def test_missing_texts_are_limited_to_three_requirements() -> None:
    [transactions] = [
        result
        for result in usable_features({1: BrokerSupport({}), 2: BrokerSupport({})})
        if result.feature.id == "transactions"
    ]
    [text] = missing_texts(transactions)
    assert text == (
        "broker 1-2 lacks FindCoordinator 1+, InitProducerId 0+, AddPartitionsToTxn 0+, 5 more"
    )
