"""The client and its commands against real Apache Kafka, from 0.8 to 4.3."""

import asyncio
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rollcall import __version__
from rollcall.catalog import Mode, Provenance, differences, listed_ranges, release_line
from rollcall.client import (
    Address,
    AdminClient,
    ApiVersionsOutcome,
    AuthenticationError,
    ClientConfig,
    FailureKind,
    NoStartTimeError,
    RollCall,
    SaslConfig,
    TlsConfig,
    UnsupportedError,
    roll_call,
    watch_restarts,
)
from tests.kafka.brokers import Machine, free_port
from tests.kafka.conftest import Cluster, Secured, settled_cluster
from tests.kafka.jars import Release

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(900)]

ALL_OF_A_CLUSTER = {
    "CREATE", "ALTER", "DESCRIBE", "CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS",
    "IDEMPOTENT_WRITE",
}  # fmt: skip
CONFIG = ClientConfig(broker_timeout=20, request_timeout=20)


async def call(cluster: Cluster, config: ClientConfig = CONFIG) -> RollCall:
    async with AdminClient(cluster.bootstrap, config) as client:
        return await roll_call(client)


def rollcall(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rollcall", *arguments],
        capture_output=True, text=True, check=False, timeout=60, input=stdin,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("zookeeper_cluster", Mode.ZOOKEEPER),
        ("kafka_3_9", Mode.KRAFT),
        ("kraft_cluster", Mode.KRAFT),
    ],
)
async def test_885_4_release_of_every_broker_is_inferred(
    name: str, mode: Mode, request: pytest.FixtureRequest
) -> None:
    cluster: Cluster = request.getfixturevalue(name)
    calls = await call(cluster)
    assert [row.node.id for row in calls.rows] == list(cluster.releases)
    for row in calls.rows:
        assert row.identity.provenance is Provenance.INFERRED
        assert (row.identity.name, row.identity.version) == (None, None)
        assert row.identity.inference is not None
        assert row.identity.inference.lines == (release_line(cluster.releases[row.node.id]).name,)
        assert row.identity.inference.mode is mode
        assert row.start_time_ms == 0


@pytest.mark.parametrize("name", ["zookeeper_cluster", "kafka_3_9"])
async def test_catalog_lists_what_real_brokers_list(
    name: str, request: pytest.FixtureRequest
) -> None:
    cluster: Cluster = request.getfixturevalue(name)
    for row in (await call(cluster)).rows:
        mode = row.identity.inference.mode if row.identity.inference else None
        expected = listed_ranges(cluster.releases[row.node.id], mode)
        assert differences(row.ranges, expected) == ()


@pytest.mark.parametrize(
    ("name", "via"),
    [
        ("zookeeper_cluster", {1: ("Metadata", 9), 2: ("DescribeCluster", 0)}),
        ("kafka_3_9", {1: ("DescribeCluster", 1)}),
        ("kraft_cluster", {1: ("DescribeCluster", 2), 2: ("DescribeCluster", 2)}),
        ("kafka_0_9", {1: ("Metadata", 0)}),
    ],
)
async def test_700_3_each_broker_gets_the_best_request_it_supports(
    name: str, via: dict[int, tuple[str, int]], request: pytest.FixtureRequest
) -> None:
    calls = await call(request.getfixturevalue(name))
    found = {row.node.id: (row.via.api, row.via.version) for row in calls.rows if row.via}
    assert {number: found[number] for number in via} == via


@pytest.mark.parametrize("name", ["zookeeper_cluster", "kafka_3_9", "kraft_cluster"])
async def test_700_4_cluster_without_authorizer_reports_all_operations(
    name: str, request: pytest.FixtureRequest
) -> None:
    cluster: Cluster = request.getfixturevalue(name)
    for address in cluster.bootstrap:
        async with AdminClient([address], CONFIG) as client:
            described = await client.describe_cluster(include_authorized_operations=True)
            assert described.authorized_operations == ALL_OF_A_CLUSTER


async def test_700_4_broker_without_operations_is_an_error(kafka_0_9: Cluster) -> None:
    async with AdminClient(kafka_0_9.bootstrap, CONFIG) as client:
        with pytest.raises(UnsupportedError, match="nor a usable Metadata 8-10"):
            await client.describe_cluster(include_authorized_operations=True)


