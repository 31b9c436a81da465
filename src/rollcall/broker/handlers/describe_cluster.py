"""DescribeCluster (60): cluster, controller and brokers (KIP-700), broker software (KIP-885)."""

from rollcall.broker.authorizer import NOT_REQUESTED
from rollcall.broker.handlers.request import HandlerRequest, NodeContext
from rollcall.protocol import RELEASED, Errors, Message, dialect

KEY = 60
BROKERS = 1
CONTROLLERS = 2
"""Endpoint types of KIP-919."""

_Response = dialect(RELEASED).message_class("DescribeClusterResponse")
_Broker = _Response.DescribeClusterBroker


def handle(request: HandlerRequest, node: NodeContext) -> Message:
    return _refusal(request) or _description(request, node)


def _refusal(request: HandlerRequest) -> Message | None:
    endpoint_type = request.body.endpoint_type
    if request.require_describe and not request.authorizer.may_describe(request.principal):
        return _error(
            Errors.CLUSTER_AUTHORIZATION_FAILED,
            f"the listener {request.listener} requires DESCRIBE on the cluster, "
            "which this principal does not have",
        )
    if endpoint_type == CONTROLLERS:
        return _error(
            Errors.MISMATCHED_ENDPOINT_TYPE,
            "the request is for a controller, but this is a broker endpoint",
        )
    if endpoint_type != BROKERS:
        return _error(
            Errors.UNSUPPORTED_ENDPOINT_TYPE,
            f"endpoint type {endpoint_type} is unknown: use 1 for brokers",
        )
    return None


def _error(code: Errors, message: str) -> Message:
    return _Response(error_code=code, error_message=message)


def _description(request: HandlerRequest, node: NodeContext) -> Message:
    view = node.cache.view
    brokers = [
        _Broker(broker_id=broker.id, host=endpoint.host, port=endpoint.port, rack=broker.rack)
        for broker, endpoint in view.reachable_on(request.listener)
    ]
    wanted = request.body.include_cluster_authorized_operations
    return _Response(
        cluster_id=node.cluster_id,
        controller_id=view.controller_id,
        brokers=brokers,
        broker_software_name=node.software_name,
        broker_software_version=node.software_version,
        cluster_authorized_operations=(
            request.authorizer.cluster_bits(request.principal) if wanted else NOT_REQUESTED
        ),
    )
