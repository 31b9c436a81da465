from uuid import UUID

import pytest

from rollcall.broker.handlers import FOR_CLIENTS, HandlerRequest
from rollcall.protocol.dialects import DIALECT_NAMES, RELEASED, dialect
from rollcall.protocol.error_codes import Errors
from tests.broker.handlers.asking import ask, node

PRODUCE = 0
Request = dialect(RELEASED).message_class("ProduceRequest")
Topic, Partition = Request.TopicProduceData, Request.PartitionProduceData


@pytest.mark.parametrize("name", DIALECT_NAMES)
@pytest.mark.parametrize("version", dialect(RELEASED).apis[PRODUCE].versions)
def test_every_partition_is_unknown(name: str, version: int) -> None:
    partitions = [Partition(index=0, records=b"x"), Partition(index=7, records=None)]
    topic = Topic(name="orders", topic_id=UUID(int=5), partition_data=partitions)
    answer = ask(PRODUCE, version, name, {"acks": -1, "topic_data": [topic]})
    (told,) = answer.responses
    unknown = Errors.UNKNOWN_TOPIC_ID if version >= 13 else Errors.UNKNOWN_TOPIC_OR_PARTITION
    assert [(p.index, p.error_code, p.base_offset) for p in told.partition_responses] == [
        (0, unknown, -1),
        (7, unknown, -1),
    ]
    assert (told.topic_id == UUID(int=5)) if version >= 13 else (told.name == "orders")


def test_without_acks_there_is_no_answer() -> None:
    question = HandlerRequest(Request(acks=0), 9, "PLAINTEXT")
    assert FOR_CLIENTS[PRODUCE](question, node()) is None
