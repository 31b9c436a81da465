"""BrokerRegistration and BrokerHeartbeat, in every version over bytes, against a roster."""

from uuid import UUID

import pytest

from rollcall.broker.handlers import broker_heartbeat, broker_registration
from rollcall.broker.metadata_cache import Endpoint, LiveBroker
from rollcall.broker.registrations import Registrations
from rollcall.protocol.dialects import KIP, dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.messages import Message

BROKER = LiveBroker(2, (Endpoint("KIP", "::1", 9, 0), Endpoint("TLS", "b", 8, 1)), "rack", 1234)


def crossed(message: str, version: int, value: Message) -> Message:
    codec = dialect(KIP).codec(message, version)
    return codec.decode(codec.encode(value))


def register(roster: Registrations, version: int = 4, cluster: str = "a-cluster") -> Message:
    body = broker_registration.write(BROKER, cluster, UUID(int=1))
    body = crossed("BrokerRegistrationRequest", version, body)
    answer = broker_registration.answer(body, roster, now=0)
    return crossed("BrokerRegistrationResponse", version, answer)


def beat(roster: Registrations, epoch: int, version: int = 2, *, leaving: bool = False) -> Message:
    body = broker_heartbeat.write(2, epoch, leaving=leaving)
    body = crossed("BrokerHeartbeatRequest", version, body)
    answer = broker_heartbeat.answer(body, roster, now=1)
    return crossed("BrokerHeartbeatResponse", version, answer)


@pytest.mark.parametrize("version", dialect(KIP).apis[broker_registration.KEY].versions)
def test_536_2_a_registration_brings_listeners_rack_and_start_time(version: int) -> None:
    roster = Registrations("a-cluster", 1, controller_epoch=1)
    answer = register(roster, version)
    assert answer.error_code == Errors.NONE
    assert answer.broker_epoch > 0
    assert roster.view.brokers == (BROKER,)


def test_a_refused_registration_has_no_epoch() -> None:
    answer = register(Registrations("a-cluster", 1, controller_epoch=1), cluster="another")
    assert (answer.error_code, answer.broker_epoch) == (Errors.INCONSISTENT_CLUSTER_ID, -1)


@pytest.mark.parametrize("version", dialect(KIP).apis[broker_heartbeat.KEY].versions)
def test_a_heartbeat_counts_and_a_goodbye_lets_go(version: int) -> None:
    roster = Registrations("a-cluster", 1, controller_epoch=1)
    epoch = register(roster).broker_epoch
    alive = beat(roster, epoch, version)
    assert (alive.error_code, alive.is_fenced, alive.should_shut_down) == (0, False, False)
    gone = beat(roster, epoch, version, leaving=True)
    assert (gone.error_code, gone.is_fenced, gone.should_shut_down) == (0, True, True)
    assert roster.view.brokers == ()


def test_a_heartbeat_of_an_unknown_or_older_registration_does_not_count() -> None:
    roster = Registrations("a-cluster", 1, controller_epoch=1)
    unknown = beat(roster, 7)
    epoch = register(roster).broker_epoch
    stale = beat(roster, epoch - 1)
    assert unknown.error_code == Errors.BROKER_ID_NOT_REGISTERED
    assert stale.error_code == Errors.STALE_BROKER_EPOCH
    assert unknown.is_fenced
    assert stale.is_fenced
