"""The controller's book, with a clock that the tests turn."""

from uuid import UUID

import pytest

from rollcall.broker.metadata_cache import NO_EPOCH, Endpoint, LiveBroker
from rollcall.broker.registrations import Registrations
from rollcall.protocol.error_codes import Errors

FIRST, SECOND = UUID(int=1), UUID(int=2)


def broker(broker_id: int = 1, *, port: int = 9000, start: int = 1000) -> LiveBroker:
    return LiveBroker(broker_id, (Endpoint("INTERNAL", "localhost", port, 2),), None, start)


def roster(**changes: float) -> Registrations:
    return Registrations("a-cluster", 1, controller_epoch=3, session_seconds=2.0, **changes)


def test_registered_brokers_are_in_the_view_by_id() -> None:
    book = roster()
    book.register(broker(2), "a-cluster", FIRST, now=0)
    book.register(broker(1), "a-cluster", SECOND, now=0)
    assert [known.id for known in book.view.brokers] == [1, 2]
    assert (book.view.controller_id, book.view.controller_epoch) == (1, 3)


def test_epochs_grow_and_a_later_life_of_the_controller_begins_above_all_of_the_former() -> None:
    book = roster()
    _, first = book.register(broker(1), "a-cluster", FIRST, now=0)
    _, second = book.register(broker(2), "a-cluster", SECOND, now=0)
    later = Registrations("a-cluster", 1, controller_epoch=4)
    _, third = later.register(broker(1), "a-cluster", FIRST, now=0)
    assert first < second < third


def test_a_broker_of_another_cluster_is_refused() -> None:
    book = roster()
    answer = book.register(broker(), "another", FIRST, now=0)
    assert answer == (Errors.INCONSISTENT_CLUSTER_ID, NO_EPOCH)
    assert book.view.brokers == ()


def test_the_same_process_keeps_its_epoch_when_it_registers_again() -> None:
    book = roster()
    _, epoch = book.register(broker(), "a-cluster", FIRST, now=0)
    before = book.change
    assert book.register(broker(), "a-cluster", FIRST, now=1) == (Errors.NONE, epoch)
    assert book.change == before
    assert book.silent(now=2.5) == []


def test_536_2_a_new_process_at_the_same_place_takes_over_with_its_start_time() -> None:
    book = roster()
    _, old = book.register(broker(start=1000), "a-cluster", FIRST, now=0)
    error, new = book.register(broker(start=2000), "a-cluster", SECOND, now=0.1)
    assert error == Errors.NONE
    assert new > old
    assert [known.start_time_ms for known in book.view.brokers] == [2000]
    assert book.heartbeat(1, old, leaving=False, now=0.2) == Errors.STALE_BROKER_EPOCH


def test_a_second_process_elsewhere_waits_until_the_session_of_the_first_is_over() -> None:
    book = roster()
    book.register(broker(port=9000), "a-cluster", FIRST, now=0)
    refused, _ = book.register(broker(port=9001), "a-cluster", SECOND, now=1)
    taken, _ = book.register(broker(port=9001), "a-cluster", SECOND, now=2.1)
    assert (refused, taken) == (Errors.DUPLICATE_BROKER_REGISTRATION, Errors.NONE)


def test_a_heartbeat_keeps_the_session_and_silence_ends_it() -> None:
    book = roster()
    _, epoch = book.register(broker(), "a-cluster", FIRST, now=0)
    assert book.heartbeat(1, epoch, leaving=False, now=1.5) == Errors.NONE
    assert book.silent(now=3.4) == []
    silent = book.silent(now=3.6)
    assert [known.epoch for known in silent] == [epoch]
    book.remove(silent)
    assert book.heartbeat(1, epoch, leaving=False, now=3.7) == Errors.BROKER_ID_NOT_REGISTERED


def test_a_broker_that_says_goodbye_is_off_at_once() -> None:
    book = roster()
    _, epoch = book.register(broker(), "a-cluster", FIRST, now=0)
    assert book.heartbeat(1, epoch, leaving=True, now=0.1) == Errors.NONE
    assert book.view.brokers == ()


def test_removing_an_old_registration_leaves_the_new_one_alone() -> None:
    book = roster()
    book.register(broker(), "a-cluster", FIRST, now=0)
    old = book.registered
    book.register(broker(), "a-cluster", SECOND, now=0.1)
    book.remove(old)
    assert len(book.view.brokers) == 1


@pytest.mark.parametrize("act", ["register", "replace", "leave", "remove"])
def test_whatever_changes_the_view_is_a_change(act: str) -> None:
    book = roster()
    _, epoch = book.register(broker(1), "a-cluster", FIRST, now=0)
    before = book.change
    match act:
        case "register":
            book.register(broker(2), "a-cluster", FIRST, now=0)
        case "replace":
            book.register(broker(1, start=5), "a-cluster", SECOND, now=0)
        case "leave":
            book.heartbeat(1, epoch, leaving=True, now=0)
        case "remove":
            book.remove(book.registered)
    assert book.change > before
