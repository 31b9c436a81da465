"""Calls handlers of a node in a cluster of three, with requests and responses encoded."""

from collections.abc import Mapping

from rollcall.broker.authorizer import ALLOW_ALL, Authorizer
from rollcall.broker.handlers import CLIENT_HANDLERS, HandlerRequest, NodeContext
from rollcall.broker.metadata_cache import ClusterView, Endpoint, LiveBroker, MetadataCache
from rollcall.protocol import Message, dialect

START_TIMES = {1: 1_700_000_000_001, 2: 1_700_000_000_002, 3: 1_700_000_000_003}
PORTS = {"PLAINTEXT": 19092, "KIP": 19192}


def three_brokers() -> ClusterView:
    return ClusterView(
        controller_id=1,
        controller_epoch=1,
        brokers=tuple(
            LiveBroker(
                broker_id,
                tuple(Endpoint(name, f"host{broker_id}", port, 0) for name, port in PORTS.items()),
                rack="r1" if broker_id == 1 else None,
                start_time_ms=started,
            )
            for broker_id, started in START_TIMES.items()
        ),
    )


def node(**changes: object) -> NodeContext:
    settings: dict[str, object] = {
        "node_id": 2,
        "cluster_id": "a-cluster",
        "start_time_ms": START_TIMES[2],
        "software_name": "rollcall",
        "software_version": "1.2.3",
        "cache": MetadataCache(three_brokers()),
    }
    return NodeContext(**{**settings, **changes})  # type: ignore[arg-type]


def call_handler(
    key: int,
    version: int,
    dialect_name: str,
    fields: Mapping[str, object] | None = None,
    *,
    listener: str = "PLAINTEXT",
    context: NodeContext | None = None,
    authorizer: Authorizer = ALLOW_ALL,
    require_describe: bool = False,
) -> Message:
    """Response of a handler; request and response are encoded and decoded in their version."""
    messages = dialect(dialect_name)
    api = messages.apis[key]
    codec = messages.codec(api.request.name, version)
    body = codec.decode(codec.encode(codec.message_class(**(fields or {}))))
    request = HandlerRequest(
        body,
        version,
        listener,
        principal="User:alice",
        authorizer=authorizer,
        require_describe=require_describe,
    )
    response = CLIENT_HANDLERS[key](request, context or node())
    assert response is not None
    codec = messages.codec(api.response.name, version)
    return codec.decode(codec.encode(response))
