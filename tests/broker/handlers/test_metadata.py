from uuid import UUID

import pytest

from rollcall.broker.authorizer import NOT_REQUESTED, Authorizer, Operation
from rollcall.protocol import DIALECT_NAMES, KIP, RELEASED, Errors, Message, dialect
from tests.broker.handlers.calling import START_TIMES, call_handler

METADATA = 3
EVERY_VERSION = [
    (name, version) for name in DIALECT_NAMES for version in dialect(name).apis[METADATA].versions
]
SOME_ID = UUID(int=7)
Topic = dialect(RELEASED).message_class("MetadataRequest").MetadataRequestTopic


def named(*names: str) -> list[Message]:
    return [Topic(name=name) for name in names]


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
def test_every_metadata_version_has_the_brokers(name: str, version: int) -> None:
    response = call_handler(METADATA, version, name)
    assert [(b.node_id, b.host, b.port) for b in response.brokers] == [
        (broker_id, f"host{broker_id}", 19092) for broker_id in (1, 2, 3)
    ]
    assert response.controller_id == (1 if version >= 1 else -1)
    assert response.cluster_id == ("a-cluster" if version >= 2 else None)
    assert response.brokers[0].rack == ("r1" if version >= 1 else None)


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
def test_536_3_start_time_is_a_field_of_kip_10_and_a_tagged_field_of_released_9(
    name: str, version: int
) -> None:
    response = call_handler(METADATA, version, name)
    start_times = {b.node_id: b.start_time_ms for b in response.brokers}
    first = 10 if name == KIP else 9
    assert start_times == (START_TIMES if version >= first else dict.fromkeys(START_TIMES, 0))


def test_700_1_metadata_returns_the_addresses_of_the_listener() -> None:
    response = call_handler(METADATA, 10, KIP, listener="KIP")
    assert {b.port for b in response.brokers} == {19192}


def test_brokers_without_the_listener_are_left_out() -> None:
    assert call_handler(METADATA, 9, RELEASED, listener="SASL").brokers == ()


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
@pytest.mark.parametrize("topics", [None, []])
def test_request_for_all_or_no_topics_returns_an_empty_list(
    name: str, version: int, topics: list[Message] | None
) -> None:
    if version == 0:
        topics = []  # version 0 requests all topics like this
    assert call_handler(METADATA, version, name, {"topics": topics}).topics == ()


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
def test_requested_topic_is_unknown(name: str, version: int) -> None:
    response = call_handler(METADATA, version, name, {"topics": named("orders", "bills")})
    assert [(t.name, t.error_code) for t in response.topics] == [
        ("orders", Errors.UNKNOWN_TOPIC_OR_PARTITION),
        ("bills", Errors.UNKNOWN_TOPIC_OR_PARTITION),
    ]


@pytest.mark.parametrize("bad", ["", ".", "..", "a/b", "x" * 250, "é"])
def test_invalid_topic_name_is_an_error(bad: str) -> None:
    response = call_handler(METADATA, 9, RELEASED, {"topics": named(bad, "...")})
    assert [t.error_code for t in response.topics] == [
        Errors.INVALID_TOPIC_EXCEPTION,
        Errors.UNKNOWN_TOPIC_OR_PARTITION,
    ]


@pytest.mark.parametrize("version", [12, 13])
def test_topic_id_is_unknown_from_12_on(version: int) -> None:
    topics = [Topic(name=None, topic_id=SOME_ID), Topic(name="orders")]
    response = call_handler(METADATA, version, RELEASED, {"topics": topics})
    assert [(t.name, t.topic_id, t.error_code) for t in response.topics] == [
        (None, SOME_ID, Errors.UNKNOWN_TOPIC_ID),
        ("orders", UUID(int=0), Errors.UNKNOWN_TOPIC_OR_PARTITION),
    ]


@pytest.mark.parametrize("version", [12, 13])
def test_topic_without_name_and_id_is_an_invalid_request(version: int) -> None:
    response = call_handler(METADATA, version, RELEASED, {"topics": [Topic(name=None)]})
    assert [t.error_code for t in response.topics] == [Errors.INVALID_REQUEST]


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("topic", [Topic(name=None, topic_id=SOME_ID), Topic(name=None)])
def test_topic_id_in_10_and_11_makes_all_topics_invalid(version: int, topic: Message) -> None:
    response = call_handler(METADATA, version, RELEASED, {"topics": [topic, Topic(name="orders")]})
    assert [(t.name, t.error_code) for t in response.topics] == [
        ("", Errors.INVALID_REQUEST),
        ("orders", Errors.INVALID_REQUEST),
    ]
    assert len(response.brokers) == 3


@pytest.mark.parametrize(("name", "version"), [nv for nv in EVERY_VERSION if 8 <= nv[1] <= 10])
def test_700_2_metadata_8_to_10_has_all_cluster_operations(name: str, version: int) -> None:
    wanted = {"include_cluster_authorized_operations": True}
    assert call_handler(METADATA, version, name, wanted).cluster_authorized_operations == 8096
    assert call_handler(METADATA, version, name).cluster_authorized_operations == NOT_REQUESTED


def test_700_2_metadata_uses_the_authorizer_and_returns_0_without_describe() -> None:
    wanted = {"include_cluster_authorized_operations": True}
    describer = Authorizer(allow={"User:alice": frozenset({Operation.DESCRIBE})})
    nothing_allowed = Authorizer()
    assert (
        call_handler(
            METADATA, 8, RELEASED, wanted, authorizer=describer
        ).cluster_authorized_operations
        == 256
    )
    assert (
        call_handler(
            METADATA, 8, RELEASED, wanted, authorizer=nothing_allowed
        ).cluster_authorized_operations
        == 0
    )


@pytest.mark.parametrize("name", DIALECT_NAMES)
def test_700_4_metadata_11_has_no_cluster_operations(name: str) -> None:
    messages = dialect(name)
    for message in ("MetadataRequest", "MetadataResponse"):
        fields = {field.attribute: field for field in messages.spec(message).fields}
        operations = next(f for a, f in fields.items() if "cluster_authorized" in a)
        assert [v for v in range(14) if v in operations.versions] == [8, 9, 10]
    assert call_handler(METADATA, 11, name).cluster_authorized_operations == NOT_REQUESTED


def test_topic_operations_are_returned_when_requested() -> None:
    wanted = {"topics": named("orders"), "include_topic_authorized_operations": True}
    assert call_handler(METADATA, 9, RELEASED, wanted).topics[0].topic_authorized_operations == 3576
    plain = call_handler(METADATA, 9, RELEASED, {"topics": named("orders")})
    assert plain.topics[0].topic_authorized_operations == NOT_REQUESTED


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
def test_metadata_removes_duplicate_topics(name: str, version: int) -> None:
    response = call_handler(METADATA, version, name, {"topics": named("a", "b", "a")})
    assert [topic.name for topic in response.topics] == ["a", "b"]
