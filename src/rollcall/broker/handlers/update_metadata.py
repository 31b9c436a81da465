"""UpdateMetadata (6): the controller tells a node who is there (KIP-536).

Both ends are here, so that what is written can be seen beside what is read.
"""

from rollcall.broker.handlers.question import HandlerRequest, NodeContext
from rollcall.broker.metadata_cache import (
    NO_EPOCH,
    UNKNOWN_START_TIME,
    ClusterView,
    Endpoint,
    LiveBroker,
)
from rollcall.broker.security import name_of
from rollcall.protocol.dialects import KIP, dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.messages import Message

KEY = 6
FIRST_WITH_RACKS = 2
FIRST_WITH_LISTENERS = 3

_Request = dialect(KIP).message_class("UpdateMetadataRequest")
_Broker: type[Message] = _Request.UpdateMetadataBroker
_Response = dialect(KIP).message_class("UpdateMetadataResponse")


def write(view: ClusterView, broker_epoch: int) -> Message:
    """The view for one node, whose registration has this epoch."""
    return _Request(
        controller_id=view.controller_id,
        controller_epoch=view.controller_epoch,
        broker_epoch=broker_epoch,
        live_brokers=[_write_broker(broker) for broker in view.brokers],
    )


def _write_broker(broker: LiveBroker) -> Message:
    first = broker.endpoints[0] if broker.endpoints else Endpoint("", "", 0, 0)
    return _Broker(
        id=broker.id,
        v0_host=first.host,
        v0_port=first.port,
        endpoints=[
            _Request.UpdateMetadataEndpoint(
                listener=endpoint.listener,
                host=endpoint.host,
                port=endpoint.port,
                security_protocol=endpoint.security_protocol,
            )
            for endpoint in broker.endpoints
        ],
        rack=broker.rack,
        start_time_ms=broker.start_time_ms,
    )


def answer(asked: HandlerRequest, node: NodeContext) -> Message:
    """Take the view over, unless it is older than what this node has, or meant for another life."""
    view = read(asked.body, asked.version)
    if view.controller_epoch < node.cache.view.controller_epoch:
        return _Response(error_code=Errors.STALE_CONTROLLER_EPOCH)
    if NO_EPOCH < asked.body.broker_epoch < node.broker_epoch or not _means(view, node):
        return _Response(error_code=Errors.STALE_BROKER_EPOCH)
    node.cache.replace(view)
    return _Response()


def _means(view: ClusterView, node: NodeContext) -> bool:
    """Whether what is said of this very node fits: it may be said of the process before it."""
    told = {broker.start_time_ms for broker in view.brokers if broker.id == node.node_id}
    return told <= {node.start_time_ms, UNKNOWN_START_TIME}


def read(body: Message, version: int) -> ClusterView:
    brokers = tuple(_read_broker(entry, version) for entry in body.live_brokers)
    return ClusterView(body.controller_id, body.controller_epoch, brokers)


def _read_broker(entry: Message, version: int) -> LiveBroker:
    if version == 0:
        endpoints = [Endpoint(name_of(0), entry.v0_host, entry.v0_port, 0)]
    else:
        endpoints = [_read_endpoint(endpoint, version) for endpoint in entry.endpoints]
    rack = entry.rack if version >= FIRST_WITH_RACKS else None
    return LiveBroker(entry.id, tuple(endpoints), rack, entry.start_time_ms)


def _read_endpoint(entry: Message, version: int) -> Endpoint:
    """Before version 3 a listener had no name but that of its security protocol (KIP-103)."""
    number = entry.security_protocol
    name = entry.listener if version >= FIRST_WITH_LISTENERS else name_of(number)
    return Endpoint(name, entry.host, entry.port, number)
