"""Registration and heartbeats of a node over the wire, with a controller of the test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from rollcall.broker import broker_lifecycle
from rollcall.broker.broker_lifecycle import BrokerLifecycle
from rollcall.broker.controller import Controller
from rollcall.broker.controller_channel import internal_listener, open_channel
from rollcall.broker.handlers import NodeContext
from rollcall.broker.metadata_cache import Endpoint, LiveBroker
from rollcall.broker.registrations import Registrations
from rollcall.server import SocketServer
from tests.broker.running import wait_until

SECRET = "between nodes"
BROKER = LiveBroker(2, (Endpoint("KIP", "127.0.0.1", 9, 0),), "rack", 1234)


@pytest.fixture(autouse=True)
def _short_heartbeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker_lifecycle, "HEARTBEAT_SECONDS", 0.1)


@dataclass
class FakeController:
    """A controller that sends no UpdateMetadata."""

    registrations: Registrations
    port: int = 0
    server: SocketServer = field(default_factory=SocketServer)

    async def open(self) -> None:
        controller = Controller(
            self.registrations, connect=lambda _: pytest.fail("sends nothing"), expected=1
        )
        config = internal_listener("127.0.0.1", self.port, SECRET)
        listener = await self.server.open_listener(config, controller.handlers())
        self.port = listener.port

    @property
    def registered(self) -> list[LiveBroker]:
        return list(self.registrations.view.brokers)


def new_registrations(epoch: int = 1, cluster_id: str = "a-cluster") -> Registrations:
    return Registrations(cluster_id, 1, controller_epoch=epoch, session_timeout=1.0)


@asynccontextmanager
async def running_lifecycle(controller: FakeController) -> AsyncIterator[BrokerLifecycle]:
    await controller.open()
    node = NodeContext(node_id=2, cluster_id="a-cluster", start_time_ms=1234)
    lifecycle = BrokerLifecycle(
        BROKER, node, lambda: open_channel("127.0.0.1", controller.port, SECRET, "node-2")
    )
    task = asyncio.create_task(lifecycle.run())
    try:
        yield lifecycle
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await controller.server.stop(grace_seconds=0)


async def test_node_registers_and_sends_heartbeats() -> None:
    controller = FakeController(new_registrations())
    async with running_lifecycle(controller) as lifecycle:
        await wait_until(lambda: controller.registered == [BROKER])
        await wait_until(lambda: lifecycle.node.broker_epoch > 0)
        before = controller.registrations.registered[0].last_heartbeat
        await wait_until(
            lambda: controller.registrations.registered[0].last_heartbeat > before + 0.3
        )
        assert controller.registrations.registered[0].epoch == lifecycle.node.broker_epoch


async def test_node_registers_again_when_its_registration_is_gone() -> None:
    controller = FakeController(new_registrations())
    async with running_lifecycle(controller) as lifecycle:
        await wait_until(lambda: lifecycle.node.broker_epoch > 0)
        epoch = lifecycle.node.broker_epoch
        controller.registrations.remove(controller.registrations.registered)
        assert controller.registered == []
        await wait_until(lambda: controller.registered == [BROKER])
        await wait_until(lambda: lifecycle.node.broker_epoch > epoch)


async def test_node_registers_at_a_restarted_controller() -> None:
    controller = FakeController(new_registrations(epoch=1))
    async with running_lifecycle(controller) as lifecycle:
        await wait_until(lambda: lifecycle.node.broker_epoch > 0)
        epoch = lifecycle.node.broker_epoch
        await controller.server.stop(grace_seconds=0)
        controller.server, controller.registrations = SocketServer(), new_registrations(epoch=2)
        await controller.open()
        await wait_until(lambda: controller.registered == [BROKER])
        await wait_until(lambda: lifecycle.node.broker_epoch > epoch)


async def test_node_that_shuts_down_is_unregistered_and_does_not_register_again() -> None:
    controller = FakeController(new_registrations())
    async with running_lifecycle(controller) as lifecycle:
        await wait_until(lambda: lifecycle.node.broker_epoch > 0)
        await lifecycle.shut_down()
        assert controller.registered == []
        await asyncio.sleep(0.4)
        assert controller.registered == []


async def test_node_shuts_down_without_a_controller() -> None:
    controller = FakeController(new_registrations())
    async with running_lifecycle(controller) as lifecycle:
        await wait_until(lambda: lifecycle.node.broker_epoch > 0)
        await controller.server.stop(grace_seconds=0)
        async with asyncio.timeout(60):
            await lifecycle.shut_down()


async def test_rejected_node_keeps_trying() -> None:
    controller = FakeController(new_registrations(cluster_id="another"))
    async with running_lifecycle(controller) as lifecycle:
        await asyncio.sleep(0.2)
        assert (controller.registered, lifecycle.node.broker_epoch) == ([], -1)
        controller.registrations.cluster_id = "a-cluster"
        await wait_until(lambda: controller.registered == [BROKER])
