"""The controller over the wire, with nodes of the test."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid4

import pytest

from rollcall.broker.config import INTERNAL
from rollcall.broker.controller import Controller
from rollcall.broker.controller_channel import internal_listener, open_channel
from rollcall.broker.handlers import update_metadata as update
from rollcall.broker.metadata_cache import ClusterView, Endpoint, LiveBroker
from rollcall.broker.registrations import Registrations
from rollcall.protocol import KIP, Errors, Message, VersionRange, dialect
from rollcall.server import RequestContext, SocketServer
from tests.broker.running import wait_until

SECRET = "between nodes"
Response = dialect(KIP).message_class("UpdateMetadataResponse")


@dataclass
class FakeNode:
    """A node that records the received views and their version."""

    node_id: int
    highest: int = 7
    received: list[tuple[int, ClusterView]] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    rejections: int = 0
    server: SocketServer = field(default_factory=SocketServer)
    port: int = 0

    async def open(self) -> None:
        config = replace(
            internal_listener("127.0.0.1", self.port, SECRET),
            versions={update.KEY: VersionRange(0, self.highest)},
        )
        listener = await self.server.open_listener(config, {update.KEY: self._receive})
        self.port = listener.port

    def _receive(self, context: RequestContext) -> Message:
        if self.rejections:
            self.rejections -= 1
            return Response(error_code=Errors.STALE_BROKER_EPOCH)
        self.received.append(
            (context.api_version, update.read_view(context.body, context.api_version))
        )
        self.epochs.append(context.body.broker_epoch)
        return Response()

    @property
    def broker(self) -> LiveBroker:
        endpoint = Endpoint(INTERNAL, "127.0.0.1", self.port, 2)
        return LiveBroker(self.node_id, (endpoint,), None, 1000 + self.node_id)

    @property
    def view(self) -> list[int]:
        """Broker ids in the last received view."""
        return [broker.id for broker in self.received[-1][1].brokers] if self.received else []


@dataclass
class FakeClock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def controlled(
    *nodes: FakeNode,
    expected: int | None = None,
    session_timeout: float = 600.0,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncIterator[Controller]:
    registrations = Registrations(
        "a-cluster", 1, controller_epoch=2, session_timeout=session_timeout
    )
    controller = Controller(
        registrations,
        lambda endpoint: open_channel(endpoint.host, endpoint.port, SECRET, "controller"),
        expected=len(nodes) if expected is None else expected,
        clock=clock,
    )
    for node in nodes:
        await node.open()
        register(controller, node)
    running = asyncio.create_task(controller.run())
    try:
        yield controller
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        for node in nodes:
            await node.server.stop(grace_seconds=0)


def register(controller: Controller, node: FakeNode, incarnation: UUID | None = None) -> int:
    now = controller.clock()
    error, epoch = controller.registrations.register(
        node.broker, "a-cluster", incarnation or uuid4(), now
    )
    assert error == Errors.NONE
    return epoch


def heartbeat(controller: Controller, node_id: int) -> bool:
    """Send a heartbeat of a registered node; whether it was accepted."""
    known = [r for r in controller.registrations.registered if r.broker.id == node_id]
    epoch = known[0].epoch if known else -1
    now = controller.clock()
    return (
        controller.registrations.heartbeat(node_id, epoch, shut_down=False, now=now) == Errors.NONE
    )


@pytest.mark.parametrize("highest", range(8))
async def test_536_2_node_receives_the_view_in_its_highest_version(highest: int) -> None:
    node = FakeNode(1, highest)
    async with controlled(node):
        await wait_until(lambda: node.received)
    version, view = node.received[0]
    assert version == highest
    assert [broker.start_time_ms for broker in view.brokers] == [1001 if highest >= 6 else 0]


async def test_every_node_receives_every_change() -> None:
    first, second, third = FakeNode(1), FakeNode(2), FakeNode(3)
    async with controlled(first, second) as controller:
        await wait_until(lambda: first.view == second.view == [1, 2])
        await third.open()
        register(controller, third)
        await wait_until(lambda: first.view == second.view == third.view == [1, 2, 3])
        epoch = controller.registrations.registered[1].epoch
        controller.registrations.heartbeat(2, epoch, shut_down=True, now=controller.clock())
        await wait_until(lambda: first.view == third.view == [1, 3])
        await third.server.stop(grace_seconds=0)


async def test_node_that_refuses_connections_is_unregistered_before_its_session_expires() -> None:
    first, second = FakeNode(1), FakeNode(2)
    async with controlled(first, second, session_timeout=600):
        await wait_until(lambda: first.view == [1, 2])
        await second.server.stop(grace_seconds=0)
        await wait_until(lambda: first.view == [1])


async def test_node_without_heartbeats_is_unregistered_when_its_session_expires() -> None:
    first, second, clock = FakeNode(1), FakeNode(2), FakeClock()
    async with controlled(first, second, session_timeout=10, clock=clock) as controller:
        await wait_until(lambda: first.view == [1, 2])
        clock.now = 8
        assert heartbeat(controller, 1)
        clock.now = 11
        await wait_until(lambda: first.view == [1])


async def test_node_stays_registered_when_only_its_connection_is_lost() -> None:
    node = FakeNode(1)
    async with controlled(node) as controller:
        await wait_until(lambda: node.received)
        before = controller.registrations.change
        old, node.server = node.server, SocketServer()
        await old.stop(grace_seconds=0)
        await node.open()
        await wait_until(lambda: len(node.received) == 2)
        assert controller.registrations.change == before


async def test_started_controller_sends_nothing_before_all_nodes_have_registered() -> None:
    first, second = FakeNode(1), FakeNode(2)
    async with controlled(first, expected=2) as controller:
        await asyncio.sleep(0.4)
        assert first.received == []
        await second.open()
        register(controller, second)
        await wait_until(lambda: first.view == second.view == [1, 2])
        assert len(first.received) == 1
        await second.server.stop(grace_seconds=0)


async def test_started_controller_waits_no_longer_than_one_session() -> None:
    node, clock = FakeNode(1), FakeClock()
    async with controlled(node, expected=2, session_timeout=10, clock=clock) as controller:
        await asyncio.sleep(0.4)
        clock.now = 9
        assert heartbeat(controller, 1)
        assert node.received == []
        clock.now = 11
        await wait_until(lambda: node.view == [1])


async def test_rejected_view_is_sent_again() -> None:
    node = FakeNode(1, rejections=2)
    async with controlled(node):
        await wait_until(lambda: node.view == [1])


async def test_node_that_registers_again_receives_its_new_epoch() -> None:
    node = FakeNode(1)
    async with controlled(node) as controller:
        await wait_until(lambda: node.received)
        epoch = register(controller, node)
        await wait_until(lambda: node.epochs[-1] == epoch)
        assert node.epochs[0] < epoch


async def test_node_without_an_internal_endpoint_does_not_affect_the_others() -> None:
    node = FakeNode(1)
    async with controlled(node, expected=2) as controller:
        unreachable = LiveBroker(2, ())
        controller.registrations.register(unreachable, "a-cluster", uuid4(), controller.clock())
        await wait_until(lambda: node.view == [1, 2])
