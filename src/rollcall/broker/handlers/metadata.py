"""Metadata (3): the brokers of the cluster with start times (KIP-536). There are no topics."""

import re
from uuid import UUID

from rollcall.broker.authorizer import NOT_REQUESTED
from rollcall.broker.handlers.request import HandlerRequest, NodeContext
from rollcall.protocol import RELEASED, Errors, Message, dialect

KEY = 3
FIRST_WITH_TOPIC_IDS = 12
"""The request has the field from 10 on, but brokers accept it from 12 on (KIP-516)."""

_NO_ID = UUID(int=0)
_TOPIC_NAME = re.compile(r"(?!\.{1,2}$)[a-zA-Z0-9._-]{1,249}")

_Response = dialect(RELEASED).message_class("MetadataResponse")
_Broker: type[Message] = _Response.MetadataResponseBroker
_Topic: type[Message] = _Response.MetadataResponseTopic


def handle(request: HandlerRequest, node: NodeContext) -> Message:
    view = node.cache.view
    brokers = [
        _Broker(
            node_id=broker.id,
            host=endpoint.host,
            port=endpoint.port,
            rack=broker.rack,
            start_time_ms=broker.start_time_ms,
        )
        for broker, endpoint in view.reachable_on(request.listener)
    ]
    return _Response(
        brokers=brokers,
        cluster_id=node.cluster_id,
        controller_id=view.controller_id,
        topics=_topics(request),
        cluster_authorized_operations=_cluster_operations(request),
    )


def _cluster_operations(request: HandlerRequest) -> int:
    """Versions 8 to 10 only: the codec decodes the flag as False in all others (KIP-700)."""
    if not request.body.include_cluster_authorized_operations:
        return NOT_REQUESTED
    return request.authorizer.cluster_bits(request.principal)


def _topics(request: HandlerRequest) -> list[Message]:
    """Errors for the requested topics, without duplicates, as in Kafka.

    A request for all topics (null, or an empty list in version 0) gets an empty list.
    """
    topics = {(topic.name, topic.topic_id): topic for topic in request.body.topics or ()}.values()
    if request.version < FIRST_WITH_TOPIC_IDS and any(map(_has_topic_id, topics)):
        return [_refused(topic) for topic in topics]
    return [_unknown(topic, request) for topic in topics]


def _has_topic_id(topic: Message) -> bool:
    return bool(topic.topic_id != _NO_ID or topic.name is None)


def _refused(topic: Message) -> Message:
    """As in Kafka, one topic id makes all topics invalid. Null names are valid from 12 on."""
    return _Topic(error_code=Errors.INVALID_REQUEST, name=topic.name or "", topic_id=topic.topic_id)


def _unknown(topic: Message, request: HandlerRequest) -> Message:
    if topic.topic_id != _NO_ID:
        return _Topic(error_code=Errors.UNKNOWN_TOPIC_ID, name=None, topic_id=topic.topic_id)
    if topic.name is None:
        return _Topic(error_code=Errors.INVALID_REQUEST, name=None)
    valid = _TOPIC_NAME.fullmatch(topic.name)
    wanted = request.body.include_topic_authorized_operations
    return _Topic(
        error_code=(Errors.UNKNOWN_TOPIC_OR_PARTITION if valid else Errors.INVALID_TOPIC_EXCEPTION),
        name=topic.name,
        topic_authorized_operations=(
            request.authorizer.topic_bits(request.principal) if wanted else NOT_REQUESTED
        ),
    )
