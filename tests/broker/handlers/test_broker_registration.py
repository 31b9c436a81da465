"""BrokerRegistration and BrokerHeartbeat in every version, encoded and decoded."""

from uuid import UUID

import pytest

from rollcall.broker.handlers import broker_heartbeat, broker_registration
from rollcall.broker.metadata_cache import Endpoint, LiveBroker
from rollcall.broker.registrations import Registrations
from rollcall.protocol import KIP, Errors, Message, dialect

BROKER = LiveBroker(2, (Endpoint("KIP", "::1", 9, 0), Endpoint("TLS", "b", 8, 1)), "rack", 1234)


def encoded_and_decoded(message: str, version: int, value: Message) -> Message:
    codec = dialect(KIP).codec(message, version)
    return codec.decode(codec.encode(value))


def register(registrations: Registrations, version: int = 4, cluster: str = "a-cluster") -> Message:
    body = broker_registration.build_request(BROKER, cluster, UUID(int=1))
    body = encoded_and_decoded("BrokerRegistrationRequest", version, body)
    response = broker_registration.handle(body, registrations, now=0)
    return encoded_and_decoded("BrokerRegistrationResponse", version, response)


def heartbeat(
    registrations: Registrations, epoch: int, version: int = 2, *, shut_down: bool = False
) -> Message:
    body = broker_heartbeat.build_request(2, epoch, shut_down=shut_down)
    body = encoded_and_decoded("BrokerHeartbeatRequest", version, body)
    response = broker_heartbeat.handle(body, registrations, now=1)
    return encoded_and_decoded("BrokerHeartbeatResponse", version, response)


@pytest.mark.parametrize("version", dialect(KIP).apis[broker_registration.KEY].versions)
def test_536_2_registration_has_listeners_rack_and_start_time(version: int) -> None:
    registrations = Registrations("a-cluster", 1, controller_epoch=1)
    response = register(registrations, version)
    assert response.error_code == Errors.NONE
    assert response.broker_epoch > 0
    assert registrations.view.brokers == (BROKER,)


def test_rejected_registration_has_no_epoch() -> None:
    response = register(Registrations("a-cluster", 1, controller_epoch=1), cluster="another")
    assert (response.error_code, response.broker_epoch) == (Errors.INCONSISTENT_CLUSTER_ID, -1)


@pytest.mark.parametrize("version", dialect(KIP).apis[broker_heartbeat.KEY].versions)
def test_heartbeat_keeps_the_registration_and_shut_down_removes_it(version: int) -> None:
    registrations = Registrations("a-cluster", 1, controller_epoch=1)
    epoch = register(registrations).broker_epoch
    kept = heartbeat(registrations, epoch, version)
    assert (kept.error_code, kept.is_fenced, kept.should_shut_down) == (0, False, False)
    removed = heartbeat(registrations, epoch, version, shut_down=True)
    assert (removed.error_code, removed.is_fenced, removed.should_shut_down) == (0, True, True)
    assert registrations.view.brokers == ()


def test_heartbeat_of_an_unknown_or_older_registration_is_rejected() -> None:
    registrations = Registrations("a-cluster", 1, controller_epoch=1)
    unknown = heartbeat(registrations, 7)
    epoch = register(registrations).broker_epoch
    stale = heartbeat(registrations, epoch - 1)
    assert unknown.error_code == Errors.BROKER_ID_NOT_REGISTERED
    assert stale.error_code == Errors.STALE_BROKER_EPOCH
    assert unknown.is_fenced
    assert stale.is_fenced
