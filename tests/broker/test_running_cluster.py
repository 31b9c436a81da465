"""A running cluster over the wire: responses of every node on both default listeners."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from rollcall import __version__
from rollcall.broker.handlers import CLIENT_HANDLERS
from rollcall.client import Address, AdminClient, ConnectionLostError
from rollcall.protocol import KIP, RELEASED, Errors, dialect
from tests.broker.running import RunningCluster, connect_client, send_request

PRODUCE, METADATA, UPDATE_METADATA, API_VERSIONS = 0, 3, 6, 18
DESCRIBE_CLUSTER, REGISTRATION, HEARTBEAT = 60, 62, 63
DIALECTS = {"PLAINTEXT": RELEASED, "KIP": KIP}
LISTED = [
    (listener, key, version)
    for listener, name in DIALECTS.items()
    for key in (*CLIENT_HANDLERS, API_VERSIONS)
    for version in dialect(name).apis[key].versions
]


def joined(values: Sequence[object]) -> str:
    return "-".join(map(str, values))


@pytest.mark.parametrize("case", LISTED, ids=joined)
async def test_35_2_every_listed_version_gets_a_valid_response(
    cluster: RunningCluster, case: tuple[str, int, int]
) -> None:
    listener, key, version = case
    named = {"client_software_name": "tester", "client_software_version": "1"}
    fields = {PRODUCE: {"acks": 1}, API_VERSIONS: named}.get(key, {})
    response = await send_request(cluster.address(2, listener), key, version, **fields)
    assert getattr(response, "error_code", 0) in (0, Errors.COORDINATOR_NOT_AVAILABLE)


@pytest.mark.parametrize("listener", DIALECTS)
async def test_35_1_api_versions_lists_the_registered_handlers(
    cluster: RunningCluster, listener: str
) -> None:
    response = await send_request(cluster.address(3, listener), API_VERSIONS, 0)
    listed = {
        (listener, row.api_key, version)
        for row in response.api_keys
        for version in range(row.min_version, row.max_version + 1)
    }
    assert listed == {case for case in LISTED if case[0] == listener}


@pytest.mark.parametrize("listener", DIALECTS)
@pytest.mark.parametrize("key", [UPDATE_METADATA, REGISTRATION, HEARTBEAT])
async def test_requests_within_the_cluster_are_refused_on_client_listeners(
    cluster: RunningCluster, listener: str, key: int
) -> None:
    connection = await connect_client(cluster.address(1, listener))
    try:
        assert key not in connection.versions.ranges
        with pytest.raises(ConnectionLostError):
            await connection.request(key, 0)
    finally:
        await connection.close()
    assert len((await send_request(cluster.address(1), METADATA)).brokers) == 3


@pytest.mark.parametrize(("listener", "version"), [("PLAINTEXT", 3), ("KIP", 3)])
async def test_dialect_is_reported_in_api_versions_3(
    cluster: RunningCluster, listener: str, version: int
) -> None:
    named = {"client_software_name": "tester", "client_software_version": "1"}
    response = await send_request(cluster.address(1, listener), API_VERSIONS, version, **named)
    assert response.dialect == ("kip" if listener == "KIP" else None)


@pytest.mark.parametrize("listener", DIALECTS)
@pytest.mark.parametrize("broker_id", [1, 2, 3])
async def test_700_1_every_node_returns_all_nodes_with_the_addresses_of_the_listener(
    cluster: RunningCluster, listener: str, broker_id: int
) -> None:
    expected = {b["id"]: Address.parse(b["listeners"][listener]) for b in cluster.brokers}
    metadata = await send_request(cluster.address(broker_id, listener), METADATA)
    described = await send_request(cluster.address(broker_id, listener), DESCRIBE_CLUSTER)
    assert {b.node_id: Address(b.host, b.port) for b in metadata.brokers} == expected
    assert {b.broker_id: Address(b.host, b.port) for b in described.brokers} == expected
    for response in (metadata, described):
        assert response.cluster_id == cluster.description["cluster_id"]
        assert response.controller_id == cluster.description["controller_id"] == 1


@pytest.mark.parametrize("listener", DIALECTS)
@pytest.mark.parametrize("version", [8, 9, 10])
async def test_700_2_metadata_8_to_10_returns_cluster_operations(
    cluster: RunningCluster, listener: str, version: int
) -> None:
    wanted = {"include_cluster_authorized_operations": True}
    response = await send_request(cluster.address(1, listener), METADATA, version, **wanted)
    assert response.cluster_authorized_operations == 8096


@pytest.mark.parametrize("listener", DIALECTS)
async def test_700_2_describe_cluster_returns_operations_when_requested(
    cluster: RunningCluster, listener: str
) -> None:
    address = cluster.address(1, listener)
    plain = await send_request(address, DESCRIBE_CLUSTER)
    requested = await send_request(
        address, DESCRIBE_CLUSTER, include_cluster_authorized_operations=True
    )
    assert plain.cluster_authorized_operations == -2147483648
    assert requested.cluster_authorized_operations == 8096


async def test_885_1_describe_cluster_1_of_kip_has_software_name_and_version(
    cluster: RunningCluster,
) -> None:
    response = await send_request(cluster.address(2, "KIP"), DESCRIBE_CLUSTER, 1)
    assert (response.broker_software_name, response.broker_software_version) == (
        "rollcall",
        __version__,
    )


@pytest.mark.parametrize("version", [0, 1, 2])
async def test_released_dialect_has_software_name_and_version_in_tagged_fields(
    cluster: RunningCluster, version: int
) -> None:
    response = await send_request(cluster.address(2), DESCRIBE_CLUSTER, version)
    assert (response.broker_software_name, response.broker_software_version) == (
        "rollcall",
        __version__,
    )


@pytest.mark.parametrize("listener", DIALECTS)
async def test_536_2_every_node_reports_the_same_start_times(
    cluster: RunningCluster, listener: str
) -> None:
    version = 10 if listener == "KIP" else 13
    start_times = [
        {b.node_id: b.start_time_ms for b in response.brokers}
        for broker_id in (1, 2, 3)
        for response in [
            await send_request(cluster.address(broker_id, listener), METADATA, version)
        ]
    ]
    assert start_times[0] == start_times[1] == start_times[2]
    assert all(started > 1_600_000_000_000 for started in start_times[0].values())


@pytest.mark.parametrize("broker_id", [1, 2, 3])
async def test_admin_client_returns_the_same_nodes_in_both_dialects(
    cluster: RunningCluster, broker_id: int
) -> None:
    seen = []
    for listener in DIALECTS:
        async with AdminClient([cluster.address(broker_id, listener)]) as client:
            described = await client.describe_cluster()
            seen.append([(node.id, node.start_time_ms) for node in described.nodes])
    assert seen[0] == seen[1]
    assert len(seen[0]) == 3


def test_cluster_start_json_describes_every_broker(cluster: RunningCluster) -> None:
    assert cluster.description.keys() == {"cluster_id", "controller_id", "brokers"}
    for broker in cluster.brokers:
        assert list(broker) == ["id", "pid", "rack", "listeners", "http", "request_log"]
        assert list(broker["listeners"]) == ["PLAINTEXT", "KIP"]
        assert broker["pid"] == cluster.pid_of(broker["id"])
        assert broker["rack"] is None
        assert Path(broker["request_log"]).name == "kafka-request.log"
