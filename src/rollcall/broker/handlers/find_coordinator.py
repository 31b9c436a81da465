"""FindCoordinator (10): always COORDINATOR_NOT_AVAILABLE, as there are no groups or transactions.

A consumer retries on this error and stays connected, so it is in the connection registry. A closed
connection would look like a fault.
"""

from rollcall.broker.handlers.request import HandlerRequest, NodeContext
from rollcall.protocol import RELEASED, Errors, Message, dialect

KEY = 10
FIRST_WITH_MANY_KEYS = 4

_MESSAGE = "this cluster has no groups and no transactions"
_NO_COORDINATOR = {"node_id": -1, "host": "", "port": -1}

_Response = dialect(RELEASED).message_class("FindCoordinatorResponse")


def handle(request: HandlerRequest, _: NodeContext) -> Message:
    error = {"error_code": Errors.COORDINATOR_NOT_AVAILABLE, "error_message": _MESSAGE}
    if request.version < FIRST_WITH_MANY_KEYS:
        return _Response(**error, **_NO_COORDINATOR)
    keys = dict.fromkeys(request.body.coordinator_keys)  # without duplicates
    coordinators = [_Response.Coordinator(key=key, **error, **_NO_COORDINATOR) for key in keys]
    return _Response(coordinators=coordinators)
