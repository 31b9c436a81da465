"""What clients of the fleet send: their own versions, lowered to what a broker has."""

import pytest

from rollcall.catalog import Release, accepts, listed_ranges
from rollcall.loggen.fleet import (
    MISBEHAVING,
    RELEASES,
    Client,
    make_fleet,
)
from rollcall.loggen.scripts import Step, script_for

FLEET = make_fleet(seed=7, form="mixed", brokers=4)
ALL_RELEASES = [Release.parse(each) for releases in RELEASES.values() for each in releases]
API_VERSIONS, FETCH, PRODUCE = 18, 1, 0


def clients(**wanted: object) -> list[Client]:
    return [
        client
        for client in FLEET.clients
        if all(getattr(client, name) == value for name, value in wanted.items())
    ]


@pytest.mark.parametrize("release", ALL_RELEASES, ids=str)
def test_nothing_is_logged_that_the_broker_would_have_refused(release: Release) -> None:
    for client in FLEET.clients:
        if client.role in ("controller", "forwarded"):
            continue
        for step in script_for(client, release).steps:
            assert step.too_new or accepts(release, step.key, step.version), (client, step)


def test_a_library_uses_the_lower_of_its_own_and_the_brokers_version() -> None:
    [java, *_] = clients(library="apache-kafka-java", library_version="2.8", role="consumer")
    fetched = {
        str(release): {
            step.version for step in script_for(java, release).steps if step.key == FETCH
        }
        for release in ALL_RELEASES
    }
    assert fetched["0.8.0"] == {0}
    assert fetched["2.5.1"] == {11}
    assert fetched["4.3.0"] == {12}


def test_a_pinned_client_neither_asks_nor_tells_a_name() -> None:
    for client in FLEET.clients:
        if client.pin is not None:
            script = script_for(client, Release.parse("3.9.1"))
            assert script.named_from is None
            assert all(step.key != API_VERSIONS for step in script.steps)
            spoken = listed_ranges(client.pin)
            assert all(step.version <= spoken[step.key].high for step in script.steps)


def test_who_asks_with_a_version_that_is_too_new_asks_again() -> None:
    [client, *_] = clients(library="kafka-python", library_version="3.0.12", protocol="PLAINTEXT")
    asks = script_for(client, Release.parse("2.5.1")).opening[:2]
    assert asks == (Step(API_VERSIONS, 4, too_new=True), Step(API_VERSIONS, 3))
    asks = script_for(client, Release.parse("1.0.2")).opening[:2]
    assert asks == (Step(API_VERSIONS, 4, too_new=True), Step(API_VERSIONS, 0))


def test_a_name_is_on_the_lines_after_it_was_told_and_from_2_5_on() -> None:
    [java, *_] = clients(library="apache-kafka-java", library_version="3.6", protocol="SSL")
    assert script_for(java, Release.parse("2.4.1")).named_from is None
    assert script_for(java, Release.parse("3.9.1")).named_from == 1


def test_on_a_sasl_listener_librdkafka_has_told_its_name_before_the_first_line() -> None:
    [client, *_] = clients(library="librdkafka", library_version="2.16.0", protocol="SASL_SSL")
    script = script_for(client, Release.parse("3.9.1"))
    assert script.named_from == 0
    assert all(step.key != API_VERSIONS for step in script.steps)


def test_each_kind_of_trouble_has_its_client() -> None:
    found = {client.behaviour: client for client in FLEET.clients if client.behaviour}
    assert found.keys() == set(MISBEHAVING)
    release = Release.parse("3.9.1")
    flood = script_for(found["Metadata flood"], release)
    assert {step.key for step in flood.cycle} == {3}
    assert all(step.error for step in script_for(found["errors and throttling"], release).cycle)
    assert found["reconnect storm"].lasts == 3
    assert found["asks once and leaves"].lasts == 1
