"""Metadata (3): the brokers of the cluster, and that there are no topics."""

import re
from uuid import UUID

from rollcall.broker.authorizer import NOT_ASKED
from rollcall.broker.handlers.question import HandlerRequest, NodeContext
from rollcall.protocol.dialects import RELEASED, dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.messages import Message

KEY = 3
FIRST_WITH_TOPIC_IDS = 12
"""The request has had the field from 10 on, but brokers understand it from here on (KIP-516)."""

_NO_ID = UUID(int=0)
_TOPIC_NAME = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}")

_Response = dialect(RELEASED).message_class("MetadataResponse")
_Broker: type[Message] = _Response.MetadataResponseBroker
_Topic: type[Message] = _Response.MetadataResponseTopic


def answer(asked: HandlerRequest, node: NodeContext) -> Message:
    view = node.cache.view
    brokers = [
        _Broker(
            node_id=broker.id,
            host=endpoint.host,
            port=endpoint.port,
            rack=broker.rack,
            start_time_ms=broker.start_time_ms,
        )
        for broker, endpoint in view.reachable_on(asked.listener)
    ]
    return _Response(
        brokers=brokers,
        cluster_id=node.cluster_id,
        controller_id=view.controller_id,
        topics=_topics(asked),
        cluster_authorized_operations=_cluster_operations(asked),
    )


def _cluster_operations(asked: HandlerRequest) -> int:
    """Versions 8 to 10 only: the codec leaves the question at False in all others (KIP-700)."""
    if not asked.body.include_cluster_authorized_operations:
        return NOT_ASKED
    return asked.authorizer.cluster_bits(asked.principal)


def _topics(asked: HandlerRequest) -> list[Message]:
    """All topics (null, or an empty list in version 0) are none: the cluster stores nothing. One
    that is named twice is told once, as in Kafka."""
    topics = {(topic.name, topic.topic_id): topic for topic in asked.body.topics or ()}.values()
    if asked.version < FIRST_WITH_TOPIC_IDS and any(map(_names_an_id, topics)):
        return [_refused(topic) for topic in topics]
    return [_unknown(topic, asked) for topic in topics]


def _names_an_id(topic: Message) -> bool:
    return bool(topic.topic_id != _NO_ID or topic.name is None)


def _refused(topic: Message) -> Message:
    """As Kafka has it, one such topic spoils all; a null name cannot be written before 12."""
    return _Topic(error_code=Errors.INVALID_REQUEST, name=topic.name or "", topic_id=topic.topic_id)


def _unknown(topic: Message, asked: HandlerRequest) -> Message:
    if topic.topic_id != _NO_ID:
        return _Topic(error_code=Errors.UNKNOWN_TOPIC_ID, name=None, topic_id=topic.topic_id)
    if topic.name is None:
        return _Topic(error_code=Errors.INVALID_REQUEST, name=None)
    valid = _TOPIC_NAME.fullmatch(topic.name)
    wanted = asked.body.include_topic_authorized_operations
    return _Topic(
        error_code=(Errors.UNKNOWN_TOPIC_OR_PARTITION if valid else Errors.INVALID_TOPIC_EXCEPTION),
        name=topic.name,
        topic_authorized_operations=(
            asked.authorizer.topic_bits(asked.principal) if wanted else NOT_ASKED
        ),
    )