@pytest.mark.parametrize(
    ("name", "outcome", "lines"),
    [
        ("kafka_0_8", ApiVersionsOutcome.CLOSED, {"0.8.0", "0.8.1", "0.8.2"}),
        ("kafka_0_9", ApiVersionsOutcome.TIMED_OUT, {"0.9"}),
    ],
)
async def test_35_10_brokers_before_0_10_are_asked_with_metadata_0(
    name: str, outcome: ApiVersionsOutcome, lines: set[str], request: pytest.FixtureRequest
) -> None:
    cluster: Cluster = request.getfixturevalue(name)
    [row] = (await call(cluster)).rows
    assert row.answered
    assert row.node.address == cluster.bootstrap[0]
    assert row.versions is not None
    assert row.versions.outcome is outcome
    assert row.identity.inference is not None
    assert set(row.identity.inference.lines) == lines


async def test_35_10_release_from_the_settings_is_used(kafka_0_9: Cluster) -> None:
    [row] = (await call(kafka_0_9, ClientConfig(release="0.9.0"))).rows
    assert row.identity.provenance is Provenance.CONFIGURED
    assert row.identity.version == "0.9.0"
    assert row.ranges == listed_ranges("0.9.0")


async def test_536_5_released_kafka_reports_no_start_time(kraft_cluster: Cluster) -> None:
    async with AdminClient(kraft_cluster.bootstrap, CONFIG) as client:
        with pytest.raises(NoStartTimeError, match="broker 1 at"):
            async for _ in watch_restarts(client, [1]):
                pass


async def test_885_2_suspended_broker_times_out_and_does_not_delay_the_others(
    zookeeper_cluster: Cluster,
) -> None:
    stopped = zookeeper_cluster.brokers[2]
    stopped.pause()
    try:
        calls = await call(zookeeper_cluster, ClientConfig(broker_timeout=3))
    finally:
        stopped.resume()
    assert {row.node.id: row.failure for row in calls.rows} == {
        1: None,
        2: FailureKind.NO_RESPONSE,
        3: None,
    }


async def test_35_6_versions_are_negotiated_again_after_an_upgrade(machine: Machine) -> None:
    broker, _ = machine.kraft_node(Release("3.9.1"), 1)
    broker.wait_until_listening()
    config = ClientConfig(request_timeout=20, backoff=0.2, rounds=20)
    async with AdminClient([Address("127.0.0.1", broker.port)], config) as client:
        before = await client.describe_cluster()
        broker.stop()
        broker.command = [*machine.java(Release("4.1.1")), *broker.command[-2:]]
        broker.start()
        try:
            await asyncio.to_thread(broker.wait_until_listening)
            after = await client.describe_cluster()
        finally:
            broker.stop()
    assert (before.via.api, before.via.version) == ("DescribeCluster", 1)
    assert (after.via.api, after.via.version) == ("DescribeCluster", 2)
    assert before.cluster_id == after.cluster_id


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
async def test_511_3_sasl_login_works(secured: Secured, mechanism: str) -> None:
    def config(password: str) -> ClientConfig:
        return ClientConfig(
            sasl=SaslConfig(mechanism=mechanism, username="alice", password=password)
        )

    async with AdminClient([secured.sasl], config("sesame")) as client:
        calls = await roll_call(client)
    assert [row.answered for row in calls.rows] == [True]
    async with AdminClient([secured.sasl], config("wrong")) as client:
        with pytest.raises(AuthenticationError, match="refused 'alice'"):
            await client.describe_cluster()


async def test_tls_listener_works(secured: Secured) -> None:
    tls = TlsConfig(ca_file=secured.ca_file)
    async with AdminClient([secured.tls], ClientConfig(tls=tls)) as client:
        [row] = (await roll_call(client)).rows
    assert row.answered
    assert row.identity.inference is not None
    assert row.identity.inference.lines == ("4.3",)


async def test_wrong_listener_is_an_error_with_a_hint(secured: Secured) -> None:
    quick = ClientConfig(request_timeout=3, api_versions_timeout=1, rounds=1)
    async with AdminClient([secured.tls], quick) as client:
        with pytest.raises(Exception, match=str(secured.tls.port)) as caught:
            await client.describe_cluster()
    assert "TLS" in f"{caught.value} {getattr(caught.value, 'hint', '')}"


def first(cluster: Cluster) -> str:
    return str(cluster.bootstrap[0])


