"""What every answer is made from: the question, and what the node knows of itself."""

from dataclasses import dataclass, field

from rollcall.broker.authorizer import EVERYBODY, Authorizer
from rollcall.broker.metadata_cache import NO_EPOCH, MetadataCache
from rollcall.protocol.messages import Message
from rollcall.server import ANONYMOUS


@dataclass(frozen=True, slots=True)
class HandlerRequest:
    """A request, who asks it, and on which listener."""

    body: Message
    version: int
    listener: str
    principal: str = ANONYMOUS
    authorizer: Authorizer = EVERYBODY
    require_describe: bool = False
    """Whether DescribeCluster is refused to a principal without DESCRIBE; Kafka never does."""


@dataclass(kw_only=True)
class NodeContext:
    """Who answers. The start time is taken once, when the node starts (536.1)."""

    node_id: int
    cluster_id: str
    start_time_ms: int
    software_name: str | None = None
    software_version: str | None = None
    cache: MetadataCache = field(default_factory=MetadataCache)
    broker_epoch: int = NO_EPOCH
    """The number of its registration; it changes when the controller has forgotten it."""
