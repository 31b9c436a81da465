"""Registrations at the controller, with times given by the tests."""

from uuid import UUID

import pytest

from rollcall.broker.metadata_cache import NO_EPOCH, Endpoint, LiveBroker
from rollcall.broker.registrations import Registrations
from rollcall.protocol import Errors

FIRST, SECOND = UUID(int=1), UUID(int=2)


def broker(broker_id: int = 1, *, port: int = 9000, start: int = 1000) -> LiveBroker:
    return LiveBroker(broker_id, (Endpoint("INTERNAL", "localhost", port, 2),), None, start)


def new_registrations(**changes: float) -> Registrations:
    return Registrations("a-cluster", 1, controller_epoch=3, session_timeout=2.0, **changes)


def test_registered_brokers_are_in_the_view_by_id() -> None:
    registrations = new_registrations()
    registrations.register(broker(2), "a-cluster", FIRST, now=0)
    registrations.register(broker(1), "a-cluster", SECOND, now=0)
    assert [known.id for known in registrations.view.brokers] == [1, 2]
    assert (registrations.view.controller_id, registrations.view.controller_epoch) == (1, 3)


def test_epochs_increase_also_across_restarts_of_the_controller() -> None:
    registrations = new_registrations()
    _, first = registrations.register(broker(1), "a-cluster", FIRST, now=0)
    _, second = registrations.register(broker(2), "a-cluster", SECOND, now=0)
    later = Registrations("a-cluster", 1, controller_epoch=4)
    _, third = later.register(broker(1), "a-cluster", FIRST, now=0)
    assert first < second < third


def test_broker_of_another_cluster_is_rejected() -> None:
    registrations = new_registrations()
    result = registrations.register(broker(), "another", FIRST, now=0)
    assert result == (Errors.INCONSISTENT_CLUSTER_ID, NO_EPOCH)
    assert registrations.view.brokers == ()


def test_process_that_registers_again_keeps_its_epoch() -> None:
    registrations = new_registrations()
    _, epoch = registrations.register(broker(), "a-cluster", FIRST, now=0)
    before = registrations.change
    assert registrations.register(broker(), "a-cluster", FIRST, now=1) == (Errors.NONE, epoch)
    assert registrations.change == before
    assert registrations.expired(now=2.5) == []


def test_536_2_new_process_with_the_same_endpoints_replaces_the_old_one() -> None:
    registrations = new_registrations()
    _, old = registrations.register(broker(start=1000), "a-cluster", FIRST, now=0)
    error, new = registrations.register(broker(start=2000), "a-cluster", SECOND, now=0.1)
    assert error == Errors.NONE
    assert new > old
    assert [known.start_time_ms for known in registrations.view.brokers] == [2000]
    assert registrations.heartbeat(1, old, shut_down=False, now=0.2) == Errors.STALE_BROKER_EPOCH


def test_process_with_other_endpoints_is_rejected_until_the_session_expires() -> None:
    registrations = new_registrations()
    registrations.register(broker(port=9000), "a-cluster", FIRST, now=0)
    rejected, _ = registrations.register(broker(port=9001), "a-cluster", SECOND, now=1)
    accepted, _ = registrations.register(broker(port=9001), "a-cluster", SECOND, now=2.1)
    assert (rejected, accepted) == (Errors.DUPLICATE_BROKER_REGISTRATION, Errors.NONE)


def test_session_expires_without_heartbeats() -> None:
    registrations = new_registrations()
    _, epoch = registrations.register(broker(), "a-cluster", FIRST, now=0)
    assert registrations.heartbeat(1, epoch, shut_down=False, now=1.5) == Errors.NONE
    assert registrations.expired(now=3.4) == []
    expired = registrations.expired(now=3.6)
    assert [known.epoch for known in expired] == [epoch]
    registrations.remove(expired)
    assert (
        registrations.heartbeat(1, epoch, shut_down=False, now=3.7)
        == Errors.BROKER_ID_NOT_REGISTERED
    )


def test_broker_that_shuts_down_is_removed_at_once() -> None:
    registrations = new_registrations()
    _, epoch = registrations.register(broker(), "a-cluster", FIRST, now=0)
    assert registrations.heartbeat(1, epoch, shut_down=True, now=0.1) == Errors.NONE
    assert registrations.view.brokers == ()


def test_removing_an_old_registration_keeps_the_new_one() -> None:
    registrations = new_registrations()
    registrations.register(broker(), "a-cluster", FIRST, now=0)
    old = registrations.registered
    registrations.register(broker(), "a-cluster", SECOND, now=0.1)
    registrations.remove(old)
    assert len(registrations.view.brokers) == 1


@pytest.mark.parametrize("action", ["register", "replace", "shut down", "remove"])
def test_change_number_increases_when_the_view_changes(action: str) -> None:
    registrations = new_registrations()
    _, epoch = registrations.register(broker(1), "a-cluster", FIRST, now=0)
    before = registrations.change
    match action:
        case "register":
            registrations.register(broker(2), "a-cluster", FIRST, now=0)
        case "replace":
            registrations.register(broker(1, start=5), "a-cluster", SECOND, now=0)
        case "shut down":
            registrations.heartbeat(1, epoch, shut_down=True, now=0)
        case "remove":
            registrations.remove(registrations.registered)
    assert registrations.change > before
