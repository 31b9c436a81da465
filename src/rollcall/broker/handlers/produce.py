"""Produce (0): always an unknown topic, as the cluster has none.

Clients do not get this far, as Metadata reports no topics. Java clients before 2.8 do not work with
a broker that does not list this API.
"""

from rollcall.broker.handlers.request import HandlerRequest, NodeContext
from rollcall.protocol import RELEASED, Errors, Message, dialect

KEY = 0
FIRST_WITH_TOPIC_IDS = 13

_Response = dialect(RELEASED).message_class("ProduceResponse")
_Topic: type[Message] = _Response.TopicProduceResponse
_Partition: type[Message] = _Response.PartitionProduceResponse


def handle(request: HandlerRequest, _: NodeContext) -> Message | None:
    if request.body.acks == 0:
        return None  # acks=0 has no response
    by_id = request.version >= FIRST_WITH_TOPIC_IDS
    error = Errors.UNKNOWN_TOPIC_ID if by_id else Errors.UNKNOWN_TOPIC_OR_PARTITION
    return _Response(responses=[_refused(topic, error) for topic in request.body.topic_data])


def _refused(topic: Message, error: Errors) -> Message:
    partitions = [
        _Partition(index=partition.index, error_code=error, base_offset=-1)
        for partition in topic.partition_data
    ]
    return _Topic(name=topic.name, topic_id=topic.topic_id, partition_responses=partitions)
