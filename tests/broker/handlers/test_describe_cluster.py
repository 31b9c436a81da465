import pytest

from rollcall.broker.authorizer import NOT_REQUESTED, Authorizer, Operation
from rollcall.protocol import DIALECT_NAMES, KIP, RELEASED, Errors, dialect
from tests.broker.handlers.calling import call_handler, node

DESCRIBE_CLUSTER = 60
EVERY_VERSION = [
    (name, version)
    for name in DIALECT_NAMES
    for version in dialect(name).apis[DESCRIBE_CLUSTER].versions
]
WANTED = {"include_cluster_authorized_operations": True}


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
def test_700_1_every_version_has_cluster_controller_and_brokers(name: str, version: int) -> None:
    response = call_handler(DESCRIBE_CLUSTER, version, name)
    assert (response.error_code, response.error_message) == (Errors.NONE, None)
    assert (response.cluster_id, response.controller_id) == ("a-cluster", 1)
    assert [(b.broker_id, b.host, b.port, b.rack) for b in response.brokers] == [
        (1, "host1", 19092, "r1"),
        (2, "host2", 19092, None),
        (3, "host3", 19092, None),
    ]
    assert not any(b.is_fenced for b in response.brokers)


def test_700_1_describe_cluster_returns_the_addresses_of_the_listener() -> None:
    response = call_handler(DESCRIBE_CLUSTER, 1, KIP, listener="KIP")
    assert {b.port for b in response.brokers} == {19192}


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
def test_700_2_operations_are_returned_only_when_requested(name: str, version: int) -> None:
    requested = call_handler(DESCRIBE_CLUSTER, version, name, WANTED)
    plain = call_handler(DESCRIBE_CLUSTER, version, name)
    assert requested.cluster_authorized_operations == 8096
    assert plain.cluster_authorized_operations == NOT_REQUESTED


def test_700_2_operations_are_those_of_the_principal_and_0_without_describe() -> None:
    rules = Authorizer(allow={"User:alice": frozenset({Operation.DESCRIBE, Operation.ALTER})})
    alice = call_handler(DESCRIBE_CLUSTER, 0, RELEASED, WANTED, authorizer=rules)
    without_describe = call_handler(DESCRIBE_CLUSTER, 0, RELEASED, WANTED, authorizer=Authorizer())
    assert alice.cluster_authorized_operations == 1 << 8 | 1 << 7
    assert (without_describe.cluster_authorized_operations, without_describe.error_code) == (
        0,
        Errors.NONE,
    )


@pytest.mark.parametrize(("name", "version"), EVERY_VERSION)
def test_700_2_only_a_listener_that_requires_describe_refuses_the_request(
    name: str, version: int
) -> None:
    refused = call_handler(
        DESCRIBE_CLUSTER, version, name, authorizer=Authorizer(), require_describe=True
    )
    assert refused.error_code == Errors.CLUSTER_AUTHORIZATION_FAILED
    assert "DESCRIBE" in refused.error_message
    assert refused.brokers == ()


def test_885_1_software_is_in_the_fields_of_kip_1_and_not_in_kip_0() -> None:
    one, zero = call_handler(DESCRIBE_CLUSTER, 1, KIP), call_handler(DESCRIBE_CLUSTER, 0, KIP)
    assert (one.broker_software_name, one.broker_software_version) == ("rollcall", "1.2.3")
    assert (zero.broker_software_name, zero.broker_software_version) == (None, None)


@pytest.mark.parametrize("version", dialect(RELEASED).apis[DESCRIBE_CLUSTER].versions)
def test_software_is_in_tagged_fields_of_every_released_version(version: int) -> None:
    response = call_handler(DESCRIBE_CLUSTER, version, RELEASED)
    assert (response.broker_software_name, response.broker_software_version) == (
        "rollcall",
        "1.2.3",
    )


@pytest.mark.parametrize(
    ("name", "version"), [("", ""), ("Event Hubs é", None), (None, "v23.1\n"), (None, None)]
)
@pytest.mark.parametrize("dialect_name", [KIP, RELEASED])
def test_885_3_software_is_any_string_or_null(
    dialect_name: str, name: str | None, version: str | None
) -> None:
    context = node(software_name=name, software_version=version)
    response = call_handler(DESCRIBE_CLUSTER, 1, dialect_name, context=context)
    assert (response.broker_software_name, response.broker_software_version) == (name, version)


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
def test_endpoint_types_other_than_brokers_are_refused(
    version: int, endpoint_type: int, error: Errors
) -> None:
    response = call_handler(DESCRIBE_CLUSTER, version, RELEASED, {"endpoint_type": endpoint_type})
    assert response.error_code == error
    assert (response.error_message is None) == (error == Errors.NONE)
