"""How well nameless clients are inferred, on logs of real brokers with real clients.

The figures are those of docs/reports.md. A wrong answer is worse than none: where a library is
named, it is the right one; whoever adds a signature that breaks this has taken too little for
enough.
"""

from collections.abc import Callable, Iterable

import pytest

from rollcall.catalog import Provenance, parse_version
from tests.catalog.clients.real_clients import (
    Judge,
    Outcome,
    RealClient,
    clients_in_lines,
    clients_of_nine_releases,
    outcome,
    scores,
)


def nameless() -> list[RealClient]:
    return [it for it in clients_in_lines() if it.told is None]


def free() -> list[RealClient]:
    return [it for it in nameless() if not it.setting]


def with_own_id() -> list[RealClient]:
    return [it for it in free() if not it.has_default_id]


def free_without_names() -> list[RealClient]:
    return [it for it in clients_in_lines() if not it.setting]


def nameless_of_nine_releases() -> list[RealClient]:
    return [it for it in clients_of_nine_releases() if it.told is None]


RECALL_BY_VERSIONS = {
    "aiokafka": 0.52,
    "apache-kafka-java": 0.55,
    "kafka-go": 0.83,
    "kafka-node": 1.0,
    "kafka-python": 0.33,
    "kafkajs": 0.81,
    "librdkafka": 0.66,
    "sarama": 0.31,
}


@pytest.mark.parametrize(
    ("clients", "judge"),
    [
        (free, RealClient.as_logged),
        (free_without_names, RealClient.by_versions),
        (nameless_of_nine_releases, RealClient.as_logged),
        (clients_of_nine_releases, RealClient.by_versions),
    ],
    ids=["nameless", "names stripped", "nine releases", "nine releases, names stripped"],
)
def test_a_library_that_is_named_is_the_right_one(
    clients: Callable[[], Iterable[RealClient]], judge: Judge
) -> None:
    """And where several are, it is among them."""
    wrong = [it for it in clients() if outcome(it, judge(it)) is Outcome.WRONG]
    assert [(it.library, it.version, it.release, it.client_id) for it in wrong] == []


def test_a_default_client_id_leads_to_every_library_that_is_known() -> None:
    with_default = [it for it in free() if it.has_default_id and it.library != "pykafka"]
    found = scores(with_default, RealClient.as_logged)
    assert {library: score.recall for library, score in found.items()} == dict.fromkeys(found, 1.0)


def test_a_library_nobody_told_us_of_cannot_be_told() -> None:
    strangers = [it for it in free() if it.library == "pykafka"]
    assert {outcome(it, it.as_logged()) for it in strangers} == {Outcome.UNKNOWN}


def test_api_versions_alone_lead_to_as_many_as_the_docs_say() -> None:
    found = scores(with_own_id(), RealClient.as_logged)
    assert found.keys() == RECALL_BY_VERSIONS.keys()
    low = {it: score.recall for it, score in found.items() if score.recall < RECALL_BY_VERSIONS[it]}
    assert low == {}


def test_versions_of_a_library_without_a_row_of_their_own_are_inferred_as_well() -> None:
    unheard_of = [
        it for it in with_own_id() if not it.is_known and it.library != "apache-kafka-java"
    ]
    found = scores(unheard_of, RealClient.as_logged)
    assert found.keys() >= {"aiokafka", "kafka-go", "kafkajs", "librdkafka", "sarama"}
    assert all(score.recall >= 0.3 for score in found.values()), found


def test_who_told_a_name_is_what_it_said() -> None:
    told = [it for it in clients_in_lines() if it.told is not None]
    assert {it.as_logged().provenance for it in told} == {Provenance.REPORTED}
    assert {outcome(it, it.as_logged()) for it in told} == {Outcome.RIGHT}


def test_held_down_to_a_release_kafka_python_3_is_taken_for_its_java_client() -> None:
    """It asks and sends as that does: known, and in the docs."""
    wrong = [it for it in nameless() if it.setting and outcome(it, it.as_logged()) is Outcome.WRONG]
    assert {(it.library, it.version) for it in wrong} == {("kafka-python", "3.0.12")}
    assert {it.as_logged().library for it in wrong} == {"apache-kafka-java"}


def test_k07_who_asks_without_a_name_is_older_than_the_first_that_tells_it() -> None:
    """On brokers that hear names; an application of a library held down by a setting asks not."""
    bounds = [
        (parse_version(client.version), candidate.older_than)
        for client in [*clients_in_lines(), *clients_of_nine_releases()]
        for candidate in client.as_logged().candidates
        if candidate.library == client.library and candidate.older_than is not None
    ]
    assert len(bounds) > 150
    assert all(version is not None and version < before for version, before in bounds)
