import asyncio
import contextlib
import json

import pytest

from rollcall.server import SocketServer
from tests.server.wire import (
    API_VERSIONS,
    Peer,
    eventually,
    named,
    only_listener,
    served,
)


async def fetch(server: SocketServer, target: str, method: str = "GET") -> tuple[int, str, str]:
    """Status, head and body."""
    raw = await exchange(server, f"{method} {target} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    head, _, body = raw.decode().partition("\r\n\r\n")
    return int(head.split()[1]), head, body


async def exchange(server: SocketServer, data: bytes, wait: float = 60) -> bytes:
    assert server.http is not None
    async with asyncio.timeout(wait):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.http.port)
        writer.write(data)
        try:
            return await reader.read()
        finally:
            writer.transport.abort()


async def test_metrics_are_served_in_prometheus_format() -> None:
    async with served() as server:
        await server.open_http()
        async with await Peer.connect(only_listener(server)) as peer:
            await peer.call(API_VERSIONS, 3, named("tester", "1.0"))
            status, head, body = await fetch(server, "/metrics")
    assert status == 200
    assert "text/plain; version=0.0.4" in head
    assert (
        "kafka_server_socket_server_metrics_connections{"
        'clientSoftwareName="tester",clientSoftwareVersion="1.0",'
        'listener="PLAINTEXT",networkProcessor="0"} 1.0\n'
    ) in body
    assert 'rollcall_requests_total{api="ApiVersions",listener="PLAINTEXT",version="3"} 1.0' in body


async def test_connections_can_be_filtered_and_limited() -> None:
    async with served() as server:
        await server.open_http()
        peers = [await Peer.connect(only_listener(server), f"c{n}") for n in range(5)]
        for number, peer in enumerate(peers):
            await peer.call(API_VERSIONS, 3, named("even" if number % 2 == 0 else "odd", "1"))

        async def found(query: str) -> dict:
            return json.loads((await fetch(server, f"/connections{query}"))[2])

        everything = await found("")
        assert (everything["total"], everything["shown"]) == (5, 5)
        row = everything["connections"][0]
        assert row["id"] == next(iter(server.registry)).id
        assert (row["software_name"], row["client_id"], row["requests"]) == ("even", "c0", 1)
        assert row["api_versions"] == {"18": [3]}
        some = await found("?software_name=even&limit=2")
        assert (some["total"], some["shown"], len(some["connections"])) == (3, 2, 2)
        assert (await found("?client_id=c3"))["connections"][0]["software_name"] == "odd"
        assert (await found("?listener=OTHER"))["total"] == 0
        for peer in peers:
            peer.writer.transport.abort()
        await eventually(lambda: len(server.registry) == 0)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("?limit=-1", "limit"),
        ("?limit=x", "limit"),
        ("?limit=٣", "limit"),
        ("?colour=red", "colour"),
    ],
)
async def test_invalid_query_gets_status_400_with_the_reason(query: str, text: str) -> None:
    async with served() as server:
        await server.open_http()
        raw = await exchange(server, f"GET /connections{query} HTTP/1.1\r\n\r\n".encode())
    assert b" 400 " in raw
    assert text in raw.decode()


async def test_health_returns_the_object_of_the_callback() -> None:
    health = {"status": "starting", "brokers": 1}
    async with served() as server:
        await server.open_http(health=lambda: health)
        assert (await fetch(server, "/health"))[0] == 503
        health["status"] = "ready"
        status, _, body = await fetch(server, "/health")
    assert (status, json.loads(body)) == (200, health)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"POST /metrics HTTP/1.1\r\n\r\n", 405),
        (b"GET /nothing HTTP/1.1\r\n\r\n", 404),
        (b"GET //[ HTTP/1.1\r\n\r\n", 400),
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/2\r\n\r\n", 400),
        (b"\xff\xfe\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nX: " + b"y" * 20_000, 431),
    ],
)
async def test_invalid_http_request_gets_an_error_status(data: bytes, status: int) -> None:
    async with served() as server:
        await server.open_http()
        assert (await exchange(server, data)).startswith(f"HTTP/1.1 {status} ".encode())


async def test_head_response_has_no_body() -> None:
    async with served() as server:
        await server.open_http()
        status, head, body = await fetch(server, "/health", "HEAD")
    assert (status, body) == (200, "")
    assert "Content-Length: 20" in head


async def test_slow_peers_are_disconnected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served() as server:
        http = await server.open_http()
        with monkeypatch.context() as patch:
            patch.setattr("rollcall.server.http.REQUEST_SECONDS", 0.3)
            silent = [await asyncio.open_connection("127.0.0.1", http.port) for _ in range(70)]
        for _, writer in silent:
            writer.write(b"GET /hea")
        for reader, writer in silent:
            with contextlib.suppress(ConnectionError):
                async with asyncio.timeout(60):
                    assert await reader.read() == b""
            writer.transport.abort()
        assert (await fetch(server, "/health"))[0] == 200


async def test_failing_health_callback_gets_status_500_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken() -> dict[str, object]:
        raise RuntimeError("health is unknown")

    async with served() as server:
        await server.open_http(health=broken)
        assert (await fetch(server, "/health"))[0] == 500
        assert (await fetch(server, "/metrics"))[0] == 200
    assert "health is unknown" in caplog.text


async def test_client_that_half_closes_the_connection_gets_the_response() -> None:
    async with served() as server:
        http = await server.open_http()
        async with asyncio.timeout(60):
            reader, writer = await asyncio.open_connection("127.0.0.1", http.port)
            writer.write(b"GET /health HTTP/1.0\r\n\r\n")
            writer.write_eof()
            assert (await reader.read()).startswith(b"HTTP/1.1 200 ")
            writer.close()


async def test_listing_connections_yields_to_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rollcall.server.http.ROWS_PER_TURN", 2)
    async with served() as server:
        await server.open_http()
        listener = only_listener(server)
        peers = [await Peer.connect(listener) for _ in range(20)]
        await eventually(lambda: len(server.registry) == 20)
        steps = 0

        async def count() -> None:
            nonlocal steps
            while True:
                await asyncio.sleep(0)
                steps += 1

        counting = asyncio.create_task(count())
        response = await server.http.handle("GET", "/connections?limit=20")
        counting.cancel()
        assert json.loads(response.content)["shown"] == 20
        for peer in peers:
            peer.writer.transport.abort()
    assert steps >= 8
