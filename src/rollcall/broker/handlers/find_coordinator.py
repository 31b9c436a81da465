"""FindCoordinator (10): there are no groups and no transactions here, so nobody coordinates them.

It is answered all the same: a consumer that is pointed at the cluster then tries again in peace,
with its name in the registry, where a closed connection would make it look for a fault.
"""

from rollcall.broker.handlers.question import HandlerRequest, NodeContext
from rollcall.protocol.dialects import RELEASED, dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.messages import Message

KEY = 10
FIRST_WITH_MANY_KEYS = 4

_MESSAGE = "this cluster keeps no groups and no transactions"
_NOBODY = {"node_id": -1, "host": "", "port": -1}

_Response = dialect(RELEASED).message_class("FindCoordinatorResponse")


def answer(asked: HandlerRequest, _: NodeContext) -> Message:
    error = {"error_code": Errors.COORDINATOR_NOT_AVAILABLE, "error_message": _MESSAGE}
    if asked.version < FIRST_WITH_MANY_KEYS:
        return _Response(**error, **_NOBODY)
    keys = dict.fromkeys(asked.body.coordinator_keys)  # one that is named twice is told once
    coordinators = [_Response.Coordinator(key=key, **error, **_NOBODY) for key in keys]
    return _Response(coordinators=coordinators)
