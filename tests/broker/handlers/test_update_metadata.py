import pytest

from rollcall.broker.handlers import HandlerRequest, NodeContext
from rollcall.broker.handlers import update_metadata as update
from rollcall.broker.metadata_cache import ClusterView, Endpoint, LiveBroker
from rollcall.protocol import KIP, Errors, dialect, error_code
from tests.broker.handlers.calling import START_TIMES, node, three_brokers

VERSIONS = dialect(KIP).apis[update.KEY].versions


def send(context: NodeContext, view: ClusterView, *, version: int = 7, epoch: int = 5) -> str:
    """Error name of the response of a node to this view, encoded and decoded."""
    request_codec = dialect(KIP).codec("UpdateMetadataRequest", version)
    body = request_codec.decode(request_codec.encode(update.build_request(view, epoch)))
    response = update.handle(HandlerRequest(body, version, "INTERNAL"), context)
    response_codec = dialect(KIP).codec("UpdateMetadataResponse", version)
    return error_code(response_codec.decode(response_codec.encode(response)).error_code).name


def started_node(**changes: object) -> NodeContext:
    context = node(**changes)
    context.cache.view = ClusterView()
    return context


@pytest.mark.parametrize("version", VERSIONS)
def test_536_2_every_version_fills_the_cache_with_start_times_from_6_on(version: int) -> None:
    context = started_node()
    assert send(context, three_brokers(), version=version) == "NONE"
    view = context.cache.view
    assert [broker.id for broker in view.brokers] == [1, 2, 3]
    assert [broker.start_time_ms for broker in view.brokers] == (
        list(START_TIMES.values()) if version >= 6 else [0, 0, 0]
    )
    assert view.brokers[0].rack == ("r1" if version >= 2 else None)


@pytest.mark.parametrize("version", VERSIONS)
def test_listener_names_are_used_from_3_on_and_protocol_names_before(version: int) -> None:
    context = started_node()
    endpoints = (Endpoint("OUT", "a", 1, 0), Endpoint("IN", "b", 2, 3))
    send(context, ClusterView(1, 1, (LiveBroker(1, endpoints),)), version=version)
    names = [e.listener for e in context.cache.view.brokers[0].endpoints]
    expected = ["OUT", "IN"] if version >= 3 else ["PLAINTEXT", "SASL_SSL"]
    assert names == (expected[:1] if version == 0 else expected)


def test_536_3_highest_version_has_the_whole_view() -> None:
    context = started_node()
    send(context, three_brokers())
    assert context.cache.view == three_brokers()


def test_view_of_an_older_controller_is_rejected() -> None:
    context = started_node()
    send(context, ClusterView(1, 4, three_brokers().brokers))
    assert send(context, ClusterView(1, 3, ())) == "STALE_CONTROLLER_EPOCH"
    assert len(context.cache.view.brokers) == 3


def test_view_for_an_older_registration_is_rejected() -> None:
    context = started_node(broker_epoch=9)
    assert send(context, three_brokers(), epoch=8) == Errors.STALE_BROKER_EPOCH.name
    assert send(context, three_brokers(), epoch=9) == "NONE"


def test_view_for_a_previous_process_is_rejected() -> None:
    context = started_node(start_time_ms=START_TIMES[2] + 5000)
    assert send(context, three_brokers()) == Errors.STALE_BROKER_EPOCH.name
    assert context.cache.view.brokers == ()


def test_watchers_are_called_only_when_the_view_changes() -> None:
    context = started_node()
    changes: list[ClusterView] = []
    context.cache.watchers.append(changes.append)
    send(context, three_brokers())
    send(context, three_brokers())
    assert changes == [three_brokers()]
