from collections.abc import Mapping

import pytest

from rollcall.client import AdminClient, BrokerError, UnsupportedError
from rollcall.protocol import KIP, Request, dialect
from tests.client.scripted import (
    DESCRIBE_CLUSTER,
    KIP_RANGES,
    METADATA,
    PATIENT,
    RELEASED_RANGES,
    ScriptedBroker,
    running,
)
from tests.protocol.server_conversation import ServerConversation

ALL_CLUSTER_OPERATIONS = {
    "CREATE", "ALTER", "DESCRIBE", "CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS",
    "IDEMPOTENT_WRITE",
}  # fmt: skip
STARTED = 1_700_000_000_123


def without(key: int, ranges: dict[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
    return {k: r for k, r in ranges.items() if k != key}


async def test_700_3_describe_cluster_uses_the_api_where_the_broker_has_it() -> None:
    broker = ScriptedBroker(start_time_ms=STARTED, software=("Kafka", "9.9"))
    async with running(broker) as [address], AdminClient([address], PATIENT) as client:
        cluster = await client.describe_cluster()
    assert (cluster.via.api, cluster.via.version, cluster.via.dialect) == (
        "DescribeCluster",
        2,
        "released",
    )
    assert cluster.cluster_id == "scripted"
    assert cluster.controller is not None
    assert (cluster.controller.id, cluster.controller.rack) == (1, "r1")
    assert cluster.controller.address == address
    assert (cluster.broker_software_name, cluster.broker_software_version) == ("Kafka", "9.9")
    assert cluster.authorized_operations is None


async def test_700_3_describe_cluster_uses_metadata_otherwise_and_reports_it() -> None:
    broker = ScriptedBroker(ranges=without(DESCRIBE_CLUSTER, RELEASED_RANGES))
    async with running(broker) as [address], AdminClient([address], PATIENT) as client:
        cluster = await client.describe_cluster()
    assert (cluster.via.api, cluster.via.version, cluster.via.dialect) == (
        "Metadata",
        13,
        "released",
    )
    assert [node.address for node in cluster.nodes] == [address]
    assert (cluster.broker_software_name, cluster.broker_software_version) == (None, None)


@pytest.mark.parametrize("version", range(14))
async def test_700_3_every_metadata_version_gives_the_same_brokers(version: int) -> None:
    broker = ScriptedBroker(ranges={METADATA: (version, version), 18: (0, 4)})
    async with running(broker) as [address], AdminClient([address], PATIENT) as client:
        cluster = await client.describe_cluster()
    assert (cluster.via.api, cluster.via.version) == ("Metadata", version)
    assert [(node.id, node.address) for node in cluster.nodes] == [(1, address)]
    assert cluster.cluster_id == ("scripted" if version >= 2 else None)
    assert cluster.controller_id == (1 if version >= 1 else None)


@pytest.mark.parametrize("dialect_name", ["released", KIP])
async def test_both_dialects_give_the_same_description(dialect_name: str) -> None:
    ranges = KIP_RANGES if dialect_name == KIP else RELEASED_RANGES
    broker = ScriptedBroker(
        ranges=ranges,
        dialect_name=dialect_name,
        start_time_ms=STARTED,
        software=("rollcall", "1.2"),
    )
    async with running(broker) as [address], AdminClient([address], PATIENT) as client:
        cluster = await client.describe_cluster(include_authorized_operations=True)
    assert cluster.via.dialect == dialect_name
    assert cluster.start_times_via is not None
    assert cluster.start_times_via.api == "Metadata"
    assert (cluster.nodes[0].rack, cluster.nodes[0].start_time_ms) == ("r1", STARTED)
    assert (cluster.broker_software_name, cluster.broker_software_version) == ("rollcall", "1.2")
    assert cluster.authorized_operations == ALL_CLUSTER_OPERATIONS


@pytest.mark.parametrize("start_time_ms", [0, -1, -(2**63)])
@pytest.mark.parametrize("ranges", [RELEASED_RANGES, without(DESCRIBE_CLUSTER, RELEASED_RANGES)])
async def test_536_4_start_time_is_0_for_a_broker_that_does_not_report_it(
    start_time_ms: int, ranges: Mapping[int, tuple[int, int]]
) -> None:
    broker = ScriptedBroker(ranges=ranges, start_time_ms=start_time_ms)
    async with running(broker) as [address], AdminClient([address], PATIENT) as client:
        cluster = await client.describe_cluster()
    assert cluster.nodes[0].start_time_ms == 0
    assert cluster.start_times_via is None


async def test_700_4_operations_come_from_the_highest_metadata_version_that_has_them() -> None:
    broker = ScriptedBroker(ranges=without(DESCRIBE_CLUSTER, RELEASED_RANGES))
    async with running(broker) as [address], AdminClient([address], PATIENT) as client:
        cluster = await client.describe_cluster(include_authorized_operations=True)
    assert cluster.via.version == 10
    assert cluster.authorized_operations == ALL_CLUSTER_OPERATIONS


@pytest.mark.parametrize("offered", [(11, 13), (0, 7)])
@pytest.mark.parametrize("dialect_name", ["released", KIP])
async def test_700_4_requesting_operations_from_a_metadata_version_without_them_is_an_error(
    offered: tuple[int, int], dialect_name: str
) -> None:
    broker = ScriptedBroker(ranges={METADATA: offered, 18: (0, 3)}, dialect_name=dialect_name)
    async with running(broker) as [address], AdminClient([address], PATIENT) as client:
        with pytest.raises(UnsupportedError, match="nor a usable Metadata 8-10"):
            await client.describe_cluster(include_authorized_operations=True)
        assert broker.versions_of(METADATA) == []
        assert (await client.describe_cluster()).authorized_operations is None


async def test_unknown_operations_are_shown_as_numbers() -> None:
    broker = ScriptedBroker(operations=1 << 20 | 1 << 8)
    async with running(broker) as [address], AdminClient([address], PATIENT) as client:
        cluster = await client.describe_cluster(include_authorized_operations=True)
    assert cluster.authorized_operations == {"DESCRIBE", "OPERATION_20"}


class ControllerListener(ScriptedBroker):
    def describe_cluster(self, request: Request, conversation: ServerConversation) -> object:
        body = super().describe_cluster(request, conversation)
        return body.replace(error_code=114, error_message="not \x1b[2Jthat endpoint")


async def test_error_code_of_a_response_is_an_error_with_its_name_and_a_hint() -> None:
    async with (
        running(ControllerListener()) as [address],
        AdminClient([address], PATIENT) as client,
    ):
        with pytest.raises(BrokerError, match="MISMATCHED_ENDPOINT_TYPE") as caught:
            await client.describe_cluster()
    assert caught.value.hint == "this is a controller listener: use the address of a broker"


async def test_metadata_request_names_no_topics_and_creates_none() -> None:
    broker = ScriptedBroker(ranges={METADATA: (0, 13), 18: (0, 4)})
    async with running(broker) as [address], AdminClient([address], PATIENT) as client:
        await client.describe_cluster()
    body = broker.requests[-1][1].body(dialect("released"))
    assert body.topics == ()
    assert not body.allow_auto_topic_creation
