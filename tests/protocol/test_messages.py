import copy
from uuid import UUID

import pytest

from rollcall.protocol.dialects import dialect
from rollcall.protocol.messages import annotation
from tests.protocol.strategies import Case, case_id, every_case, full_message

RELEASED = dialect("released")
KIP = dialect("kip")
METADATA = RELEASED.message_class("MetadataResponse")


def test_every_field_has_its_default() -> None:
    message = METADATA()
    assert message.throttle_time_ms == 0
    assert message.controller_id == -1
    assert message.cluster_id is None
    assert message.brokers == ()
    assert message.unknown_tags == ()


def test_arrays_are_tuples_whatever_they_were_given_as() -> None:
    partition = METADATA.MetadataResponsePartition(replica_nodes=[1, 2])
    assert partition.replica_nodes == (1, 2)
    assert METADATA(brokers=[METADATA.MetadataResponseBroker()]).brokers == (
        METADATA.MetadataResponseBroker(),
    )


def test_a_field_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match="colour"):
        METADATA(colour="red")
    with pytest.raises(TypeError, match="colour"):
        METADATA().replace(colour="red")
    with pytest.raises(AttributeError):
        METADATA().colour  # noqa: B018


def test_a_message_takes_keywords_only() -> None:
    with pytest.raises(TypeError):
        METADATA(7)


@pytest.mark.parametrize("case", list(every_case(["released"])), ids=case_id)
def test_a_message_that_was_read_is_frozen_at_every_level(case: Case) -> None:
    speech, name, version = case
    codec = dialect(speech).codec(name, version)
    message = codec.decode(codec.encode(full_message(RELEASED, name, version)))
    queue = [message]
    while queue:
        one = queue.pop()
        for attribute in one.defaults:
            with pytest.raises(AttributeError, match=f"{type(one).__name__} is frozen"):
                setattr(one, attribute, 7)
            with pytest.raises(AttributeError, match="frozen"):
                delattr(one, attribute)
            value = getattr(one, attribute)
            items = value if isinstance(value, tuple) else (value,)
            queue += [item for item in items if hasattr(item, "defaults")]


def test_a_message_has_no_room_for_other_attributes() -> None:
    with pytest.raises(AttributeError):
        METADATA().other = 1
    assert not hasattr(METADATA(), "__dict__")


def test_replace_changes_a_copy() -> None:
    before = METADATA(controller_id=1, cluster_id="c")
    after = before.replace(controller_id=2)
    assert (before.controller_id, after.controller_id, after.cluster_id) == (1, 2, "c")


def test_a_copy_of_a_frozen_message_is_the_message() -> None:
    message = METADATA(brokers=[METADATA.MetadataResponseBroker()])
    assert copy.copy(message) is message
    assert copy.deepcopy([message])[0] is message


def test_messages_are_equal_by_their_fields() -> None:
    broker = METADATA.MetadataResponseBroker
    assert METADATA(brokers=[broker(node_id=1)]) == METADATA(brokers=(broker(node_id=1),))
    assert METADATA(brokers=[broker(node_id=1)]) != METADATA(brokers=[broker(node_id=2)])
    assert METADATA() != METADATA(unknown_tags=((5, b""),))
    assert METADATA() != RELEASED.message_class("MetadataRequest")()
    assert METADATA() != ()


def test_equal_messages_have_one_hash() -> None:
    codec = RELEASED.codec("MetadataResponse", 12)
    message = full_message(RELEASED, "MetadataResponse", 12)
    assert len({message, codec.decode(codec.encode(message))}) == 1


def test_a_fetched_message_can_be_hashed_though_its_records_are_a_view() -> None:
    codec = RELEASED.codec("FetchResponse", 12)
    message = full_message(RELEASED, "FetchResponse", 12)
    assert hash(codec.decode(codec.encode(message))) == hash(message)


def test_the_repr_shows_what_is_not_at_its_default() -> None:
    broker = METADATA.MetadataResponseBroker(node_id=1, host="a", rack=None)
    assert repr(METADATA(brokers=[broker])) == (
        "MetadataResponse(brokers=(MetadataResponseBroker(node_id=1, host='a'),))"
    )
    assert repr(METADATA()) == "MetadataResponse()"


def test_the_repr_of_long_bytes_is_short() -> None:
    partition = RELEASED.message_class("FetchResponse").PartitionData
    assert repr(partition(records=memoryview(b"ab"))) == "PartitionData(records=b'ab')"
    assert repr(partition(records=bytes(10**6))) == "PartitionData(records=<1000000 bytes>)"


def test_both_dialects_share_one_class() -> None:
    for name in RELEASED.messages:
        assert RELEASED.message_class(name) is KIP.message_class(name)


def test_the_annotations_tell_the_python_types() -> None:
    topic = METADATA.MetadataResponseTopic.__annotations__
    assert topic["name"] == "str | None"
    assert topic["topic_id"] == "UUID"
    assert topic["is_internal"] == "bool"
    assert topic["partitions"] == "tuple[MetadataResponsePartition, ...]"
    assert METADATA.MetadataResponsePartition.__annotations__["isr_nodes"] == "tuple[int, ...]"
    fetched = RELEASED.spec("FetchResponse")
    assert fetched.fields[0].attribute == "throttle_time_ms"
    assert annotation(fetched.fields[0]) == "int"


def test_a_uuid_is_a_uuid() -> None:
    topic = METADATA.MetadataResponseTopic()
    assert topic.topic_id == UUID(int=0)
