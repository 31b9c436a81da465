"""A node's membership over the wire, with a controller that the test can make forget."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from rollcall.broker import broker_lifecycle as memberships
from rollcall.broker.broker_lifecycle import BrokerLifecycle
from rollcall.broker.controller import Controller
from rollcall.broker.controller_channel import internal_listener, linked
from rollcall.broker.handlers import NodeContext
from rollcall.broker.metadata_cache import Endpoint, LiveBroker
from rollcall.broker.registrations import Registrations
from rollcall.server import SocketServer
from tests.broker.running import until

SECRET = "between nodes"
BROKER = LiveBroker(2, (Endpoint("KIP", "127.0.0.1", 9, 0),), "rack", 1234)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memberships, "HEARTBEAT_SECONDS", 0.1)


@dataclass
class FakeController:
    """One that registers, and tells nobody."""

    roster: Registrations
    port: int = 0
    server: SocketServer = field(default_factory=SocketServer)

    async def open(self) -> None:
        controller = Controller(self.roster, link=lambda _: pytest.fail("no feeds"), expected=1)
        config = internal_listener("127.0.0.1", self.port, SECRET)
        listener = await self.server.open_listener(config, controller.handlers())
        self.port = listener.port

    @property
    def known(self) -> list[LiveBroker]:
        return list(self.roster.view.brokers)


def roster(epoch: int = 1, cluster_id: str = "a-cluster") -> Registrations:
    return Registrations(cluster_id, 1, controller_epoch=epoch, session_seconds=1.0)


@asynccontextmanager
async def member(controller: FakeController) -> AsyncIterator[BrokerLifecycle]:
    await controller.open()
    facts = NodeContext(node_id=2, cluster_id="a-cluster", start_time_ms=1234)
    joined = BrokerLifecycle(
        BROKER, facts, lambda: linked("127.0.0.1", controller.port, SECRET, "node-2")
    )
    task = asyncio.create_task(joined.keep())
    try:
        yield joined
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await controller.server.stop(grace_seconds=0)


async def test_a_node_registers_and_its_heartbeats_keep_it_there() -> None:
    controller = FakeController(roster())
    async with member(controller) as joined:
        await until(lambda: controller.known == [BROKER])
        await until(lambda: joined.facts.broker_epoch > 0)
        before = controller.roster.registered[0].heard_at
        await until(lambda: controller.roster.registered[0].heard_at > before + 0.3)
        assert controller.roster.registered[0].epoch == joined.facts.broker_epoch


async def test_a_node_that_was_forgotten_registers_again() -> None:
    controller = FakeController(roster())
    async with member(controller) as joined:
        await until(lambda: joined.facts.broker_epoch > 0)
        epoch = joined.facts.broker_epoch
        controller.roster.remove(controller.roster.registered)
        assert controller.known == []
        await until(lambda: controller.known == [BROKER])
        await until(lambda: joined.facts.broker_epoch > epoch)


async def test_a_node_finds_a_controller_that_was_restarted() -> None:
    controller = FakeController(roster(epoch=1))
    async with member(controller) as joined:
        await until(lambda: joined.facts.broker_epoch > 0)
        epoch = joined.facts.broker_epoch
        await controller.server.stop(grace_seconds=0)
        controller.server, controller.roster = SocketServer(), roster(epoch=2)
        await controller.open()
        await until(lambda: controller.known == [BROKER])
        await until(lambda: joined.facts.broker_epoch > epoch)


async def test_a_node_that_leaves_is_off_at_once_and_does_not_come_back() -> None:
    controller = FakeController(roster())
    async with member(controller) as joined:
        await until(lambda: joined.facts.broker_epoch > 0)
        await joined.leave()
        assert controller.known == []
        await asyncio.sleep(0.4)
        assert controller.known == []


async def test_to_leave_without_a_controller_is_no_trouble() -> None:
    controller = FakeController(roster())
    async with member(controller) as joined:
        await until(lambda: joined.facts.broker_epoch > 0)
        await controller.server.stop(grace_seconds=0)
        async with asyncio.timeout(2):
            await joined.leave()


async def test_a_node_that_is_refused_keeps_trying() -> None:
    controller = FakeController(roster(cluster_id="another"))
    async with member(controller) as joined:
        await asyncio.sleep(0.2)
        assert (controller.known, joined.facts.broker_epoch) == ([], -1)
        controller.roster.cluster_id = "a-cluster"
        await until(lambda: controller.known == [BROKER])
