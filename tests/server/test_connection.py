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
from rollcall.server.transport import NEVER
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
    ("api_key", "version", "text"),
    [
        (METADATA, 99, "Metadata (key 3) version 99; supported versions: 0-13"),
        (METADATA, -1, "Metadata (key 3) version -1; supported versions: 0-13"),
        (FETCH, 4, "Fetch (key 1) version 4; supported versions: none"),
        (17, 1, "SaslHandshake (key 17) version 1; supported versions: none"),
        (16, 4, "ListGroups (key 16) version 4; supported versions: none"),
        (999, 0, "unknown API (key 999) version 0; supported versions: none"),
        (-5, 0, "unknown API (key -5) version 0; supported versions: none"),
    ],
)
async def test_35_4_unsupported_request_closes_the_connection_is_logged_once_and_counted(
    api_key: int, version: int, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with served() as server:
        for _ in range(3):
            async with await Peer.connect(only_listener(server)) as peer:
                peer.writer.write(unsupported(api_key, version))
                assert await peer.until_closed() == b""
                address = peer.writer.get_extra_info("sockname")
        lines = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
        assert len(lines) == 1, "once per cause, not once per request"
        assert text in lines[0]
        assert f"{address[0]}:" in lines[0]
        labels = {"listener": "PLAINTEXT", "reason": "unsupported_request"}
        assert metric(server, "rollcall_refused_total", **labels) == 3
        assert len(server.registry) == 0


async def test_35_4_each_unsupported_version_of_a_peer_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served() as server:
        for version in (14, 15, 15):
            async with await Peer.connect(only_listener(server)) as peer:
                peer.writer.write(unsupported(METADATA, version))
                assert await peer.until_closed() == b""
    lines = [r.getMessage() for r in caplog.records if "unsupported request" in r.getMessage()]
    assert [line.partition("version ")[2] for line in lines] == [
        "14; supported versions: 0-13",
        "15; supported versions: 0-13",
    ]


async def test_35_4_on_unsupported_empty_responds_with_the_correlation_id_only() -> None:
    config = ListenerConfig(name="L", on_unsupported=OnUnsupported.EMPTY)
    async with (
        served(None, config) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        for number in (1, -7):
            peer.writer.write(unsupported(FETCH, 99, number))
            assert await peer.next_frame() == struct.pack(">i", number)
        assert (await peer.call(METADATA, 9, request("Metadata"))).controller_id == 1


async def test_requests_received_byte_by_byte_are_served() -> None:
    async with served() as server, await Peer.connect(only_listener(server)) as peer:
        wire = peer.encode(API_VERSIONS, 3, named())
        wire += peer.encode(METADATA, 9, request("Metadata"))
        peer.writer.transport.get_extra_info("socket").setsockopt(6, 1, 1)
        for byte in wire:
            peer.writer.write(bytes([byte]))
            await asyncio.sleep(0)
        assert (await peer.next_response()).request.api.key == API_VERSIONS
        assert (await peer.next_response()).request.api.key == METADATA


async def test_pipelined_requests_are_served_one_at_a_time_and_in_order() -> None:
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
        requests = [(await peer.next_response()).request for _ in kinds]
    assert [sent.api.key for sent in requests] == kinds
    assert [sent.correlation_id for sent in requests] == list(range(200))
    assert most == 1, "as in Kafka, one request of a connection is in progress at a time"


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("count", [1, 2, 100])
async def test_requests_before_an_invalid_frame_length_are_served(
    count: int, asynchronous: bool
) -> None:
    async def slow(context: RequestContext) -> Message:
        await asyncio.sleep(0)
        return metadata(context)

    async with (
        served(handlers={METADATA: slow if asynchronous else metadata}) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        wires = [peer.encode(METADATA, 9, request("Metadata")) for _ in range(count)]
        peer.writer.write(b"".join(wires) + struct.pack(">i", -5))
        for number in range(count):
            assert (await peer.next_response()).request.correlation_id == number
        assert await peer.until_closed() == b""
        labels = {"listener": "PLAINTEXT", "reason": "frame_size"}
        assert metric(server, "rollcall_refused_total", **labels) == 1


async def test_failing_handler_closes_only_its_own_connection(
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
            assert (await other.call(API_VERSIONS, 0, request("ApiVersions"))).error_code == 0
        labels = {"listener": "PLAINTEXT", "reason": "handler_error"}
        assert metric(server, "rollcall_refused_total", **labels) == 2
    assert "a bug in a handler" in caplog.text


async def test_traceback_of_a_failing_handler_is_logged_once_a_minute(
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


async def test_response_that_cannot_be_encoded_closes_the_connection_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with (
        served(handlers={METADATA: lambda _: response("DescribeCluster")}) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        peer.send(METADATA, 0, request("Metadata"))
        assert await peer.until_closed() == b""
    assert "MetadataResponse version 0 (released) cannot write" in caplog.text


async def test_handler_that_returns_none_sends_no_response() -> None:
    async with (
        served(handlers={METADATA: lambda _: None}) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        peer.writer.write(peer.encode(METADATA, 0, request("Metadata")))
        peer.conversation._in_flight.clear()
        assert (await peer.call(API_VERSIONS, 0, request("ApiVersions"))).error_code == 0


async def test_request_in_progress_is_cancelled_when_the_client_disconnects() -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def endless(_: RequestContext) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async with served(handlers={METADATA: endless}) as server:
        peer = await Peer.connect(only_listener(server))
        peer.send(METADATA, 0, request("Metadata"))
        async with asyncio.timeout(60):
            await started.wait()
            peer.writer.transport.abort()
            await cancelled.wait()
        await eventually(lambda: not len(server.registry))


async def test_client_with_thousands_of_pipelined_requests_does_not_block_other_clients() -> None:
    seen: list[str | None] = []

    def note(context: RequestContext) -> Message:
        seen.append(context.request.client_id)
        return metadata(context)

    async with (
        served(handlers={METADATA: note}) as server,
        await Peer.connect(only_listener(server), "many") as many,
        await Peer.connect(only_listener(server), "one") as one,
    ):
        await many.call(API_VERSIONS, 0, request("ApiVersions"))
        await one.call(API_VERSIONS, 0, request("ApiVersions"))
        for _ in range(2000):
            many.send(METADATA, 1, request("Metadata", topics=None))
        one.send(METADATA, 1, request("Metadata", topics=None))
        await one.next_response()
        for _ in range(2000):
            await many.next_response()
    assert seen.index("one") < 1000


async def test_client_that_half_closes_the_connection_gets_all_responses() -> None:
    async with served() as server, await Peer.connect(only_listener(server)) as peer:
        for _ in range(500):
            peer.send(METADATA, 1, request("Metadata", topics=None))
        peer.writer.write_eof()
        for _ in range(500):
            await peer.next_response()
        assert await peer.until_closed() == b""
        await eventually(lambda: len(server.registry) == 0)


async def test_requests_of_a_client_that_does_not_read_responses_are_not_read() -> None:
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
        assert served_requests < 2500, "150 MB of responses would be buffered"
        (transport,) = server._processor.transports
        assert transport._socket.get_write_buffer_size() < 1_000_000
        # all responses arrive when the client reads
        for _ in range(5000):
            await peer.next_frame()
    assert served_requests == 5000


async def test_kip_listener_warns_once_per_software_that_uses_a_conflicting_version(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def warnings() -> list[str]:
        return [r.getMessage() for r in caplog.records if "layout differs" in r.getMessage()]

    async with served(None, ListenerConfig(name="KIP", dialect=KIP)) as server:
        listener = only_listener(server)
        for software in ("rollcall", "librdkafka", "librdkafka", "sarama"):
            async with await Peer.connect(listener) as peer:
                await peer.call(API_VERSIONS, 3, named(software, "9"))
                await peer.call(METADATA, 9, request("Metadata"))
                await peer.call(DESCRIBE_CLUSTER, 0, request("DescribeCluster"))
                if software == "sarama":
                    assert not any("sarama" in line for line in warnings())
                for version in (10, 11):
                    await peer.call(METADATA, version, request("Metadata"))
                await peer.call(DESCRIBE_CLUSTER, 1, request("DescribeCluster"))
        lines = warnings()
    assert len(lines) == 2
    assert "librdkafka 9" in lines[0]
    assert "Metadata version 10" in lines[0]
    assert "sarama 9" in lines[1]


async def test_predicate_that_fails_admits_no_client() -> None:
    def broken(_: object) -> bool:
        raise KeyError("a bug in a predicate")

    async with (
        served(None, ListenerConfig(name="L", admits=broken)) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        peer.send(API_VERSIONS, 0, request("ApiVersions"))
        assert await peer.until_closed() == b""


async def test_listener_on_all_addresses_shows_the_local_address_of_each_connection() -> None:
    async with (
        served(None, ListenerConfig(name="L", host="0.0.0.0")) as server,
        await Peer.connect(only_listener(server)),
    ):
        await eventually(lambda: len(server.registry) == 1)
        (info,) = server.registry
        assert info.id.startswith(f"127.0.0.1:{only_listener(server).port}-127.0.0.1:")


async def test_host_with_several_addresses_gets_one_port(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop = asyncio.get_running_loop()
    server = SocketServer()
    listener = Listener(ListenerConfig(name="L"), HANDLERS, server, server._processor)

    async def listen_on_two(port: int) -> asyncio.Server:
        return await loop.create_server(
            lambda: Connection(listener).transport, ["127.0.0.1", "127.0.0.2"], port
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


@pytest.mark.parametrize("count", [1, 31, 32, 33, 64])
async def test_idle_deadline_restarts_after_any_number_of_pipelined_requests(count: int) -> None:
    async with served() as server, await Peer.connect(only_listener(server)) as peer:
        await eventually(lambda: len(server.registry) == 1)
        (transport,) = server._processor.transports
        transport.deadline = NEVER
        peer.writer.write(
            b"".join(peer.encode(METADATA, 9, request("Metadata")) for _ in range(count))
        )
        for _ in range(count):
            await peer.next_response()
        await eventually(lambda: transport.deadline < NEVER)


async def test_request_in_progress_has_no_deadline_although_more_bytes_arrive() -> None:
    started, released = asyncio.Event(), asyncio.Event()

    async def slow(context: RequestContext) -> Message:
        started.set()
        await released.wait()
        return metadata(context)

    async with (
        served(handlers={METADATA: slow}) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        peer.send(METADATA, 9, request("Metadata"))
        async with asyncio.timeout(60):
            await started.wait()
        (transport,) = server._processor.transports
        second = peer.encode(METADATA, 9, request("Metadata"))
        peer.writer.write(second[:5])
        await eventually(lambda: transport.handler._frames)
        assert transport.deadline == NEVER
        released.set()
        await peer.next_response()
        await eventually(lambda: transport.deadline < NEVER)
        peer.writer.write(second[5:])
        await peer.next_response()


async def test_deadline_of_a_closing_connection_is_not_extended_when_its_buffer_drains() -> None:
    async with served() as server, await Peer.connect(only_listener(server)):
        await eventually(lambda: len(server.registry) == 1)
        (transport,) = server._processor.transports
        transport.pause_writing()
        transport.handler._close()
        deadline = transport.deadline
        transport.resume_writing()
        assert transport.deadline == deadline
