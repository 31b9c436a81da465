"""BrokerHeartbeat (63): a registered node says that it is still there, or that it leaves."""

from rollcall.broker.registrations import Registrations
from rollcall.protocol.dialects import KIP, dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.messages import Message

KEY = 63

_Request = dialect(KIP).message_class("BrokerHeartbeatRequest")
_Response = dialect(KIP).message_class("BrokerHeartbeatResponse")


def write(broker_id: int, broker_epoch: int, *, leaving: bool = False) -> Message:
    return _Request(broker_id=broker_id, broker_epoch=broker_epoch, want_shut_down=leaving)


def answer(body: Message, roster: Registrations, now: float) -> Message:
    leaving = body.want_shut_down
    error = roster.heartbeat(body.broker_id, body.broker_epoch, leaving=leaving, now=now)
    counts = error == Errors.NONE
    return _Response(
        error_code=error,
        is_caught_up=counts,
        is_fenced=leaving or not counts,
        should_shut_down=leaving and counts,
    )
