"""Precision and recall of library identification, on logs of real brokers with real clients.

The figures are in docs/reports.md. A wrong library is worse than none: where a single library is
named, it must be right. A new signature that breaks this matches too little.
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
    return [client for client in clients_in_lines() if client.reported is None]


def unpinned_nameless() -> list[RealClient]:
    return [client for client in nameless() if not client.setting]


def with_custom_id() -> list[RealClient]:
    return [client for client in unpinned_nameless() if not client.has_default_id]


def unpinned() -> list[RealClient]:
    return [client for client in clients_in_lines() if not client.setting]


def nameless_of_nine_releases() -> list[RealClient]:
    return [client for client in clients_of_nine_releases() if client.reported is None]


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
        (unpinned_nameless, RealClient.as_logged),
        (unpinned, RealClient.by_versions),
        (nameless_of_nine_releases, RealClient.as_logged),
        (clients_of_nine_releases, RealClient.by_versions),
    ],
    ids=["nameless", "names removed", "nine releases", "nine releases, names removed"],
)
def test_the_candidates_include_the_right_library(
    clients: Callable[[], Iterable[RealClient]], judge: Judge
) -> None:
    wrong = [client for client in clients() if outcome(client, judge(client)) is Outcome.WRONG]
    assert [(c.library, c.version, c.release, c.client_id) for c in wrong] == []


def test_a_default_client_id_identifies_every_known_library() -> None:
    clients = [
        client
        for client in unpinned_nameless()
        if client.has_default_id and client.library != "pykafka"
    ]
    found = scores(clients, RealClient.as_logged)
    assert {library: score.recall for library, score in found.items()} == dict.fromkeys(found, 1.0)


def test_a_library_that_is_not_in_the_catalog_is_unknown() -> None:
    clients = [client for client in unpinned_nameless() if client.library == "pykafka"]
    assert {outcome(client, client.as_logged()) for client in clients} == {Outcome.UNKNOWN}


def test_recall_by_api_versions_is_at_least_the_documented_one() -> None:
    found = scores(with_custom_id(), RealClient.as_logged)
    assert found.keys() == RECALL_BY_VERSIONS.keys()
    low = {
        library: score.recall
        for library, score in found.items()
        if score.recall < RECALL_BY_VERSIONS[library]
    }
    assert low == {}


def test_library_versions_without_a_signature_are_identified() -> None:
    clients = [
        client
        for client in with_custom_id()
        if not client.is_known and client.library != "apache-kafka-java"
    ]
    found = scores(clients, RealClient.as_logged)
    assert found.keys() >= {"aiokafka", "kafka-go", "kafkajs", "librdkafka", "sarama"}
    assert all(score.recall >= 0.3 for score in found.values()), found


def test_a_client_that_reports_a_name_is_identified_by_it() -> None:
    clients = [client for client in clients_in_lines() if client.reported is not None]
    assert {client.as_logged().provenance for client in clients} == {Provenance.REPORTED}
    assert {outcome(client, client.as_logged()) for client in clients} == {Outcome.RIGHT}


def test_kafka_python_3_pinned_to_a_release_is_identified_as_its_java_client() -> None:
    """A documented limitation: it sends the same requests as that Java client."""
    wrong = [
        client
        for client in nameless()
        if client.setting and outcome(client, client.as_logged()) is Outcome.WRONG
    ]
    assert {(client.library, client.version) for client in wrong} == {("kafka-python", "3.0.12")}
    assert {client.as_logged().library for client in wrong} == {"apache-kafka-java"}


def test_k07_a_client_without_a_name_is_older_than_the_first_version_with_one() -> None:
    """On brokers with KIP-511; a pinned library may send no ApiVersions at all."""
    bounds = [
        (parse_version(client.version), candidate.older_than)
        for client in [*clients_in_lines(), *clients_of_nine_releases()]
        for candidate in client.as_logged().candidates
        if candidate.library == client.library and candidate.older_than is not None
    ]
    assert len(bounds) > 150
    assert all(version is not None and version < bound for version, bound in bounds)
