"""DescribeCluster (60): cluster, controller and brokers (KIP-700), and who answers (KIP-885)."""

from rollcall.broker.authorizer import NOT_ASKED
from rollcall.broker.handlers.question import HandlerRequest, NodeContext
from rollcall.protocol.dialects import RELEASED, dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.messages import Message

KEY = 60
BROKERS = 1
CONTROLLERS = 2
"""The endpoint types of KIP-919."""

_Response = dialect(RELEASED).message_class("DescribeClusterResponse")
_Broker = _Response.DescribeClusterBroker


def answer(asked: HandlerRequest, node: NodeContext) -> Message:
    return _refusal(asked) or _description(asked, node)


def _refusal(asked: HandlerRequest) -> Message | None:
    endpoint_type = asked.body.endpoint_type
    if asked.require_describe and not asked.authorizer.may_describe(asked.principal):
        return _error(
            Errors.CLUSTER_AUTHORIZATION_FAILED,
            f"the listener {asked.listener} asks for DESCRIBE on the cluster, "
            "and this principal does not have it",
        )
    if endpoint_type == CONTROLLERS:
        return _error(
            Errors.MISMATCHED_ENDPOINT_TYPE,
            "this endpoint is a broker's, and the request is for a controller's",
        )
    if endpoint_type != BROKERS:
        return _error(
            Errors.UNSUPPORTED_ENDPOINT_TYPE,
            f"the endpoint type {endpoint_type} is unknown: use 1 for brokers",
        )
    return None


def _error(code: Errors, message: str) -> Message:
    return _Response(error_code=code, error_message=message)


def _description(asked: HandlerRequest, node: NodeContext) -> Message:
    view = node.cache.view
    brokers = [
        _Broker(broker_id=broker.id, host=endpoint.host, port=endpoint.port, rack=broker.rack)
        for broker, endpoint in view.reachable_on(asked.listener)
    ]
    wanted = asked.body.include_cluster_authorized_operations
    return _Response(
        cluster_id=node.cluster_id,
        controller_id=view.controller_id,
        brokers=brokers,
        broker_software_name=node.software_name,
        broker_software_version=node.software_version,
        cluster_authorized_operations=(
            asked.authorizer.cluster_bits(asked.principal) if wanted else NOT_ASKED
        ),
    )
