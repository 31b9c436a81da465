"""Produce (0): there is no topic to write to.

No client gets as far as that, as Metadata has told it so. It is answered because Java clients
before 2.8 give up on a broker that does not list it, whatever they want from it.
"""

from rollcall.broker.handlers.question import HandlerRequest, NodeContext
from rollcall.protocol.dialects import RELEASED, dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.messages import Message

KEY = 0
FIRST_WITH_TOPIC_IDS = 13

_Response = dialect(RELEASED).message_class("ProduceResponse")
_Topic: type[Message] = _Response.TopicProduceResponse
_Partition: type[Message] = _Response.PartitionProduceResponse


def answer(asked: HandlerRequest, _: NodeContext) -> Message | None:
    if asked.body.acks == 0:
        return None  # nobody waits for this answer
    by_id = asked.version >= FIRST_WITH_TOPIC_IDS
    error = Errors.UNKNOWN_TOPIC_ID if by_id else Errors.UNKNOWN_TOPIC_OR_PARTITION
    return _Response(responses=[_refused(topic, error) for topic in asked.body.topic_data])


def _refused(topic: Message, error: Errors) -> Message:
    partitions = [
        _Partition(index=partition.index, error_code=error, base_offset=-1)
        for partition in topic.partition_data
    ]
    return _Topic(name=topic.name, topic_id=topic.topic_id, partition_responses=partitions)
