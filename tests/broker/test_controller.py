"""The controller over the wire, with nodes that are listeners of the test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid4

import pytest

from rollcall.broker.config import INTERNAL
from rollcall.broker.controller import Controller
from rollcall.broker.controller_channel import internal_listener, linked
from rollcall.broker.handlers import update_metadata as update
from rollcall.broker.metadata_cache import ClusterView, Endpoint, LiveBroker
from rollcall.broker.registrations import Registrations
from rollcall.protocol.dialects import KIP, dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.messages import Message
from rollcall.protocol.versions import VersionRange
from rollcall.server import RequestContext, SocketServer
from tests.broker.running import until

SECRET = "between nodes"
Response = dialect(KIP).message_class("UpdateMetadataResponse")


@dataclass
class FakeNode:
    """A node that writes down what it is told, and in which version."""

    node_id: int
    highest: int = 7
    heard: list[tuple[int, ClusterView]] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    refusals: int = 0
    server: SocketServer = field(default_factory=SocketServer)
    port: int = 0

    async def open(self) -> None:
        config = replace(
            internal_listener("127.0.0.1", self.port, SECRET),
            versions={update.KEY: VersionRange(0, self.highest)},
        )
        listener = await self.server.open_listener(config, {update.KEY: self._hear})
        self.port = listener.port

    def _hear(self, context: RequestContext) -> Message:
        if self.refusals:
            self.refusals -= 1
            return Response(error_code=Errors.STALE_BROKER_EPOCH)
        self.heard.append((context.api_version, update.read(context.body, context.api_version)))
        self.epochs.append(context.body.broker_epoch)
        return Response()

    @property
    def broker(self) -> LiveBroker:
        endpoint = Endpoint(INTERNAL, "127.0.0.1", self.port, 2)
        return LiveBroker(self.node_id, (endpoint,), None, 1000 + self.node_id)

    @property
    def view(self) -> list[int]:
        """The brokers it was last told of."""
        return [broker.id for broker in self.heard[-1][1].brokers] if self.heard else []


@asynccontextmanager
async def controlled(
    *nodes: FakeNode, expected: int | None = None, session_seconds: float = 30.0
) -> AsyncIterator[Controller]:
    roster = Registrations("a-cluster", 1, controller_epoch=2, session_seconds=session_seconds)
    controller = Controller(
        roster,
        lambda endpoint: linked(endpoint.host, endpoint.port, SECRET, "controller"),
        expected=len(nodes) if expected is None else expected,
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
    error, epoch = controller.roster.register(node.broker, "a-cluster", incarnation or uuid4(), now)
    assert error == Errors.NONE
    return epoch


def beats(controller: Controller, node_id: int) -> bool:
    """A heartbeat of a node that is on the roster; whether it counted."""
    known = [r for r in controller.roster.registered if r.broker.id == node_id]
    epoch = known[0].epoch if known else -1
    now = controller.clock()
    return controller.roster.heartbeat(node_id, epoch, leaving=False, now=now) == Errors.NONE


@pytest.mark.parametrize("highest", range(8))
async def test_536_2_a_node_is_told_in_the_highest_version_it_has(highest: int) -> None:
    node = FakeNode(1, highest)
    async with controlled(node):
        await until(lambda: node.heard)
    version, view = node.heard[0]
    assert version == highest
    assert [broker.start_time_ms for broker in view.brokers] == [1001 if highest >= 6 else 0]


async def test_every_node_is_told_of_every_change() -> None:
    first, second, third = FakeNode(1), FakeNode(2), FakeNode(3)
    async with controlled(first, second) as controller:
        await until(lambda: first.view == second.view == [1, 2])
        await third.open()
        register(controller, third)
        await until(lambda: first.view == second.view == third.view == [1, 2, 3])
        epoch = controller.roster.registered[1].epoch
        controller.roster.heartbeat(2, epoch, leaving=True, now=controller.clock())
        await until(lambda: first.view == third.view == [1, 3])
        await third.server.stop(grace_seconds=0)


async def test_a_node_where_nobody_listens_any_more_is_off_long_before_its_session_ends() -> None:
    first, second = FakeNode(1), FakeNode(2)
    async with controlled(first, second, session_seconds=30):
        await until(lambda: first.view == [1, 2])
        await second.server.stop(grace_seconds=0)
        await until(lambda: first.view == [1], seconds=2)


async def test_a_node_that_is_not_heard_is_off_when_its_session_ends() -> None:
    first, second = FakeNode(1), FakeNode(2)
    async with controlled(first, second, session_seconds=0.5) as controller:
        await until(lambda: beats(controller, 1) and beats(controller, 2) and first.view == [1, 2])
        await until(lambda: beats(controller, 1) and first.view == [1])


async def test_a_connection_that_was_only_cut_does_not_cost_a_node_its_place() -> None:
    node = FakeNode(1)
    async with controlled(node) as controller:
        await until(lambda: node.heard)
        before = controller.roster.change
        old, node.server = node.server, SocketServer()
        await old.stop(grace_seconds=0)
        await node.open()
        await until(lambda: len(node.heard) == 2)
        assert controller.roster.change == before


async def test_a_controller_that_has_just_started_waits_for_all_before_it_speaks() -> None:
    first, second = FakeNode(1), FakeNode(2)
    async with controlled(first, expected=2) as controller:
        await asyncio.sleep(0.4)
        assert first.heard == []
        await second.open()
        register(controller, second)
        await until(lambda: first.view == second.view == [1, 2])
        assert len(first.heard) == 1
        await second.server.stop(grace_seconds=0)


async def test_but_not_for_longer_than_a_session() -> None:
    node = FakeNode(1)
    async with controlled(node, expected=2, session_seconds=0.5) as controller:
        await until(lambda: beats(controller, 1) and node.view == [1])


async def test_a_view_that_was_refused_is_told_again() -> None:
    node = FakeNode(1, refusals=2)
    async with controlled(node):
        await until(lambda: node.view == [1])


async def test_a_node_that_registers_anew_is_told_with_its_new_epoch() -> None:
    node = FakeNode(1)
    async with controlled(node) as controller:
        await until(lambda: node.heard)
        epoch = register(controller, node)
        await until(lambda: node.epochs[-1] == epoch)
        assert node.epochs[0] < epoch


async def test_a_node_that_cannot_be_told_anything_does_not_stop_the_others() -> None:
    node = FakeNode(1)
    async with controlled(node, expected=2) as controller:
        nowhere = LiveBroker(2, ())
        controller.roster.register(nowhere, "a-cluster", uuid4(), controller.clock())
        await until(lambda: node.view == [1, 2])
