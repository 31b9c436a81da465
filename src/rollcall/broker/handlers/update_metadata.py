"""UpdateMetadata (6): the controller sends its view of the cluster to a node (KIP-536).

Both directions are here, so that encoding and decoding of a view can be compared.
"""

from rollcall.broker.handlers.request import HandlerRequest, NodeContext
from rollcall.broker.metadata_cache import (
    NO_EPOCH,
    UNKNOWN_START_TIME,
    ClusterView,
    Endpoint,
    LiveBroker,
    security_protocol_name,
)
from rollcall.protocol import KIP, Errors, Message, dialect

KEY = 6
FIRST_WITH_RACKS = 2
FIRST_WITH_LISTENERS = 3

_Request = dialect(KIP).message_class("UpdateMetadataRequest")
_Broker: type[Message] = _Request.UpdateMetadataBroker
_Response = dialect(KIP).message_class("UpdateMetadataResponse")


def build_request(view: ClusterView, broker_epoch: int) -> Message:
    """The view for the node whose registration has this epoch."""
    return _Request(
        controller_id=view.controller_id,
        controller_epoch=view.controller_epoch,
        broker_epoch=broker_epoch,
        live_brokers=[_encode_broker(broker) for broker in view.brokers],
    )


def _encode_broker(broker: LiveBroker) -> Message:
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


def handle(request: HandlerRequest, node: NodeContext) -> Message:
    """Replace the cached view, unless it is from an old controller or for an old process."""
    view = read_view(request.body, request.version)
    if view.controller_epoch < node.cache.view.controller_epoch:
        return _Response(error_code=Errors.STALE_CONTROLLER_EPOCH)
    if NO_EPOCH < request.body.broker_epoch < node.broker_epoch or not _is_for_this_process(
        view, node
    ):
        return _Response(error_code=Errors.STALE_BROKER_EPOCH)
    node.cache.replace(view)
    return _Response()


def _is_for_this_process(view: ClusterView, node: NodeContext) -> bool:
    """Whether the view does not have the start time of a previous process of this node."""
    start_times = {broker.start_time_ms for broker in view.brokers if broker.id == node.node_id}
    return start_times <= {node.start_time_ms, UNKNOWN_START_TIME}


def read_view(body: Message, version: int) -> ClusterView:
    brokers = tuple(_read_broker(entry, version) for entry in body.live_brokers)
    return ClusterView(body.controller_id, body.controller_epoch, brokers)


def _read_broker(entry: Message, version: int) -> LiveBroker:
    if version == 0:
        endpoints = [Endpoint(security_protocol_name(0), entry.v0_host, entry.v0_port, 0)]
    else:
        endpoints = [_read_endpoint(endpoint, version) for endpoint in entry.endpoints]
    rack = entry.rack if version >= FIRST_WITH_RACKS else None
    return LiveBroker(entry.id, tuple(endpoints), rack, entry.start_time_ms)


def _read_endpoint(entry: Message, version: int) -> Endpoint:
    """Before version 3 a listener is named after its security protocol (KIP-103)."""
    number = entry.security_protocol
    name = entry.listener if version >= FIRST_WITH_LISTENERS else security_protocol_name(number)
    return Endpoint(name, entry.host, entry.port, number)
