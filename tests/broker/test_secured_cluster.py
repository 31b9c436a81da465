"""A running cluster with SASL, TLS and an authorizer, queried with the admin client."""

import pytest

from rollcall.client import (
    AuthenticationError,
    BrokerConnection,
    SaslConfig,
    TlsConfig,
    UnreachableError,
    UnsupportedError,
)
from rollcall.protocol import Errors
from tests.broker.running import RunningCluster, connect_client, send_request
from tests.broker.secured import PASSWORDS, Secured

METADATA, FETCH, SASL_HANDSHAKE, SASL_AUTHENTICATE, DESCRIBE_CLUSTER = 3, 1, 17, 36, 60
MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
OPERATIONS = {"include_cluster_authorized_operations": True}


def login(name: str, mechanism: str = "SCRAM-SHA-256", password: str | None = None) -> SaslConfig:
    return SaslConfig(mechanism=mechanism, username=name, password=password or PASSWORDS[name])


async def operations(connection: BrokerConnection) -> tuple[int, int]:
    """Error code and authorized operations of DescribeCluster."""
    try:
        response = await connection.request(DESCRIBE_CLUSTER, 0, **OPERATIONS)
    finally:
        await connection.close()
    return response.error_code, response.cluster_authorized_operations


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("listener", ["SASL_PLAINTEXT", "SASL_SSL"])
async def test_users_log_in_with_every_mechanism_and_are_registered_with_their_principal(
    secured_cluster: RunningCluster, secured: Secured, listener: str, mechanism: str
) -> None:
    tls = TlsConfig(ca_file=secured.authority) if listener.endswith("SSL") else None
    name = f"{listener}-{mechanism}"
    connection = await connect_client(
        secured_cluster.address(1, listener),
        sasl=login("alice", mechanism),
        tls=tls,
        client_id=name,
    )
    response = await connection.request(METADATA, 9)
    (row,) = (row for row in secured_cluster.connections() if row["client_id"] == name)
    await connection.close()
    assert (row["principal"], row["software_name"]) == ("User:alice", "rollcall")
    assert (row["listener"], row["security_protocol"]) == (listener, listener)
    assert {b.port for b in response.brokers} == {
        secured_cluster.address(node, listener).port for node in (1, 2)
    }


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_wrong_password_is_an_authentication_error(
    secured_cluster: RunningCluster, mechanism: str
) -> None:
    with pytest.raises(AuthenticationError):
        await connect_client(
            secured_cluster.address(1, "SASL_PLAINTEXT"),
            sasl=login("alice", mechanism, password="wrong"),
        )


async def test_mechanism_that_the_listener_lacks_is_an_authentication_error(
    secured_cluster: RunningCluster,
) -> None:
    with pytest.raises(AuthenticationError, match="UNSUPPORTED_SASL_MECHANISM"):
        await connect_client(secured_cluster.address(1, "STRICT"), sasl=login("alice"))


async def test_sasl_apis_are_listed_on_sasl_listeners_only_and_refused_after_the_login(
    secured_cluster: RunningCluster,
) -> None:
    plain = await connect_client(secured_cluster.address(1))
    await plain.close()
    assert not {SASL_HANDSHAKE, SASL_AUTHENTICATE} & plain.versions.ranges.keys()
    logged_in = await connect_client(
        secured_cluster.address(1, "SASL_PLAINTEXT"), sasl=login("bob")
    )
    errors = [
        (await logged_in.request(key, version)).error_code
        for key, versions in ((SASL_HANDSHAKE, (0, 1)), (SASL_AUTHENTICATE, (0, 1, 2)))
        for version in versions
    ]
    await logged_in.close()
    assert set(errors) == {Errors.ILLEGAL_SASL_STATE}


async def test_principal_comes_from_the_client_certificate(
    secured_cluster: RunningCluster, secured: Secured
) -> None:
    for listener in ("SSL", "MUTUAL"):
        tls = TlsConfig(ca_file=secured.authority, certificate_file=secured.certificate)
        name = f"certificate-{listener}"
        address = secured_cluster.address(2, listener)
        connection = await connect_client(address, tls=tls, client_id=name)
        (row,) = (row for row in secured_cluster.connections() if row["client_id"] == name)
        await connection.close()
        assert row["principal"].startswith("User:")
        assert "CN=carol" in row["principal"]


async def test_35_5_api_versions_is_hidden_without_a_required_client_certificate(
    secured_cluster: RunningCluster, secured: Secured
) -> None:
    tls = TlsConfig(ca_file=secured.authority)
    with pytest.raises(UnreachableError, match=r"failed: .*CERTIFICATE_REQUIRED"):
        await connect_client(secured_cluster.address(1, "MUTUAL"), tls=tls)
    anonymous = await connect_client(secured_cluster.address(1, "SSL"), tls=tls)
    await anonymous.close()


@pytest.mark.parametrize(
    ("listener", "user", "expected"),
    [
        ("SASL_PLAINTEXT", "alice", (Errors.NONE, 1 << 8 | 1 << 5)),
        ("SASL_PLAINTEXT", "bob", (Errors.NONE, 0)),
        ("SASL_PLAINTEXT", "root", (Errors.NONE, 8096)),
        ("STRICT", "alice", (Errors.NONE, 1 << 8 | 1 << 5)),
        ("STRICT", "bob", (Errors.CLUSTER_AUTHORIZATION_FAILED, -2147483648)),
        ("PLAINTEXT", None, (Errors.NONE, 0)),
        ("EMPTY", None, (Errors.NONE, 8096)),
    ],
)
async def test_700_2_operations_depend_on_principal_and_listener(
    secured_cluster: RunningCluster, listener: str, user: str | None, expected: tuple[int, int]
) -> None:
    sasl = login(user, "PLAIN") if user else None
    connection = await connect_client(secured_cluster.address(1, listener), sasl=sasl)
    assert await operations(connection) == expected


async def test_35_4_listener_can_send_an_empty_response_to_unsupported_requests(
    secured_cluster: RunningCluster,
) -> None:
    connection = await connect_client(secured_cluster.address(1, "EMPTY"))
    try:
        with pytest.raises(UnsupportedError, match="request not supported by the broker"):
            await connection.request(FETCH, 4)
        assert len((await connection.request(METADATA, 9)).brokers) == 2
    finally:
        await connection.close()


async def test_885_2_software_is_that_of_the_node_that_responds(
    secured_cluster: RunningCluster,
) -> None:
    responses = [
        await send_request(secured_cluster.address(node, "KIP"), DESCRIBE_CLUSTER, 1)
        for node in (1, 2)
    ]
    assert [response.broker_software_name for response in responses] == ["Kafka of tomorrow", None]
    assert responses[1].broker_software_version is None
    assert [broker.rack for broker in responses[1].brokers] == ["east", "west"]


def test_cluster_start_json_has_every_listener_and_rack(secured_cluster: RunningCluster) -> None:
    assert [broker["rack"] for broker in secured_cluster.brokers] == ["east", "west"]
    assert list(secured_cluster.broker(1)["listeners"]) == [
        "PLAINTEXT", "KIP", "SASL_PLAINTEXT", "SSL", "MUTUAL", "SASL_SSL", "STRICT", "EMPTY",
    ]  # fmt: skip
