from uuid import UUID

import pytest

from rollcall.broker.handlers import CLIENT_HANDLERS, HandlerRequest
from rollcall.protocol import DIALECT_NAMES, RELEASED, Errors, dialect
from tests.broker.handlers.calling import call_handler, node

PRODUCE = 0
Request = dialect(RELEASED).message_class("ProduceRequest")
Topic, Partition = Request.TopicProduceData, Request.PartitionProduceData


@pytest.mark.parametrize("name", DIALECT_NAMES)
@pytest.mark.parametrize("version", dialect(RELEASED).apis[PRODUCE].versions)
def test_produce_returns_unknown_topic_for_every_partition(name: str, version: int) -> None:
    partitions = [Partition(index=0, records=b"x"), Partition(index=7, records=None)]
    topic = Topic(name="orders", topic_id=UUID(int=5), partition_data=partitions)
    response = call_handler(PRODUCE, version, name, {"acks": -1, "topic_data": [topic]})
    (topic_response,) = response.responses
    unknown = Errors.UNKNOWN_TOPIC_ID if version >= 13 else Errors.UNKNOWN_TOPIC_OR_PARTITION
    assert [(p.index, p.error_code, p.base_offset) for p in topic_response.partition_responses] == [
        (0, unknown, -1),
        (7, unknown, -1),
    ]
    assert (
        (topic_response.topic_id == UUID(int=5))
        if version >= 13
        else (topic_response.name == "orders")
    )


def test_produce_with_acks_0_has_no_response() -> None:
    request = HandlerRequest(Request(acks=0), 9, "PLAINTEXT")
    assert CLIENT_HANDLERS[PRODUCE](request, node()) is None
