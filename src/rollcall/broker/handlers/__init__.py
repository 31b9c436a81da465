"""THE ANSWERS, one module per API: a request comes in as a message, its answer leaves as one.

What it is: functions on values. An answer is made from the question, who asks it, and what the node
has in its cache or, on the controller, on its roster; the same for every version and both dialects,
as the codec leaves out what a version lacks.

What it is not: no sockets, no clock, no waiting. What a listener lists follows from these tables:
`FOR_CLIENTS` on every client listener; the other three are bound in `table`.

In reading order: `question`, `metadata`, `describe_cluster`, `find_coordinator`, `produce`; then
what the cluster says to itself: `broker_registration`, `broker_heartbeat`, `update_metadata`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from rollcall.broker.handlers import describe_cluster, find_coordinator, metadata, produce
from rollcall.broker.handlers.question import HandlerRequest, NodeContext
from rollcall.protocol.messages import Message

ApiHandler = Callable[[HandlerRequest, NodeContext], Message | None]

FOR_CLIENTS: Final[Mapping[int, ApiHandler]] = MappingProxyType(
    {
        produce.KEY: produce.answer,
        metadata.KEY: metadata.answer,
        find_coordinator.KEY: find_coordinator.answer,
        describe_cluster.KEY: describe_cluster.answer,
    }
)
"""API key to answer, on every listener that is open to clients."""

__all__ = ["FOR_CLIENTS", "ApiHandler", "HandlerRequest", "NodeContext"]
