"""The answers put on listeners: from a server's request to a question, one table per listener."""

from functools import partial

from rollcall.broker.authorizer import EVERYBODY, Authorizer
from rollcall.broker.handlers import FOR_CLIENTS, ApiHandler, HandlerRequest, NodeContext
from rollcall.broker.handlers import update_metadata as update
from rollcall.protocol.messages import Message
from rollcall.server import Handler, RequestContext


def client_handlers(
    facts: NodeContext, authorizer: Authorizer = EVERYBODY, *, require_describe: bool = False
) -> dict[int, Handler]:
    """What a listener answers that is open to clients."""
    bind = partial(_bind, facts, authorizer, require_describe)
    return {key: bind(answer) for key, answer in FOR_CLIENTS.items()}


def node_handlers(facts: NodeContext) -> dict[int, Handler]:
    """What a node answers to the controller."""
    return {update.KEY: _bind(facts, EVERYBODY, False, update.answer)}


def _bind(
    facts: NodeContext, authorizer: Authorizer, require_describe: bool, answer: ApiHandler
) -> Handler:
    def handle(context: RequestContext) -> Message | None:
        question = HandlerRequest(
            context.body,
            context.api_version,
            context.connection.listener,
            context.connection.principal,
            authorizer,
            require_describe,
        )
        return answer(question, facts)

    return handle
