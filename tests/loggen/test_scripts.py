"""Scripts: the versions of the client, lowered to those of the broker."""

import pytest

from rollcall.catalog import Release, accepts, listed_ranges
from rollcall.loggen.fleet import (
    MISBEHAVING,
    RELEASES,
    Client,
    make_fleet,
)
from rollcall.loggen.scripts import RequestStep, script_for

FLEET = make_fleet(seed=7, form="mixed", brokers=4)
ALL_RELEASES = [Release.parse(release) for releases in RELEASES.values() for release in releases]
API_VERSIONS, FETCH, PRODUCE = 18, 1, 0


def clients(**fields: object) -> list[Client]:
    return [
        client
        for client in FLEET.clients
        if all(getattr(client, name) == value for name, value in fields.items())
    ]


@pytest.mark.parametrize("release", ALL_RELEASES, ids=str)
def test_scripts_contain_only_versions_that_the_broker_accepts(release: Release) -> None:
    for client in FLEET.clients:
        if client.role in ("controller", "forwarded"):
            continue
        for step in script_for(client, release).steps:
            assert step.unsupported or accepts(release, step.key, step.version), (client, step)


def test_client_uses_the_highest_common_version() -> None:
    [java, *_] = clients(library="apache-kafka-java", library_version="2.8", role="consumer")
    fetch_versions = {
        str(release): {
            step.version for step in script_for(java, release).steps if step.key == FETCH
        }
        for release in ALL_RELEASES
    }
    assert fetch_versions["0.8.0"] == {0}
    assert fetch_versions["2.5.1"] == {11}
    assert fetch_versions["4.3.0"] == {12}


def test_pinned_client_sends_no_api_versions_and_no_name() -> None:
    for client in FLEET.clients:
        if client.pinned_release is not None:
            script = script_for(client, Release.parse("3.9.1"))
            assert script.named_from is None
            assert all(step.key != API_VERSIONS for step in script.steps)
            pinned = listed_ranges(client.pinned_release)
            assert all(step.version <= pinned[step.key].high for step in script.steps)


def test_client_repeats_an_unsupported_api_versions_request() -> None:
    [client, *_] = clients(library="kafka-python", library_version="3.0.12", protocol="PLAINTEXT")
    handshake = script_for(client, Release.parse("2.5.1")).opening[:2]
    assert handshake == (
        RequestStep(API_VERSIONS, 4, unsupported=True),
        RequestStep(API_VERSIONS, 3),
    )
    handshake = script_for(client, Release.parse("1.0.2")).opening[:2]
    assert handshake == (
        RequestStep(API_VERSIONS, 4, unsupported=True),
        RequestStep(API_VERSIONS, 0),
    )


def test_lines_have_the_software_name_from_2_5_on() -> None:
    [java, *_] = clients(library="apache-kafka-java", library_version="3.6", protocol="SSL")
    assert script_for(java, Release.parse("2.4.1")).named_from is None
    assert script_for(java, Release.parse("3.9.1")).named_from == 1


def test_librdkafka_sends_its_name_before_sasl_and_thus_before_the_first_line() -> None:
    [client, *_] = clients(library="librdkafka", library_version="2.16.0", protocol="SASL_SSL")
    script = script_for(client, Release.parse("3.9.1"))
    assert script.named_from == 0
    assert all(step.key != API_VERSIONS for step in script.steps)


def test_each_kind_of_problem_has_a_client() -> None:
    found = {client.behaviour: client for client in FLEET.clients if client.behaviour}
    assert found.keys() == set(MISBEHAVING)
    release = Release.parse("3.9.1")
    flood = script_for(found["Metadata flood"], release)
    assert {step.key for step in flood.cycle} == {3}
    assert all(step.error for step in script_for(found["errors and throttling"], release).cycle)
    assert found["reconnect storm"].connection_requests == 3
    assert found["single-request connections"].connection_requests == 1
