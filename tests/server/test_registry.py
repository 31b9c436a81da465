import re
import time

from rollcall.server import ConnectionLimits, ListenerConfig, ServerConfig
from tests.server.wire import (
    API_VERSIONS,
    METADATA,
    Peer,
    eventually,
    metric,
    named,
    only_listener,
    request,
    served,
)

GAUGE = "kafka_server_socket_server_metrics_connections"


async def test_511_4_connection_is_registered_at_accept_and_updated_by_its_requests() -> None:
    async with served(ServerConfig(processor=3)) as server:
        listener = only_listener(server)
        began = time.time()
        async with await Peer.connect(listener, client_id="me") as peer:
            await eventually(lambda: len(server.registry) == 1)
            (info,) = server.registry
            host, port = peer.writer.get_extra_info("sockname")
            assert info.id == f"127.0.0.1:{listener.port}-{host}:{port}-3-0"
            assert (info.listener, info.processor) == ("PLAINTEXT", 3)
            assert (info.security_protocol, info.principal) == ("PLAINTEXT", "User:ANONYMOUS")
            assert (info.peer_host, info.peer_port) == (host, port)
            assert (info.software_name, info.software_version) == ("unknown", "unknown")
            assert (info.client_id, info.last_request, info.requests) == (None, None, 0)
            assert began - 1 <= info.since <= time.time()
            await peer.call(API_VERSIONS, 3, named("tester", "1.0"))
            await peer.call(METADATA, 9, request("Metadata"))
            await peer.call(METADATA, 9, request("Metadata"))
            await peer.call(METADATA, 0, request("Metadata"))
            assert (info.software_name, info.software_version) == ("tester", "1.0")
            assert (info.client_id, info.requests) == ("me", 4)
            assert info.since <= info.last_request <= time.time()
            assert info.api_versions == {(API_VERSIONS, 3), (METADATA, 9), (METADATA, 0)}


async def test_511_4_closed_connection_is_removed_whatever_closed_it() -> None:
    limits = ConnectionLimits(frame_seconds=0.1)
    async with served(None, ListenerConfig(name="L", limits=limits)) as server:
        listener = only_listener(server)

        async def closes(peer: Peer) -> None:
            peer.writer.close()

        async def resets(peer: Peer) -> None:
            peer.writer.transport.abort()

        async def sends_an_invalid_length(peer: Peer) -> None:
            peer.writer.write(b"\xff" * 100)

        async def half_closes(peer: Peer) -> None:
            peer.writer.write_eof()

        async def sends_half_a_frame(peer: Peer) -> None:
            peer.writer.write(b"\0\0")

        async def sends_an_unsupported_request(peer: Peer) -> None:
            peer.send(17, 1, request("SaslHandshake"))

        for ending in (
            closes,
            resets,
            sends_an_invalid_length,
            half_closes,
            sends_half_a_frame,
            sends_an_unsupported_request,
        ):
            async with await Peer.connect(listener) as peer:
                await peer.call(API_VERSIONS, 3, named())
                assert len(server.registry) == 1
                await ending(peer)
                await eventually(lambda: len(server.registry) == 0)
        assert not server.registry.by_address
        assert not server.registry.by_listener
        assert not server.registry.gauge.counts
        assert not server._processor.transports


async def test_511_6_gauge_counts_every_open_connection_under_its_latest_name() -> None:
    async with served(ServerConfig(processor=2)) as server:
        listener = only_listener(server)

        def count(name: str, version: str) -> float | None:
            return metric(
                server,
                GAUGE,
                clientSoftwareName=name,
                clientSoftwareVersion=version,
                listener="PLAINTEXT",
                networkProcessor="2",
            )

        first, second = await Peer.connect(listener), await Peer.connect(listener)
        async with first, second:
            await eventually(lambda: count("unknown", "unknown") == 2)
            await first.call(API_VERSIONS, 3, named("a", "1"))
            assert (count("unknown", "unknown"), count("a", "1")) == (1, 1)
            await first.call(API_VERSIONS, 3, named("b", "2"))
            assert (count("a", "1"), count("b", "2")) == (None, 1)
            await second.call(API_VERSIONS, 3, named("b", "2"))
            assert (count("unknown", "unknown"), count("b", "2")) == (None, 2)
        await eventually(lambda: count("b", "2") is None)
        assert not re.search(rb"\n%s\{" % GAUGE.encode(), server.metrics.text())


async def test_511_6_name_of_the_gauge_is_configurable() -> None:
    async with (
        served(ServerConfig(connections_gauge="my_connections")) as server,
        await Peer.connect(only_listener(server)),
    ):
        await eventually(lambda: b"my_connections{" in server.metrics.text())
        assert GAUGE.encode() not in server.metrics.text()


async def test_511_7_invented_names_are_bounded_and_the_total_adds_up() -> None:
    async with served(ServerConfig(max_software=10)) as server:
        listener = only_listener(server)
        peers = [await Peer.connect(listener) for _ in range(40)]
        for number, peer in enumerate(peers):
            for change in range(3):
                await peer.call(API_VERSIONS, 3, named(f"n{number}", f"{change}"))
        counts = server.registry.gauge.counts
        assert sum(counts.values()) == 40
        assert len(counts) == 11
        assert counts["other", "other", "PLAINTEXT"] == 30
        for peer in peers[:20]:
            peer.writer.transport.abort()
        await eventually(lambda: len(server.registry) == 20)
        assert sum(server.registry.gauge.counts.values()) == 20
        for peer in peers:
            peer.writer.transport.abort()
        await eventually(lambda: not server.registry.gauge.counts)


async def test_long_client_id_is_truncated_in_the_registry() -> None:
    async with (
        served() as server,
        await Peer.connect(only_listener(server), client_id="x" * 30_000) as peer,
    ):
        await peer.call(API_VERSIONS, 0, request("ApiVersions"))
        (info,) = server.registry
        assert info.client_id == "x" * 256


async def test_unknown_api_versions_are_not_stored_in_registry_or_metrics() -> None:
    async with served() as server, await Peer.connect(only_listener(server)) as peer:
        for version in range(100, 400):
            peer.writer.write(
                b"\0\0\0\x0a"
                + (18).to_bytes(2, "big")
                + version.to_bytes(2, "big")
                + b"\0\0\0\1\xff\xff"
            )
            await peer.next_frame()
        (info,) = server.registry
        assert info.requests == 300
        assert info.api_versions == frozenset()
        labels = {"listener": "PLAINTEXT", "api": "ApiVersions", "version": "unknown"}
        assert metric(server, "rollcall_requests_total", **labels) == 300


async def test_connection_ids_are_unique() -> None:
    async with served() as server:
        seen = set()
        for _ in range(20):
            async with await Peer.connect(only_listener(server)):
                await eventually(lambda: len(server.registry) == 1)
                seen.update(info.id for info in server.registry)
            await eventually(lambda: len(server.registry) == 0)
        assert len(seen) == 20
