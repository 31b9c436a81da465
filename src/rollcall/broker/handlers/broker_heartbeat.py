"""BrokerHeartbeat (63): keeps the session of a registered node, or ends it."""

from rollcall.broker.registrations import Registrations
from rollcall.protocol import KIP, Errors, Message, dialect

KEY = 63

_Request = dialect(KIP).message_class("BrokerHeartbeatRequest")
_Response = dialect(KIP).message_class("BrokerHeartbeatResponse")


def build_request(broker_id: int, broker_epoch: int, *, shut_down: bool = False) -> Message:
    return _Request(broker_id=broker_id, broker_epoch=broker_epoch, want_shut_down=shut_down)


def handle(body: Message, registrations: Registrations, now: float) -> Message:
    shut_down = body.want_shut_down
    error = registrations.heartbeat(body.broker_id, body.broker_epoch, shut_down=shut_down, now=now)
    accepted = error == Errors.NONE
    return _Response(
        error_code=error,
        is_caught_up=accepted,
        is_fenced=shut_down or not accepted,
        should_shut_down=shut_down and accepted,
    )
