"""A node of three, and a way to ask it: every answer is written and read in its version."""

from collections.abc import Mapping

from rollcall.broker.authorizer import EVERYBODY, Authorizer
from rollcall.broker.handlers import FOR_CLIENTS, HandlerRequest, NodeContext
from rollcall.broker.metadata_cache import ClusterView, Endpoint, LiveBroker, MetadataCache
from rollcall.protocol.dialects import dialect
from rollcall.protocol.messages import Message

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
    facts: dict[str, object] = {
        "node_id": 2,
        "cluster_id": "a-cluster",
        "start_time_ms": START_TIMES[2],
        "software_name": "rollcall",
        "software_version": "1.2.3",
        "cache": MetadataCache(three_brokers()),
    }
    return NodeContext(**{**facts, **changes})  # type: ignore[arg-type]


def ask(
    key: int,
    version: int,
    dialect_name: str,
    fields: Mapping[str, object] | None = None,
    *,
    listener: str = "PLAINTEXT",
    facts: NodeContext | None = None,
    authorizer: Authorizer = EVERYBODY,
    require_describe: bool = False,
) -> Message:
    """The answer as a client reads it, and what was asked as the node reads it."""
    spoken = dialect(dialect_name)
    api = spoken.apis[key]
    codec = spoken.codec(api.request.name, version)
    request = codec.decode(codec.encode(codec.message_class(**(fields or {}))))
    question = HandlerRequest(
        request,
        version,
        listener,
        principal="User:alice",
        authorizer=authorizer,
        require_describe=require_describe,
    )
    answer = FOR_CLIENTS[key](question, facts or node())
    assert answer is not None
    codec = spoken.codec(api.response.name, version)
    return codec.decode(codec.encode(answer))
