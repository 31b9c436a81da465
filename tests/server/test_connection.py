import asyncio
import logging
import struct

import pytest

from rollcall.protocol.dialects import KIP
from rollcall.protocol.errors import RemoteProtocolError
from rollcall.protocol.framing import frame
from rollcall.protocol.messages import Message
from rollcall.server import Listener, ListenerConfig, OnUnsupported, RequestContext, SocketServer
from rollcall.server.connection import Connection
from tests.server.wire import (
    API_VERSIONS,
    DESCRIBE_CLUSTER,
    HANDLERS,
    METADATA,
    Peer,
    describe_cluster,
    eventually,
    metadata,
    metric,
    named,
    only_listener,
    request,
    response,
    served,
)

FETCH = 1


def unsupported(api_key: int, version: int, correlation_id: int = 9) -> bytes:
    return frame([struct.pack(">hhih", api_key, version, correlation_id, -1)])


@pytest.mark.parametrize(
    ("api_key", "version", "said"),
    [
        (METADATA, 99, "Metadata (key 3) version 99, supported is 0-13"),
        (METADATA, -1, "Metadata (key 3) version -1, supported is 0-13"),
        (FETCH, 4, "Fetch (key 1) version 4, supported is no version of it"),
        (17, 1, "SaslHandshake (key 17) version 1, supported is no version of it"),
        (16, 4, "ListGroups (key 16) version 4, supported is no version of it"),
        (999, 0, "an unknown API (key 999) version 0, supported is no version of it"),
        (-5, 0, "an unknown API (key -5) version 0, supported is no version of it"),
    ],
)
async def test_35_4_an_unsupported_request_closes_with_one_line_and_a_count(
    api_key: int, version: int, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with served() as server:
        for _ in range(3):
            async with await Peer.connect(only_listener(server)) as peer:
                peer.writer.write(unsupported(api_key, version))
                assert await peer.until_closed() == b""
                address = peer.writer.get_extra_info("sockname")
        lines = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
        assert len(lines) == 1, "once per cause, not once per request"
        assert said in lines[0]
        assert f"{address[0]}:" in lines[0]
        labels = {"listener": "PLAINTEXT", "reason": "unsupported_request"}
        assert metric(server, "rollcall_refused_total", **labels) == 3
        assert len(server.registry) == 0


async def test_35_4_each_version_that_a_peer_tries_has_a_line_of_its_own(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served() as server:
        for version in (14, 15, 15):
            async with await Peer.connect(only_listener(server)) as peer:
                peer.writer.write(unsupported(METADATA, version))
                assert await peer.until_closed() == b""
    lines = [r.getMessage() for r in caplog.records if "supported is" in r.getMessage()]
    assert [line.partition("version ")[2] for line in lines] == [
        "14, supported is 0-13",
        "15, supported is 0-13",
    ]


async def test_35_4_the_sub_proposal_answers_with_the_correlation_id_alone() -> None:
    config = ListenerConfig(name="L", on_unsupported=OnUnsupported.EMPTY)
    async with (
        served(None, config) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        for number in (1, -7):
            peer.writer.write(unsupported(FETCH, 99, number))
            assert await peer.frame() == struct.pack(">i", number)
        assert (await peer.ask(METADATA, 9, request("Metadata"))).controller_id == 1


async def test_requests_are_answered_when_they_come_byte_by_byte() -> None:
    async with served() as server, await Peer.connect(only_listener(server)) as peer:
        wire = peer.talk.send(API_VERSIONS, 3, named())[1]
        wire += peer.talk.send(METADATA, 9, request("Metadata"))[1]
        peer.writer.transport.get_extra_info("socket").setsockopt(6, 1, 1)
        for byte in wire:
            peer.writer.write(bytes([byte]))
            await asyncio.sleep(0)
        assert (await peer.next_answer()).request.api.key == API_VERSIONS
        assert (await peer.next_answer()).request.api.key == METADATA


async def test_pipelined_requests_are_answered_in_their_order_also_when_some_take_longer() -> None:
    running = most = 0

    async def slow(context: RequestContext) -> Message:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001 * (context.request.correlation_id % 3))
        running -= 1
        return describe_cluster(context)

    async with (
        served(handlers={METADATA: metadata, DESCRIBE_CLUSTER: slow}) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        kinds = [METADATA, DESCRIBE_CLUSTER, DESCRIBE_CLUSTER, API_VERSIONS] * 50
        bodies = {
            METADATA: request("Metadata"),
            DESCRIBE_CLUSTER: request("DescribeCluster"),
            API_VERSIONS: request("ApiVersions"),
        }
        for key in kinds:
            peer.send(key, 0, bodies[key])
        answers = [(await peer.next_answer()).call for _ in kinds]
    assert [call.api.key for call in answers] == kinds
    assert [call.correlation_id for call in answers] == list(range(200))
    assert most == 1, "as in Kafka, one request of a connection is in work at a time"


@pytest.mark.parametrize("slowly", [False, True])
@pytest.mark.parametrize("good", [1, 2, 100])
async def test_requests_before_a_length_that_makes_no_sense_are_answered_as_if_it_came_later(
    good: int, slowly: bool
) -> None:
    async def slow(context: RequestContext) -> Message:
        await asyncio.sleep(0)
        return metadata(context)

    async with (
        served(handlers={METADATA: slow if slowly else metadata}) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        wires = [peer.talk.send(METADATA, 9, request("Metadata"))[1] for _ in range(good)]
        peer.writer.write(b"".join(wires) + struct.pack(">i", -5))
        for number in range(good):
            assert (await peer.next_answer()).request.correlation_id == number
        assert await peer.until_closed() == b""
        labels = {"listener": "PLAINTEXT", "reason": "frame_size"}
        assert metric(server, "rollcall_refused_total", **labels) == 1


async def test_a_handler_that_fails_ends_its_connection_and_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_: RequestContext) -> Message:
        raise ValueError("a bug in a handler")

    async def later(_: RequestContext) -> Message:
        await asyncio.sleep(0)
        raise RemoteProtocolError("a peer of the handler's own")

    async with served(handlers={METADATA: broken, DESCRIBE_CLUSTER: later}) as server:
        listener = only_listener(server)
        async with await Peer.connect(listener) as other:
            for key, name in ((METADATA, "Metadata"), (DESCRIBE_CLUSTER, "DescribeCluster")):
                async with await Peer.connect(listener) as peer:
                    peer.send(key, 0, request(name))
                    assert await peer.until_closed() == b""
            assert (await other.ask(API_VERSIONS, 0, request("ApiVersions"))).error_code == 0
        labels = {"listener": "PLAINTEXT", "reason": "handler_error"}
        assert metric(server, "rollcall_refused_total", **labels) == 2
    assert "a bug in a handler" in caplog.text


async def test_a_fault_of_ours_that_happens_again_and_again_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(_: RequestContext) -> Message:
        raise ValueError("a bug in a handler")

    async with served(handlers={METADATA: broken}) as server:
        for _ in range(5):
            async with await Peer.connect(only_listener(server)) as peer:
                peer.send(METADATA, 0, request("Metadata"))
                assert await peer.until_closed() == b""
    assert caplog.text.count("Traceback") == 1


async def test_an_answer_that_cannot_be_written_is_our_bug_and_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with (
        served(handlers={METADATA: lambda _: response("DescribeCluster")}) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        peer.send(METADATA, 0, request("Metadata"))
        assert await peer.until_closed() == b""
    assert "MetadataResponse version 0 (released) was given DescribeClusterResponse" in caplog.text


async def test_a_handler_may_send_nothing() -> None:
    async with (
        served(handlers={METADATA: lambda _: None}) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        peer.writer.write(peer.talk.send(METADATA, 0, request("Metadata"))[1])
        peer.talk._calls.clear()
        assert (await peer.ask(API_VERSIONS, 0, request("ApiVersions"))).error_code == 0


async def test_work_for_a_client_that_is_gone_is_cancelled() -> None:
    ended = []

    async def endless(_: RequestContext) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async with served(handlers={METADATA: endless}) as server:
        peer = await Peer.connect(only_listener(server))
        peer.send(METADATA, 0, request("Metadata"))
        await peer.writer.drain()
        await eventually(lambda: any(c._work for c in server._processor.connections))
        peer.writer.transport.abort()
        await eventually(lambda: ended and not len(server.registry))
    assert ended == ["cancelled"]


async def test_others_are_served_between_the_requests_that_a_client_sends_at_once() -> None:
    seen: list[str | None] = []

    def note(context: RequestContext) -> Message:
        seen.append(context.request.client_id)
        return metadata(context)

    async with (
        served(handlers={METADATA: note}) as server,
        await Peer.connect(only_listener(server), "many") as many,
        await Peer.connect(only_listener(server), "one") as one,
    ):
        await many.ask(API_VERSIONS, 0, request("ApiVersions"))
        await one.ask(API_VERSIONS, 0, request("ApiVersions"))
        for _ in range(2000):
            many.send(METADATA, 1, request("Metadata", topics=None))
        one.send(METADATA, 1, request("Metadata", topics=None))
        await one.next_answer()
        for _ in range(2000):
            await many.next_answer()
    assert seen.index("one") < 1000


async def test_a_client_that_closes_its_own_end_still_gets_the_answers() -> None:
    async with served() as server, await Peer.connect(only_listener(server)) as peer:
        for _ in range(500):
            peer.send(METADATA, 1, request("Metadata", topics=None))
        peer.writer.write_eof()
        for _ in range(500):
            await peer.next_answer()
        assert await peer.until_closed() == b""
        await eventually(lambda: len(server.registry) == 0)


async def test_a_client_that_does_not_read_is_not_read_either() -> None:
    served_requests = 0

    def large(_: RequestContext) -> Message:
        nonlocal served_requests
        served_requests += 1
        return response("DescribeCluster", cluster_id="x" * 30_000)

    async with (
        served(handlers={DESCRIBE_CLUSTER: large}) as server,
        await Peer.connect(only_listener(server), limit=1024) as peer,
    ):
        for _ in range(5000):
            peer.send(DESCRIBE_CLUSTER, 0, request("DescribeCluster"))
        peer.writer.transport.set_write_buffer_limits(0)
        before = -1
        while before != served_requests:
            before = served_requests
            await asyncio.sleep(0.1)
        assert served_requests < 2500, "150 MB of answers would wait in memory"
        (connection,) = server._processor.connections
        assert connection._transport.get_write_buffer_size() < 1_000_000
        # once it reads, it gets all of them
        for _ in range(5000):
            await peer.frame()
    assert served_requests == 5000


async def test_a_kip_listener_warns_once_by_name_of_software_that_uses_numbers_in_dispute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def warnings() -> list[str]:
        return [r.getMessage() for r in caplog.records if "means something else" in r.getMessage()]

    async with served(None, ListenerConfig(name="KIP", dialect=KIP)) as server:
        listener = only_listener(server)
        for software in ("rollcall", "librdkafka", "librdkafka", "sarama"):
            async with await Peer.connect(listener) as peer:
                await peer.ask(API_VERSIONS, 3, named(software, "9"))
                await peer.ask(METADATA, 9, request("Metadata"))
                await peer.ask(DESCRIBE_CLUSTER, 0, request("DescribeCluster"))
                if software == "sarama":
                    assert not any("sarama" in line for line in warnings())
                for version in (10, 11):
                    await peer.ask(METADATA, version, request("Metadata"))
                await peer.ask(DESCRIBE_CLUSTER, 1, request("DescribeCluster"))
        told = warnings()
    assert len(told) == 2
    assert "librdkafka 9" in told[0]
    assert "Metadata 10" in told[0]
    assert "sarama 9" in told[1]


async def test_a_predicate_that_fails_lets_nobody_in() -> None:
    def broken(_: object) -> bool:
        raise KeyError("a bug in a predicate")

    async with (
        served(None, ListenerConfig(name="L", admits=broken)) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        peer.send(API_VERSIONS, 0, request("ApiVersions"))
        assert await peer.until_closed() == b""


async def test_a_listener_on_all_addresses_names_the_one_that_was_called() -> None:
    async with (
        served(None, ListenerConfig(name="L", host="0.0.0.0")) as server,
        await Peer.connect(only_listener(server)),
    ):
        await eventually(lambda: len(server.registry) == 1)
        (info,) = server.registry
        assert info.id.startswith(f"127.0.0.1:{only_listener(server).port}-127.0.0.1:")


async def test_a_name_with_several_addresses_has_one_port(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    server = SocketServer()
    listener = Listener(ListenerConfig(name="L"), HANDLERS, server, server._processor)

    async def listen_on_two(port: int) -> asyncio.Server:
        return await loop.create_server(
            lambda: Connection(listener), ["127.0.0.1", "127.0.0.2"], port
        )

    monkeypatch.setattr(listener, "_listen", listen_on_two)
    await listener.open()
    for host in ("127.0.0.1", "127.0.0.2"):
        _, writer = await asyncio.open_connection(host, listener.port)
        await eventually(lambda: len(server.registry) == 1)
        (info,) = server.registry
        assert info.id.startswith(f"{host}:{listener.port}-")
        writer.transport.abort()
        await eventually(lambda: len(server.registry) == 0)
    listener.close()
    await server.stop()
