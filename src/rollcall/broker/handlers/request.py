"""Input of every handler: the request with its connection, and the state of the node."""

from dataclasses import dataclass, field

from rollcall.broker.authorizer import ALLOW_ALL, Authorizer
from rollcall.broker.metadata_cache import NO_EPOCH, MetadataCache
from rollcall.protocol import Message
from rollcall.server import ANONYMOUS


@dataclass(frozen=True, slots=True)
class HandlerRequest:
    """A decoded request with its listener, principal and authorizer."""

    body: Message
    version: int
    listener: str
    principal: str = ANONYMOUS
    authorizer: Authorizer = ALLOW_ALL
    require_describe: bool = False
    """Whether DescribeCluster requires DESCRIBE on the cluster (Kafka does not)."""


@dataclass(kw_only=True)
class NodeContext:
    """State of the node that responds. The start time is set once, at the start (536.1)."""

    node_id: int
    cluster_id: str
    start_time_ms: int
    software_name: str | None = None
    software_version: str | None = None
    cache: MetadataCache = field(default_factory=MetadataCache)
    broker_epoch: int = NO_EPOCH
    """Epoch of the current registration with the controller."""
