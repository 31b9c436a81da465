"""Request handlers of the embedded cluster, one module per API: message in, message out.

Handlers are functions without sockets, clock or waiting. They are the same for every version and
both dialects, as the codec omits fields that a version does not have. The API versions that a
listener reports follow from the registered handlers.

Modules in reading order: `request`, `metadata`, `describe_cluster`, `find_coordinator`, `produce`;
then the requests between nodes and controller: `broker_registration`, `broker_heartbeat`,
`update_metadata`.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from rollcall.broker.authorizer import ALLOW_ALL, Authorizer
from rollcall.broker.handlers import (
    describe_cluster,
    find_coordinator,
    metadata,
    produce,
    update_metadata,
)
from rollcall.broker.handlers.request import HandlerRequest, NodeContext
from rollcall.protocol import Message
from rollcall.server import Handler, RequestContext

ApiHandler = Callable[[HandlerRequest, NodeContext], Message | None]

CLIENT_HANDLERS: Final[Mapping[int, ApiHandler]] = MappingProxyType(
    {
        produce.KEY: produce.handle,
        metadata.KEY: metadata.handle,
        find_coordinator.KEY: find_coordinator.handle,
        describe_cluster.KEY: describe_cluster.handle,
    }
)
"""API key to handler on every client listener."""

__all__ = [
    "CLIENT_HANDLERS",
    "ApiHandler",
    "HandlerRequest",
    "NodeContext",
    "client_handlers",
    "node_handlers",
]


def client_handlers(
    node: NodeContext, authorizer: Authorizer = ALLOW_ALL, *, require_describe: bool = False
) -> dict[int, Handler]:
    """Handlers of a client listener, in the form that the server expects."""
    return {
        key: _bind(handle, node, authorizer, require_describe)
        for key, handle in CLIENT_HANDLERS.items()
    }


def node_handlers(node: NodeContext) -> dict[int, Handler]:
    """Handlers of requests from the controller."""
    return {update_metadata.KEY: _bind(update_metadata.handle, node, ALLOW_ALL, False)}


def _bind(
    handle: ApiHandler, node: NodeContext, authorizer: Authorizer, require_describe: bool
) -> Handler:
    def handler(context: RequestContext) -> Message | None:
        request = HandlerRequest(
            context.body,
            context.api_version,
            context.connection.listener,
            context.connection.principal,
            authorizer,
            require_describe,
        )
        return handle(request, node)

    return handler
