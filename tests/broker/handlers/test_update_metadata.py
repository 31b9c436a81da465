import pytest

from rollcall.broker.handlers import HandlerRequest, NodeContext
from rollcall.broker.handlers import update_metadata as update
from rollcall.broker.metadata_cache import ClusterView, Endpoint, LiveBroker
from rollcall.protocol.dialects import KIP, dialect
from rollcall.protocol.error_codes import Errors, error_code
from tests.broker.handlers.asking import START_TIMES, node, three_brokers

VERSIONS = dialect(KIP).apis[update.KEY].versions


def tell(facts: NodeContext, view: ClusterView, *, version: int = 7, epoch: int = 5) -> str:
    """What the node answers when it is told this view, over bytes."""
    request = dialect(KIP).codec("UpdateMetadataRequest", version)
    body = request.decode(request.encode(update.write(view, epoch)))
    response = dialect(KIP).codec("UpdateMetadataResponse", version)
    answer = update.answer(HandlerRequest(body, version, "INTERNAL"), facts)
    return error_code(response.decode(response.encode(answer)).error_code).name


def fresh(**changes: object) -> NodeContext:
    facts = node(**changes)
    facts.cache.view = ClusterView()
    return facts


@pytest.mark.parametrize("version", VERSIONS)
def test_536_2_every_version_fills_the_cache_and_6_brings_the_start_time(version: int) -> None:
    facts = fresh()
    assert tell(facts, three_brokers(), version=version) == "NONE"
    view = facts.cache.view
    assert [broker.id for broker in view.brokers] == [1, 2, 3]
    assert [broker.start_time_ms for broker in view.brokers] == (
        list(START_TIMES.values()) if version >= 6 else [0, 0, 0]
    )
    assert view.brokers[0].rack == ("r1" if version >= 2 else None)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_listener_has_its_name_from_3_on_and_that_of_its_protocol_before(version: int) -> None:
    facts = fresh()
    endpoints = (Endpoint("OUT", "a", 1, 0), Endpoint("IN", "b", 2, 3))
    tell(facts, ClusterView(1, 1, (LiveBroker(1, endpoints),)), version=version)
    names = [e.listener for e in facts.cache.view.brokers[0].endpoints]
    expected = ["OUT", "IN"] if version >= 3 else ["PLAINTEXT", "SASL_SSL"]
    assert names == (expected[:1] if version == 0 else expected)


def test_536_3_the_highest_version_carries_the_whole_view() -> None:
    facts = fresh()
    tell(facts, three_brokers())
    assert facts.cache.view == three_brokers()


def test_the_word_of_an_older_controller_is_refused() -> None:
    facts = fresh()
    tell(facts, ClusterView(1, 4, three_brokers().brokers))
    assert tell(facts, ClusterView(1, 3, ())) == "STALE_CONTROLLER_EPOCH"
    assert len(facts.cache.view.brokers) == 3


def test_a_view_for_an_older_registration_is_refused() -> None:
    facts = fresh(broker_epoch=9)
    assert tell(facts, three_brokers(), epoch=8) == Errors.STALE_BROKER_EPOCH.name
    assert tell(facts, three_brokers(), epoch=9) == "NONE"


def test_a_view_that_means_the_process_before_is_refused() -> None:
    facts = fresh(start_time_ms=START_TIMES[2] + 5000)
    assert tell(facts, three_brokers()) == Errors.STALE_BROKER_EPOCH.name
    assert facts.cache.view.brokers == ()


def test_a_change_is_heard_once_and_no_change_not_at_all() -> None:
    facts = fresh()
    heard: list[ClusterView] = []
    facts.cache.watchers.append(heard.append)
    tell(facts, three_brokers())
    tell(facts, three_brokers())
    assert heard == [three_brokers()]
