"""The whole cluster over the wire: what every node answers, on both listeners."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from rollcall import __version__
from rollcall.broker.handlers import FOR_CLIENTS
from rollcall.client import Address, AdminClient, ConnectionLostError
from rollcall.protocol.dialects import KIP, RELEASED, dialect
from rollcall.protocol.error_codes import Errors
from tests.broker.running import RunningCluster, ask, connect_client

PRODUCE, METADATA, UPDATE_METADATA, API_VERSIONS = 0, 3, 6, 18
DESCRIBE_CLUSTER, REGISTRATION, HEARTBEAT = 60, 62, 63
DIALECTS = {"PLAINTEXT": RELEASED, "KIP": KIP}
ANSWERED = [
    (listener, key, version)
    for listener, name in DIALECTS.items()
    for key in (*FOR_CLIENTS, API_VERSIONS)
    for version in dialect(name).apis[key].versions
]


def named(values: Sequence[object]) -> str:
    return "-".join(map(str, values))


@pytest.mark.parametrize("case", ANSWERED, ids=named)
async def test_35_2_every_version_that_is_listed_gets_a_valid_answer(
    cluster: RunningCluster, case: tuple[str, int, int]
) -> None:
    listener, key, version = case
    named = {"client_software_name": "tester", "client_software_version": "1"}
    fields = {PRODUCE: {"acks": 1}, API_VERSIONS: named}.get(key, {})
    answer = await ask(cluster.address(2, listener), key, version, **fields)
    assert getattr(answer, "error_code", 0) in (0, Errors.COORDINATOR_NOT_AVAILABLE)


@pytest.mark.parametrize("listener", DIALECTS)
async def test_35_1_what_is_listed_is_what_was_walked_above(
    cluster: RunningCluster, listener: str
) -> None:
    answer = await ask(cluster.address(3, listener), API_VERSIONS, 0)
    listed = {
        (listener, row.api_key, version)
        for row in answer.api_keys
        for version in range(row.min_version, row.max_version + 1)
    }
    assert listed == {case for case in ANSWERED if case[0] == listener}


@pytest.mark.parametrize("listener", DIALECTS)
@pytest.mark.parametrize("key", [UPDATE_METADATA, REGISTRATION, HEARTBEAT])
async def test_what_the_cluster_says_to_itself_is_refused_from_clients(
    cluster: RunningCluster, listener: str, key: int
) -> None:
    connection = await connect_client(cluster.address(1, listener))
    try:
        assert key not in connection.versions.ranges
        with pytest.raises(ConnectionLostError):
            await connection.request(key, 0)
    finally:
        await connection.close()
    assert len((await ask(cluster.address(1), METADATA)).brokers) == 3


@pytest.mark.parametrize(("listener", "version"), [("PLAINTEXT", 3), ("KIP", 3)])
async def test_the_dialect_is_told_in_api_versions_3(
    cluster: RunningCluster, listener: str, version: int
) -> None:
    named = {"client_software_name": "tester", "client_software_version": "1"}
    answer = await ask(cluster.address(1, listener), API_VERSIONS, version, **named)
    assert answer.dialect == ("kip" if listener == "KIP" else None)


@pytest.mark.parametrize("listener", DIALECTS)
@pytest.mark.parametrize("broker_id", [1, 2, 3])
async def test_700_1_every_node_tells_all_nodes_at_the_addresses_of_that_listener(
    cluster: RunningCluster, listener: str, broker_id: int
) -> None:
    expected = {b["id"]: Address.parse(b["listeners"][listener]) for b in cluster.brokers}
    metadata = await ask(cluster.address(broker_id, listener), METADATA)
    described = await ask(cluster.address(broker_id, listener), DESCRIBE_CLUSTER)
    assert {b.node_id: Address(b.host, b.port) for b in metadata.brokers} == expected
    assert {b.broker_id: Address(b.host, b.port) for b in described.brokers} == expected
    for answer in (metadata, described):
        assert answer.cluster_id == cluster.description["cluster_id"]
        assert answer.controller_id == cluster.description["controller_id"] == 1


@pytest.mark.parametrize("listener", DIALECTS)
@pytest.mark.parametrize("version", [8, 9, 10])
async def test_700_2_metadata_8_to_10_tells_the_operations_of_the_cluster(
    cluster: RunningCluster, listener: str, version: int
) -> None:
    wanted = {"include_cluster_authorized_operations": True}
    answer = await ask(cluster.address(1, listener), METADATA, version, **wanted)
    assert answer.cluster_authorized_operations == 8096


@pytest.mark.parametrize("listener", DIALECTS)
async def test_700_2_describe_cluster_tells_operations_when_asked(
    cluster: RunningCluster, listener: str
) -> None:
    address = cluster.address(1, listener)
    plain = await ask(address, DESCRIBE_CLUSTER)
    asked = await ask(address, DESCRIBE_CLUSTER, include_cluster_authorized_operations=True)
    assert plain.cluster_authorized_operations == -2147483648
    assert asked.cluster_authorized_operations == 8096


async def test_885_1_describe_cluster_1_of_kip_tells_name_and_version_in_its_fields(
    cluster: RunningCluster,
) -> None:
    answer = await ask(cluster.address(2, "KIP"), DESCRIBE_CLUSTER, 1)
    assert (answer.broker_software_name, answer.broker_software_version) == (
        "rollcall",
        __version__,
    )


@pytest.mark.parametrize("version", [0, 1, 2])
async def test_the_released_dialect_tells_name_and_version_as_tags(
    cluster: RunningCluster, version: int
) -> None:
    answer = await ask(cluster.address(2), DESCRIBE_CLUSTER, version)
    assert (answer.broker_software_name, answer.broker_software_version) == (
        "rollcall",
        __version__,
    )


@pytest.mark.parametrize("listener", DIALECTS)
async def test_536_2_every_node_tells_the_same_start_times(
    cluster: RunningCluster, listener: str
) -> None:
    version = 10 if listener == "KIP" else 13
    told = [
        {b.node_id: b.start_time_ms for b in answer.brokers}
        for broker_id in (1, 2, 3)
        for answer in [await ask(cluster.address(broker_id, listener), METADATA, version)]
    ]
    assert told[0] == told[1] == told[2]
    assert all(started > 1_600_000_000_000 for started in told[0].values())


@pytest.mark.parametrize("broker_id", [1, 2, 3])
async def test_our_own_client_sees_the_same_through_either_dialect(
    cluster: RunningCluster, broker_id: int
) -> None:
    seen = []
    for listener in DIALECTS:
        async with AdminClient([cluster.address(broker_id, listener)]) as client:
            described = await client.describe_cluster()
            seen.append([(node.id, node.start_time_ms) for node in described.nodes])
    assert seen[0] == seen[1]
    assert len(seen[0]) == 3


def test_the_line_of_json_holds_what_a_script_needs(cluster: RunningCluster) -> None:
    assert cluster.description.keys() == {"cluster_id", "controller_id", "brokers"}
    for broker in cluster.brokers:
        assert list(broker) == ["id", "pid", "rack", "listeners", "http", "request_log"]
        assert list(broker["listeners"]) == ["PLAINTEXT", "KIP"]
        assert broker["pid"] == cluster.pid_of(broker["id"])
        assert broker["rack"] is None
        assert Path(broker["request_log"]).name == "kafka-request.log"
