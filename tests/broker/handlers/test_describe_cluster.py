import pytest

from rollcall.broker.authorizer import NOT_ASKED, Authorizer, Operation
from rollcall.protocol.dialects import DIALECT_NAMES, KIP, RELEASED, dialect
from rollcall.protocol.error_codes import Errors
from tests.broker.handlers.asking import ask, node

DESCRIBE_CLUSTER = 60
EVERY_VERSION = [
    (name, version)
    for name in DIALECT_NAMES
    for version in dialect(name).apis[DESCRIBE_CLUSTER].versions
]
WANTED = {"include_cluster_authorized_operations": True}


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
def test_700_1_every_version_tells_cluster_controller_and_brokers(name: str, version: int) -> None:
    answer = ask(DESCRIBE_CLUSTER, version, name)
    assert (answer.error_code, answer.error_message) == (Errors.NONE, None)
    assert (answer.cluster_id, answer.controller_id) == ("a-cluster", 1)
    assert [(b.broker_id, b.host, b.port, b.rack) for b in answer.brokers] == [
        (1, "host1", 19092, "r1"),
        (2, "host2", 19092, None),
        (3, "host3", 19092, None),
    ]
    assert not any(b.is_fenced for b in answer.brokers)


def test_700_1_addresses_are_those_of_the_listener_that_was_asked() -> None:
    answer = ask(DESCRIBE_CLUSTER, 1, KIP, listener="KIP")
    assert {b.port for b in answer.brokers} == {19192}


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
def test_700_2_operations_are_told_only_when_asked_for(name: str, version: int) -> None:
    asked = ask(DESCRIBE_CLUSTER, version, name, WANTED)
    plain = ask(DESCRIBE_CLUSTER, version, name)
    assert asked.cluster_authorized_operations == 8096
    assert plain.cluster_authorized_operations == NOT_ASKED


def test_700_2_operations_are_those_of_the_principal_and_0_without_describe() -> None:
    rules = Authorizer(allow={"User:alice": frozenset({Operation.DESCRIBE, Operation.ALTER})})
    alice = ask(DESCRIBE_CLUSTER, 0, RELEASED, WANTED, authorizer=rules)
    nobody = ask(DESCRIBE_CLUSTER, 0, RELEASED, WANTED, authorizer=Authorizer())
    assert alice.cluster_authorized_operations == 1 << 8 | 1 << 7
    assert (nobody.cluster_authorized_operations, nobody.error_code) == (0, Errors.NONE)


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
def test_700_2_only_a_listener_that_demands_describe_refuses(name: str, version: int) -> None:
    refused = ask(DESCRIBE_CLUSTER, version, name, authorizer=Authorizer(), require_describe=True)
    assert refused.error_code == Errors.CLUSTER_AUTHORIZATION_FAILED
    assert "DESCRIBE" in refused.error_message
    assert refused.brokers == ()


def test_885_1_kip_1_tells_the_software_as_fields_and_kip_0_does_not() -> None:
    one, zero = ask(DESCRIBE_CLUSTER, 1, KIP), ask(DESCRIBE_CLUSTER, 0, KIP)
    assert (one.broker_software_name, one.broker_software_version) == ("rollcall", "1.2.3")
    assert (zero.broker_software_name, zero.broker_software_version) == (None, None)


@pytest.mark.parametrize("version", dialect(RELEASED).apis[DESCRIBE_CLUSTER].versions)
def test_the_released_dialect_tells_the_software_as_tags_of_every_version(version: int) -> None:
    answer = ask(DESCRIBE_CLUSTER, version, RELEASED)
    assert (answer.broker_software_name, answer.broker_software_version) == ("rollcall", "1.2.3")


@pytest.mark.parametrize(
    ("name", "version"), [("", ""), ("Event Hubs é", None), (None, "v23.1\n"), (None, None)]
)
@pytest.mark.parametrize("spoken", [KIP, RELEASED])
def test_885_3_any_string_or_nothing_is_told_as_it_is(
    spoken: str, name: str | None, version: str | None
) -> None:
    facts = node(software_name=name, software_version=version)
    answer = ask(DESCRIBE_CLUSTER, 1, spoken, facts=facts)
    assert (answer.broker_software_name, answer.broker_software_version) == (name, version)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("endpoint_type", "error"),
    [
        (1, Errors.NONE),
        (2, Errors.MISMATCHED_ENDPOINT_TYPE),
        (0, Errors.UNSUPPORTED_ENDPOINT_TYPE),
        (3, Errors.UNSUPPORTED_ENDPOINT_TYPE),
    ],
)
def test_only_the_endpoint_type_of_brokers_is_answered(
    version: int, endpoint_type: int, error: Errors
) -> None:
    answer = ask(DESCRIBE_CLUSTER, version, RELEASED, {"endpoint_type": endpoint_type})
    assert answer.error_code == error
    assert (answer.error_message is None) == (error == Errors.NONE)
