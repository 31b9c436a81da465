"""One node in this process: start order, internal listener, request log."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rollcall.broker.config import INTERNAL, ClusterConfig, NodeConfig
from rollcall.broker.controller_channel import open_channel, send_request
from rollcall.broker.handlers import broker_registration
from rollcall.broker.metadata_cache import Endpoint, LiveBroker
from rollcall.broker.node import BrokerNode
from rollcall.broker.ports import HTTP, Ports
from rollcall.client import (
    Address,
    AuthenticationError,
    BrokerConnection,
    ClientError,
    ConnectionLostError,
    SaslConfig,
)
from rollcall.protocol import error_code
from tests.broker.running import PATIENCE, connect_client, get, wait_until
from tests.broker.running import send_request as send_client_request

SECRET = "known to the test and to the node"
METADATA, UPDATE_METADATA, API_VERSIONS, REGISTRATION, HEARTBEAT = 3, 6, 18, 62, 63


def node_config(directory: Path, **changes: Any) -> NodeConfig:
    cluster = changes.pop("cluster", ClusterConfig(brokers=1))
    reserved = Ports.reserve(cluster)
    reserved.release()
    ports = reserved.by_node[1]
    settings: dict[str, Any] = {
        "node_id": 1,
        "cluster": cluster,
        "cluster_id": "a-cluster",
        "ports": ports,
        "http_port": ports[HTTP],
        "directory": directory,
        "controller_id": 1,
        "controller_port": ports[INTERNAL],
        "starts": 1,
        "secret": SECRET,
    }
    return NodeConfig(**{**settings, **changes})


@asynccontextmanager
async def running(config: NodeConfig, *, opened: bool = True) -> AsyncIterator[BrokerNode]:
    """A node that is open to clients, or one that waits for its controller."""
    reports: asyncio.Queue[dict[str, object]] = asyncio.Queue()
    node, stop = BrokerNode(config, reports.put_nowait), asyncio.Event()
    task = asyncio.create_task(node.run(stop))
    try:
        async with asyncio.timeout(PATIENCE):
            while opened and not (await reports.get())["open"]:
                pass
        yield node
    finally:
        stop.set()
        await task


def internal(config: NodeConfig) -> Address:
    return Address("127.0.0.1", config.ports[INTERNAL])


async def log_in(
    config: NodeConfig, username: str, password: str, mechanism: str
) -> BrokerConnection:
    login = SaslConfig(mechanism=mechanism, username=username, password=password)
    return await connect_client(internal(config), sasl=login)


async def test_536_1_start_time_is_set_once(tmp_path: Path) -> None:
    before = time.time_ns() // 1_000_000
    async with running(node_config(tmp_path)) as node:
        after = time.time_ns() // 1_000_000
        address = Address("127.0.0.1", node.config.ports["PLAINTEXT"])
        start_times = [
            (await send_client_request(address, METADATA)).brokers[0].start_time_ms
            for _ in range(2)
        ]
        await asyncio.sleep(0.05)
        start_times.append((await send_client_request(address, METADATA)).brokers[0].start_time_ms)
    assert before <= start_times[0] <= after
    assert start_times == [start_times[0]] * 3


@pytest.mark.parametrize("key", [METADATA, UPDATE_METADATA, REGISTRATION, HEARTBEAT])
async def test_internal_listener_rejects_requests_without_a_login(tmp_path: Path, key: int) -> None:
    async with running(node_config(tmp_path)) as node:
        anonymous = await connect_client(internal(node.config))
        with pytest.raises(ConnectionLostError):
            await anonymous.request(key, 0)
        await anonymous.close()


@pytest.mark.parametrize(
    ("username", "password", "mechanism"),
    [
        ("cluster", "wrong", "SCRAM-SHA-256"),
        ("admin", SECRET, "SCRAM-SHA-256"),
        ("cluster", SECRET, "PLAIN"),
        ("cluster", SECRET, "SCRAM-SHA-512"),
    ],
)
async def test_internal_listener_admits_only_the_cluster_secret(
    tmp_path: Path, username: str, password: str, mechanism: str
) -> None:
    async with running(node_config(tmp_path)) as node:
        with pytest.raises(AuthenticationError):
            await log_in(node.config, username, password, mechanism)


async def test_internal_listener_lists_the_requests_within_the_cluster(tmp_path: Path) -> None:
    async with running(node_config(tmp_path)) as node:
        controller = await log_in(node.config, "cluster", SECRET, "SCRAM-SHA-256")
        await controller.close()
    listed = controller.versions.ranges.keys() - {17, 18, 36}
    assert listed == {UPDATE_METADATA, REGISTRATION, HEARTBEAT}
    assert controller.versions.dialect == "kip"


async def test_35_2_every_version_of_the_internal_listener_gets_a_valid_response(
    tmp_path: Path,
) -> None:
    async with running(node_config(tmp_path)) as node:
        channel = await log_in(node.config, "cluster", SECRET, "SCRAM-SHA-256")
        view, errors = node.context.cache.view, {}
        for key, offered in channel.versions.ranges.items():
            for version in range(offered.low, offered.high + 1):
                named = {"client_software_name": "a", "client_software_version": "1"}
                response = await channel.request(
                    key, version, **(named if key == API_VERSIONS else {})
                )
                errors.setdefault(key, set()).add(error_code(response.error_code).name)
        await channel.close()
        assert node.context.cache.view == view
    assert errors == {
        UPDATE_METADATA: {"STALE_CONTROLLER_EPOCH"},
        REGISTRATION: {"INCONSISTENT_CLUSTER_ID"},
        HEARTBEAT: {"BROKER_ID_NOT_REGISTERED"},
        API_VERSIONS: {"NONE"},
        17: {"ILLEGAL_SASL_STATE"},
        36: {"ILLEGAL_SASL_STATE"},
    }


async def test_node_that_is_not_the_controller_has_no_registration_api(tmp_path: Path) -> None:
    config = node_config(tmp_path, controller_id=2)
    async with running(config, opened=False), asyncio.timeout(PATIENCE):
        while True:
            try:
                node = await log_in(config, "cluster", SECRET, "SCRAM-SHA-256")
            except ClientError:
                await asyncio.sleep(0.02)
                continue
            break
        await node.close()
    assert node.versions.ranges.keys() - {17, 18, 36} == {UPDATE_METADATA}


async def test_client_listeners_open_after_the_first_view_of_the_controller(tmp_path: Path) -> None:
    """Only one of two nodes has registered, so the controller sends no view yet."""
    config = node_config(tmp_path, cluster=ClusterConfig(brokers=2))
    address = Address("127.0.0.1", config.ports["PLAINTEXT"])
    async with running(config, opened=False) as node, asyncio.timeout(PATIENCE):
        await wait_until(lambda: node.context.broker_epoch > 0)
        with pytest.raises(ClientError):
            await connect_client(address)
        second = LiveBroker(2, (Endpoint(INTERNAL, "127.0.0.1", config.ports[HTTP], 2),))
        async with open_channel(*internal(config), SECRET, "second") as channel:
            request = broker_registration.build_request(
                second, "a-cluster", node.lifecycle.incarnation
            )
            assert (await send_request(channel, broker_registration.KEY, request)).error_code == 0
        await wait_until(lambda: node.context.cache.view.controller_id == 1)
        await wait_until(lambda: "PLAINTEXT" in node.server.listeners)
        await (await connect_client(address)).close()


async def test_requests_within_the_cluster_are_not_in_the_request_log(tmp_path: Path) -> None:
    config = node_config(tmp_path)
    async with running(config) as node:
        await send_client_request(Address("127.0.0.1", config.ports["PLAINTEXT"]), METADATA)
        rows = await asyncio.to_thread(get, f"http://127.0.0.1:{config.http_port}/connections")
        assert INTERNAL not in rows
        assert node.context.broker_epoch > 0
    log = config.request_log.read_text(encoding="utf-8")
    assert '"METADATA"' in log
    assert "HEARTBEAT" not in log


async def test_node_that_cannot_listen_fails_with_a_hint(tmp_path: Path) -> None:
    first = node_config(tmp_path / "a")
    async with running(first):
        second = node_config(tmp_path / "b", ports=first.ports)
        with pytest.raises(Exception, match="cannot listen") as caught:
            await BrokerNode(second, lambda _: None).run(asyncio.Event())
    assert getattr(caught.value, "hint", None)
