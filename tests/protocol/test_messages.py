"""Message classes: defaults, immutability, equality, repr, annotations."""

import copy
from uuid import UUID

import pytest

from rollcall.protocol.dialects import dialect
from rollcall.protocol.messages import annotation
from tests.protocol.strategies import Case, case_id, every_case, full_message

RELEASED = dialect("released")
KIP = dialect("kip")
METADATA = RELEASED.message_class("MetadataResponse")


def test_a_message_has_default_values() -> None:
    message = METADATA()
    assert message.throttle_time_ms == 0
    assert message.controller_id == -1
    assert message.cluster_id is None
    assert message.brokers == ()
    assert message.unknown_tags == ()


def test_lists_become_tuples() -> None:
    partition = METADATA.MetadataResponsePartition(replica_nodes=[1, 2])
    assert partition.replica_nodes == (1, 2)
    assert METADATA(brokers=[METADATA.MetadataResponseBroker()]).brokers == (
        METADATA.MetadataResponseBroker(),
    )


def test_an_unknown_field_is_rejected() -> None:
    with pytest.raises(TypeError, match="colour"):
        METADATA(colour="red")
    with pytest.raises(TypeError, match="colour"):
        METADATA().replace(colour="red")
    with pytest.raises(AttributeError):
        METADATA().colour  # noqa: B018


def test_a_message_accepts_only_keywords() -> None:
    with pytest.raises(TypeError):
        METADATA(7)


@pytest.mark.parametrize("case", list(every_case(["released"])), ids=case_id)
def test_a_decoded_message_is_frozen_at_every_level(case: Case) -> None:
    dialect_name, name, version = case
    codec = dialect(dialect_name).codec(name, version)
    message = codec.decode(codec.encode(full_message(RELEASED, name, version)))
    queue = [message]
    while queue:
        struct = queue.pop()
        for attribute in struct.defaults:
            with pytest.raises(AttributeError, match=f"{type(struct).__name__} is frozen"):
                setattr(struct, attribute, 7)
            with pytest.raises(AttributeError, match="frozen"):
                delattr(struct, attribute)
            value = getattr(struct, attribute)
            items = value if isinstance(value, tuple) else (value,)
            queue += [item for item in items if hasattr(item, "defaults")]


def test_a_message_has_no_dict() -> None:
    with pytest.raises(AttributeError):
        METADATA().other = 1
    assert not hasattr(METADATA(), "__dict__")


def test_replace_returns_a_changed_copy() -> None:
    before = METADATA(controller_id=1, cluster_id="c")
    after = before.replace(controller_id=2)
    assert (before.controller_id, after.controller_id, after.cluster_id) == (1, 2, "c")


def test_copies_of_a_message_are_the_same_object() -> None:
    message = METADATA(brokers=[METADATA.MetadataResponseBroker()])
    assert copy.copy(message) is message
    assert copy.deepcopy([message])[0] is message


def test_messages_are_compared_by_their_fields() -> None:
    broker = METADATA.MetadataResponseBroker
    assert METADATA(brokers=[broker(node_id=1)]) == METADATA(brokers=(broker(node_id=1),))
    assert METADATA(brokers=[broker(node_id=1)]) != METADATA(brokers=[broker(node_id=2)])
    assert METADATA() != METADATA(unknown_tags=((5, b""),))
    assert METADATA() != RELEASED.message_class("MetadataRequest")()
    assert METADATA() != ()


def test_equal_messages_have_the_same_hash() -> None:
    codec = RELEASED.codec("MetadataResponse", 12)
    message = full_message(RELEASED, "MetadataResponse", 12)
    assert len({message, codec.decode(codec.encode(message))}) == 1


def test_a_message_with_a_view_of_records_is_hashable() -> None:
    codec = RELEASED.codec("FetchResponse", 12)
    message = full_message(RELEASED, "FetchResponse", 12)
    assert hash(codec.decode(codec.encode(message))) == hash(message)


def test_the_repr_omits_default_values() -> None:
    broker = METADATA.MetadataResponseBroker(node_id=1, host="a", rack=None)
    assert repr(METADATA(brokers=[broker])) == (
        "MetadataResponse(brokers=(MetadataResponseBroker(node_id=1, host='a'),))"
    )
    assert repr(METADATA()) == "MetadataResponse()"


def test_the_repr_shortens_long_bytes() -> None:
    partition = RELEASED.message_class("FetchResponse").PartitionData
    assert repr(partition(records=memoryview(b"ab"))) == "PartitionData(records=b'ab')"
    assert repr(partition(records=bytes(10**6))) == "PartitionData(records=<1000000 bytes>)"


def test_both_dialects_share_message_classes() -> None:
    for name in RELEASED.messages:
        assert RELEASED.message_class(name) is KIP.message_class(name)


def test_annotations_are_python_types() -> None:
    topic = METADATA.MetadataResponseTopic.__annotations__
    assert topic["name"] == "str | None"
    assert topic["topic_id"] == "UUID"
    assert topic["is_internal"] == "bool"
    assert topic["partitions"] == "tuple[MetadataResponsePartition, ...]"
    assert METADATA.MetadataResponsePartition.__annotations__["isr_nodes"] == "tuple[int, ...]"
    fetched = RELEASED.spec("FetchResponse")
    assert fetched.fields[0].attribute == "throttle_time_ms"
    assert annotation(fetched.fields[0]) == "int"


def test_the_default_of_a_uuid_is_zero() -> None:
    topic = METADATA.MetadataResponseTopic()
    assert topic.topic_id == UUID(int=0)