def test_mixed_cluster_is_summarised(zookeeper_cluster: Cluster) -> None:
    shown = rollcall("brokers", first(zookeeper_cluster))
    assert shown.returncode == 0, shown.stderr
    assert "3 brokers, Apache Kafka 2.4 to 3.0" in shown.stdout
    assert "warning: the brokers do not all run the same software" in shown.stderr
    assert "1970" not in shown.stdout


def test_35_7_broker_that_lacks_a_feature_is_named(zookeeper_cluster: Cluster) -> None:
    found = json.loads(rollcall("features", first(zookeeper_cluster), "--json").stdout)
    describe = next(f for f in found["features"] if f["id"] == "describe-cluster")
    assert describe["usable"] == "no"
    assert [(one["broker"], one["api_key"]) for one in describe["missing_requirements"]] == [
        (1, 60)
    ]


def test_broker_is_compared_with_a_release(kafka_3_9: Cluster) -> None:
    same = rollcall("api-versions", first(kafka_3_9), "--compare", "3.9.1")
    other = rollcall("api-versions", first(kafka_3_9), "--compare", "4.0.0")
    assert (other.returncode, "*" in other.stdout) == (3, True)
    assert (same.returncode, "*" in same.stdout) == (0, False), same.stdout
    assert "Kafka 3.9.1" in same.stdout


def test_api_versions_stored_as_json_are_identified(kraft_cluster: Cluster) -> None:
    found = json.loads(rollcall("brokers", first(kraft_cluster), "--json").stdout)
    for broker, line in zip(found["brokers"], ("4.1", "4.3"), strict=True):
        result = rollcall("identify", stdin=json.dumps(broker))
        assert result.stdout.startswith(f"Apache Kafka {line} (inferred)"), result.stdout


def test_536_5_wait_restart_fails_at_once_without_a_start_time(kafka_3_9: Cluster) -> None:
    result = rollcall("wait-restart", first(kafka_3_9), "--all")
    assert result.returncode == 4
    assert "does not report its start time" in result.stderr


def test_java_properties_open_a_sasl_listener(secured: Secured, tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_text(
        f"bootstrap.servers={secured.sasl}\nsecurity.protocol=SASL_PLAINTEXT\n"
        "sasl.mechanism=SCRAM-SHA-512\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n"
        '  username="alice" \\\n  password="sesame";\n'
    )
    shown = rollcall("brokers", "--config", str(path))
    assert shown.returncode == 0, shown.stderr
    assert "4.3" in shown.stdout


def test_885_2_killed_broker_is_a_row_with_the_failure(kraft_cluster: Cluster) -> None:
    """Also after the controller fenced it: 4.x brokers list fenced brokers."""
    killed = kraft_cluster.brokers[2]
    killed.stop()
    try:
        deadline, fenced = time.monotonic() + 60, False
        while not fenced and time.monotonic() < deadline:
            shown = rollcall("brokers", first(kraft_cluster), "--json")
            assert shown.returncode == 3, shown.stderr
            [alive, dead] = json.loads(shown.stdout)["brokers"]
            assert (alive["answered"], dead["answered"]) == (True, False)
            assert (dead["host"], dead["failure"]) == ("127.0.0.1", "refused")
            fenced = dead["fenced"]
            time.sleep(0.5)
    finally:
        killed.start()
        killed.wait_until_listening()
        settled_cluster(kraft_cluster)
    assert fenced


async def test_511_1_real_broker_logs_our_name(kafka_3_9: Cluster) -> None:
    await call(kafka_3_9)
    log = kafka_3_9.brokers[1].log.read_text(encoding="utf-8", errors="replace")
    ours = f'"softwareName":"rollcall","softwareVersion":"{__version__}"'
    assert '"requestApiKeyName":"DESCRIBE_CLUSTER"' in log
    assert ours in log


async def test_controller_listener_is_distinguished_from_a_broker_listener(
    kafka_3_9: Cluster,
) -> None:
    settings = (kafka_3_9.brokers[1].home / "server.properties").read_text(encoding="utf-8")
    [port] = re.findall(r"CONTROLLER://127\.0\.0\.1:(\d+)", settings)
    result = rollcall("brokers", f"127.0.0.1:{port}")
    assert result.returncode == 1
    assert "this is a controller listener: use the address of a broker" in result.stderr


def test_unused_address_exits_with_1() -> None:
    result = rollcall("brokers", str(Address("127.0.0.1", free_port())))
    assert (result.returncode, result.stdout) == (1, "")
    assert "refused the connection" in result.stderr
