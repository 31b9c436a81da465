from uuid import UUID

import pytest

from rollcall.broker.authorizer import NOT_ASKED, Authorizer, Operation
from rollcall.protocol.dialects import DIALECT_NAMES, KIP, RELEASED, dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.messages import Message
from tests.broker.handlers.asking import START_TIMES, ask

METADATA = 3
EVERY_VERSION = [
    (name, version) for name in DIALECT_NAMES for version in dialect(name).apis[METADATA].versions
]
SOME_ID = UUID(int=7)
Topic = dialect(RELEASED).message_class("MetadataRequest").MetadataRequestTopic


def named(*names: str) -> list[Message]:
    return [Topic(name=name) for name in names]


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
def test_every_version_tells_the_brokers(name: str, version: int) -> None:
    answer = ask(METADATA, version, name)
    assert [(b.node_id, b.host, b.port) for b in answer.brokers] == [
        (broker_id, f"host{broker_id}", 19092) for broker_id in (1, 2, 3)
    ]
    assert answer.controller_id == (1 if version >= 1 else -1)
    assert answer.cluster_id == ("a-cluster" if version >= 2 else None)
    assert answer.brokers[0].rack == ("r1" if version >= 1 else None)


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
def test_536_3_the_start_time_is_a_field_of_kip_10_and_a_tag_of_the_released_flexible_ones(
    name: str, version: int
) -> None:
    answer = ask(METADATA, version, name)
    told = {b.node_id: b.start_time_ms for b in answer.brokers}
    first = 10 if name == KIP else 9
    assert told == (START_TIMES if version >= first else dict.fromkeys(START_TIMES, 0))


def test_700_1_addresses_are_those_of_the_listener_that_was_asked() -> None:
    answer = ask(METADATA, 10, KIP, listener="KIP")
    assert {b.port for b in answer.brokers} == {19192}


def test_a_broker_without_the_listener_that_was_asked_is_left_out() -> None:
    assert ask(METADATA, 9, RELEASED, listener="SASL").brokers == ()


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
@pytest.mark.parametrize("topics", [None, []])
def test_all_topics_and_no_topics_are_an_empty_list(
    name: str, version: int, topics: list[Message] | None
) -> None:
    if version == 0:
        topics = []  # its way to ask for all
    assert ask(METADATA, version, name, {"topics": topics}).topics == ()


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
def test_a_named_topic_is_unknown(name: str, version: int) -> None:
    answer = ask(METADATA, version, name, {"topics": named("orders", "bills")})
    assert [(t.name, t.error_code) for t in answer.topics] == [
        ("orders", Errors.UNKNOWN_TOPIC_OR_PARTITION),
        ("bills", Errors.UNKNOWN_TOPIC_OR_PARTITION),
    ]


@pytest.mark.parametrize("bad", ["", ".", "..", "a/b", "x" * 250, "é"])
def test_a_name_that_no_topic_can_have_is_told_so(bad: str) -> None:
    answer = ask(METADATA, 9, RELEASED, {"topics": named(bad, "...")})
    assert [t.error_code for t in answer.topics] == [
        Errors.INVALID_TOPIC_EXCEPTION,
        Errors.UNKNOWN_TOPIC_OR_PARTITION,
    ]


@pytest.mark.parametrize("version", [12, 13])
def test_a_topic_id_is_unknown_from_12_on(version: int) -> None:
    topics = [Topic(name=None, topic_id=SOME_ID), Topic(name="orders")]
    answer = ask(METADATA, version, RELEASED, {"topics": topics})
    assert [(t.name, t.topic_id, t.error_code) for t in answer.topics] == [
        (None, SOME_ID, Errors.UNKNOWN_TOPIC_ID),
        ("orders", UUID(int=0), Errors.UNKNOWN_TOPIC_OR_PARTITION),
    ]


@pytest.mark.parametrize("version", [12, 13])
def test_neither_name_nor_id_is_an_invalid_request(version: int) -> None:
    answer = ask(METADATA, version, RELEASED, {"topics": [Topic(name=None)]})
    assert [t.error_code for t in answer.topics] == [Errors.INVALID_REQUEST]


@pytest.mark.parametrize("version", [10, 11])
@pytest.mark.parametrize("odd", [Topic(name=None, topic_id=SOME_ID), Topic(name=None)])
def test_a_topic_id_in_10_and_11_spoils_the_request(version: int, odd: Message) -> None:
    answer = ask(METADATA, version, RELEASED, {"topics": [odd, Topic(name="orders")]})
    assert [(t.name, t.error_code) for t in answer.topics] == [
        ("", Errors.INVALID_REQUEST),
        ("orders", Errors.INVALID_REQUEST),
    ]
    assert len(answer.brokers) == 3


@pytest.mark.parametrize(("name", "version"), [nv for nv in EVERY_VERSION if 8 <= nv[1] <= 10])
def test_700_2_metadata_8_to_10_tells_all_operations_of_a_cluster(name: str, version: int) -> None:
    wanted = {"include_cluster_authorized_operations": True}
    assert ask(METADATA, version, name, wanted).cluster_authorized_operations == 8096
    assert ask(METADATA, version, name).cluster_authorized_operations == NOT_ASKED


def test_700_2_metadata_asks_the_authorizer_and_tells_0_without_describe() -> None:
    wanted = {"include_cluster_authorized_operations": True}
    describer = Authorizer(allow={"User:alice": frozenset({Operation.DESCRIBE})})
    nobody = Authorizer()
    assert (
        ask(METADATA, 8, RELEASED, wanted, authorizer=describer).cluster_authorized_operations
        == 256
    )
    assert ask(METADATA, 8, RELEASED, wanted, authorizer=nobody).cluster_authorized_operations == 0


@pytest.mark.parametrize("name", DIALECT_NAMES)
def test_700_4_metadata_11_has_no_cluster_operations_to_ask_for(name: str) -> None:
    spoken = dialect(name)
    for message in ("MetadataRequest", "MetadataResponse"):
        fields = {field.attribute: field for field in spoken.spec(message).fields}
        operations = next(f for a, f in fields.items() if "cluster_authorized" in a)
        assert [v for v in range(14) if v in operations.versions] == [8, 9, 10]
    assert ask(METADATA, 11, name).cluster_authorized_operations == NOT_ASKED


def test_operations_on_a_topic_are_told_when_asked_for() -> None:
    wanted = {"topics": named("orders"), "include_topic_authorized_operations": True}
    assert ask(METADATA, 9, RELEASED, wanted).topics[0].topic_authorized_operations == 3576
    plain = ask(METADATA, 9, RELEASED, {"topics": named("orders")})
    assert plain.topics[0].topic_authorized_operations == NOT_ASKED


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
def test_a_topic_that_is_named_twice_is_told_once(name: str, version: int) -> None:
    answer = ask(METADATA, version, name, {"topics": named("a", "b", "a")})
    assert [topic.name for topic in answer.topics] == ["a", "b"]
