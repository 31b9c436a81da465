"""One node in this process, with a secret that the test knows: who gets in, and in which order."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rollcall.broker.config import INTERNAL, ClusterConfig
from rollcall.broker.controller_channel import ask, linked
from rollcall.broker.handlers import broker_registration
from rollcall.broker.metadata_cache import Endpoint, LiveBroker
from rollcall.broker.node import BrokerNode
from rollcall.broker.node_config import NodeConfig
from rollcall.broker.ports import HTTP, Ports
from rollcall.client import (
    Address,
    AuthenticationError,
    ClientConfig,
    ClientError,
    Connection,
    ConnectionLostError,
    SaslConfig,
    open_connection,
)
from rollcall.protocol.error_codes import error_code
from tests.broker.running import PATIENCE, get, until
from tests.broker.running import ask as ask_once

SECRET = "known to the test and to the node"
METADATA, UPDATE_METADATA, API_VERSIONS, REGISTRATION, HEARTBEAT = 3, 6, 18, 62, 63


def node_config(folder: Path, **changes: Any) -> NodeConfig:
    cluster = changes.pop("cluster", ClusterConfig(brokers=1))
    taken = Ports.take(cluster)
    taken.release()
    ports = taken.by_node[1]
    settings: dict[str, Any] = {
        "node_id": 1,
        "cluster": cluster,
        "cluster_id": "a-cluster",
        "ports": ports,
        "http_port": ports[HTTP],
        "folder": folder,
        "controller_id": 1,
        "controller_port": ports[INTERNAL],
        "starts": 1,
        "secret": SECRET,
    }
    return NodeConfig(**{**settings, **changes})


@asynccontextmanager
async def running(config: NodeConfig, *, opened: bool = True) -> AsyncIterator[BrokerNode]:
    """A node that is open to clients, or one that waits for its controller."""
    told: asyncio.Queue[dict[str, object]] = asyncio.Queue()
    node, stop = BrokerNode(config, told.put_nowait), asyncio.Event()
    task = asyncio.create_task(node.run(stop))
    try:
        async with asyncio.timeout(PATIENCE):
            while opened and not (await told.get())["open"]:
                pass
        yield node
    finally:
        stop.set()
        await task


def internal(config: NodeConfig) -> Address:
    return Address("127.0.0.1", config.ports[INTERNAL])


async def let_in(config: NodeConfig, username: str, password: str, mechanism: str) -> Connection:
    login = SaslConfig(mechanism=mechanism, username=username, password=password)
    return await open_connection(internal(config), ClientConfig(sasl=login))


async def test_536_1_the_start_time_is_taken_once(tmp_path: Path) -> None:
    before = time.time_ns() // 1_000_000
    async with running(node_config(tmp_path)) as node:
        after = time.time_ns() // 1_000_000
        address = Address("127.0.0.1", node.config.ports["PLAINTEXT"])
        told = [(await ask_once(address, METADATA)).brokers[0].start_time_ms for _ in range(2)]
        await asyncio.sleep(0.05)
        told.append((await ask_once(address, METADATA)).brokers[0].start_time_ms)
    assert before <= told[0] <= after
    assert told == [told[0]] * 3


@pytest.mark.parametrize("key", [METADATA, UPDATE_METADATA, REGISTRATION, HEARTBEAT])
async def test_without_a_login_the_internal_listener_answers_nothing(
    tmp_path: Path, key: int
) -> None:
    async with running(node_config(tmp_path)) as node:
        stranger = await open_connection(internal(node.config), ClientConfig())
        with pytest.raises(ConnectionLostError):
            await stranger.request(key, 0)
        await stranger.close()


@pytest.mark.parametrize(
    ("username", "password", "mechanism"),
    [
        ("cluster", "a guess", "SCRAM-SHA-256"),
        ("admin", SECRET, "SCRAM-SHA-256"),
        ("cluster", SECRET, "PLAIN"),
        ("cluster", SECRET, "SCRAM-SHA-512"),
    ],
)
async def test_only_the_secret_of_the_cluster_opens_the_internal_listener(
    tmp_path: Path, username: str, password: str, mechanism: str
) -> None:
    async with running(node_config(tmp_path)) as node:
        with pytest.raises(AuthenticationError):
            await let_in(node.config, username, password, mechanism)


async def test_the_internal_listener_lists_what_the_cluster_says_to_itself(tmp_path: Path) -> None:
    async with running(node_config(tmp_path)) as node:
        controller = await let_in(node.config, "cluster", SECRET, "SCRAM-SHA-256")
        await controller.close()
    listed = controller.versions.ranges.keys() - {17, 18, 36}
    assert listed == {UPDATE_METADATA, REGISTRATION, HEARTBEAT}
    assert controller.versions.dialect == "kip"


async def test_35_2_every_version_listed_there_gets_a_valid_answer_and_changes_nothing(
    tmp_path: Path,
) -> None:
    async with running(node_config(tmp_path)) as node:
        link = await let_in(node.config, "cluster", SECRET, "SCRAM-SHA-256")
        view, errors = node.facts.cache.view, {}
        for key, offered in link.versions.ranges.items():
            for version in range(offered.low, offered.high + 1):
                named = {"client_software_name": "a", "client_software_version": "1"}
                answer = await link.request(key, version, **(named if key == API_VERSIONS else {}))
                errors.setdefault(key, set()).add(error_code(answer.error_code).name)
        await link.close()
        assert node.facts.cache.view == view
    assert errors == {
        UPDATE_METADATA: {"STALE_CONTROLLER_EPOCH"},
        REGISTRATION: {"INCONSISTENT_CLUSTER_ID"},
        HEARTBEAT: {"BROKER_ID_NOT_REGISTERED"},
        API_VERSIONS: {"NONE"},
        17: {"ILLEGAL_SASL_STATE"},
        36: {"ILLEGAL_SASL_STATE"},
    }


async def test_a_node_that_is_not_the_controller_takes_no_registrations(tmp_path: Path) -> None:
    config = node_config(tmp_path, controller_id=2)
    async with running(config, opened=False), asyncio.timeout(PATIENCE):
        while True:
            try:
                node = await let_in(config, "cluster", SECRET, "SCRAM-SHA-256")
            except ClientError:
                await asyncio.sleep(0.02)
                continue
            break
        await node.close()
    assert node.versions.ranges.keys() - {17, 18, 36} == {UPDATE_METADATA}


async def test_nobody_is_let_in_before_the_controller_has_spoken(tmp_path: Path) -> None:
    """Two are expected, one has come: the controller waits, and so does its own client listener."""
    config = node_config(tmp_path, cluster=ClusterConfig(brokers=2))
    address = Address("127.0.0.1", config.ports["PLAINTEXT"])
    async with running(config, opened=False) as node, asyncio.timeout(PATIENCE):
        await until(lambda: node.facts.broker_epoch > 0)
        with pytest.raises(ClientError):
            await open_connection(address, ClientConfig())
        second = LiveBroker(2, (Endpoint(INTERNAL, "127.0.0.1", config.ports[HTTP], 2),))
        async with linked(*internal(config), SECRET, "second") as link:
            request = broker_registration.write(second, "a-cluster", node.membership.incarnation)
            assert (await ask(link, broker_registration.KEY, request)).error_code == 0
        await until(lambda: node.facts.cache.view.controller_id == 1)
        await until(lambda: "PLAINTEXT" in node.server.listeners)
        await (await open_connection(address, ClientConfig())).close()


async def test_what_the_cluster_says_to_itself_is_not_in_the_request_log(tmp_path: Path) -> None:
    config = node_config(tmp_path)
    async with running(config) as node:
        await ask_once(Address("127.0.0.1", config.ports["PLAINTEXT"]), METADATA)
        rows = await asyncio.to_thread(get, f"http://127.0.0.1:{config.http_port}/connections")
        assert INTERNAL not in rows
        assert node.facts.broker_epoch > 0
    log = config.request_log.read_text(encoding="utf-8")
    assert '"METADATA"' in log
    assert "HEARTBEAT" not in log


async def test_a_node_that_cannot_listen_fails_with_a_hint(tmp_path: Path) -> None:
    first = node_config(tmp_path / "a")
    async with running(first):
        second = node_config(tmp_path / "b", ports=first.ports)
        with pytest.raises(Exception, match="cannot listen") as caught:
            await BrokerNode(second, lambda _: None).run(asyncio.Event())
    assert getattr(caught.value, "hint", None)
