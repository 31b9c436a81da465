"""`rollcall connections` against an HTTP server in this process."""

import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

import pytest

from tests.broker.running import ROLLCALL

ROW = {
    "id": "127.0.0.1:1-127.0.0.1:2-0-3",
    "listener": "PLAINTEXT",
    "principal": "User:\x1b[31malice",
    "peer": "10.0.0.7:5000",
    "client_id": "billing",
    "software_name": "librdkafka",
    "software_version": "2.3.0",
    "since": "2026-01-02T03:04:05.678+00:00",
    "requests": 12,
    "api_versions": {"3": [9]},
}


class Node(BaseHTTPRequestHandler):
    """A node with one connection that records the requests."""

    requests: ClassVar[list[str]] = []
    body: ClassVar[bytes] = json.dumps({"total": 5, "shown": 1, "connections": [ROW]}).encode()

    def do_GET(self) -> None:
        self.requests.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"[]" if "nothing" in self.path else self.body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def node() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Node)
    Node.requests.clear()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def closed_port() -> Iterator[str]:
    with socket.socket() as bound:  # not listening
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


def connections(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ROLLCALL, "connections", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_table_has_the_connections_of_all_nodes(node: str) -> None:
    result = connections(f"http://{node}", f"http://{node}/")
    assert result.returncode == 0
    title, heads, _, *rows = result.stdout.splitlines()
    assert title == "2 of 10 connections"
    assert heads.split() == [
        "node", "listener", "principal", "client", "id", "software", "version", "peer", "since",
        "(UTC)", "requests", "note",
    ]  # fmt: skip
    assert len(rows) == 2
    assert r"User:\x1b[31malice" in rows[0]
    assert "librdkafka" in rows[0]
    assert " 2026-01-02 03:04:05 " in rows[0]


def test_unreachable_node_is_a_row_next_to_the_others(node: str, closed_port: str) -> None:
    result = connections(closed_port, node)
    assert result.returncode == 3
    title, heads, _, dead, alive = result.stdout.splitlines()
    assert title == "1 of 5 connections, 1 of 2 nodes did not respond"
    assert dead.startswith(closed_port)
    assert dead.index("unreachable: Connection refused") == heads.index("note")
    assert "librdkafka" in alive
    assert result.stderr == ""


def test_no_response_of_any_node_is_an_error_without_a_table(closed_port: str) -> None:
    result = connections(closed_port)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == (
        f"error: no node responded: http://{closed_port}: unreachable: Connection refused\n"
        "hint: use the HTTP address that `rollcall cluster start` prints for a node\n"
    )


def test_port_that_is_not_http_is_named_as_the_reason() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            peer, _ = server.accept()
            peer.recv(1000)
            peer.close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        result = connections(f"127.0.0.1:{server.getsockname()[1]}")
        thread.join()
    assert result.returncode == 1
    assert "not the HTTP port of a node" in result.stderr


def test_silent_node_times_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        result = connections(f"127.0.0.1:{server.getsockname()[1]}", "--timeout", "0.2")
    assert result.returncode == 1
    assert "no response within 0.2 s" in result.stderr


@contextmanager
def sending(content: bytes, pause: float = 0.0) -> Iterator[str]:
    """A port that sends this to one client, a byte at a time if there is a pause."""

    def send() -> None:
        with suppress(OSError), listening.accept()[0] as peer:
            peer.recv(4096)
            for start in range(len(content)) if pause else ():
                peer.sendall(content[start : start + 1])
                time.sleep(pause)
            if not pause:
                peer.sendall(content)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=send)
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def test_node_that_sends_a_byte_at_a_time_times_out() -> None:
    began = time.monotonic()
    with sending(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" + b"[" * 99, 0.2) as node:
        result = connections(node, "--timeout", "1")
    assert "no response within 1 s" in result.stderr
    assert time.monotonic() - began < 60.0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"[" * 100_000, "not the HTTP port of a node"),
        (b'{"total": 1, "connections": {"a": 1}}', "the response has no list of connections"),
        (b'{"total": 1, "connections": ["a"]}', "the response has no list of connections"),
        (b'{"total": "x", "connections": []}', "the response has no list of connections"),
    ],
)
def test_response_without_a_list_of_connections_is_an_error(content: bytes, reason: str) -> None:
    with sending(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + content) as node:
        result = connections(node)
    assert result.returncode == 1
    assert reason in result.stderr
    assert "Traceback" not in result.stderr


def test_password_in_a_url_is_not_printed() -> None:
    result = connections("http://admin:hunter2@127.0.0.1:1")
    assert result.returncode == 2
    assert "credentials in the URL of a node are not supported" in result.stderr
    assert "hunter2" not in result.stdout + result.stderr


def test_filters_and_limit_are_sent_to_the_node(node: str) -> None:
    connections(
        node, "--listener", "A&B", "--principal", "User:x", "--client-id", "c", "--software", "s",
        "--peer-host", "::1", "--limit", "3",
    )  # fmt: skip
    (requests,) = Node.requests
    assert requests == (
        "/connections?listener=A%26B&principal=User%3Ax&client_id=c&software_name=s"
        "&peer_host=%3A%3A1&limit=3"
    )


def test_json_has_connections_and_errors_by_node(node: str, closed_port: str) -> None:
    result = connections(node, closed_port, "--json")
    good, bad = json.loads(result.stdout)
    assert result.returncode == 3
    assert (good["node"], good["error"], good["total"]) == (f"http://{node}", None, 5)
    assert good["connections"] == [ROW]
    assert "unreachable" in bad["error"]


def test_http_server_that_is_not_a_node_is_an_error(node: str) -> None:
    result = connections(node, "--client-id", "nothing")
    assert result.returncode == 1
    assert "not a rollcall node" in result.stderr


@pytest.mark.parametrize("url", ["ftp://somewhere", "", "node:port", "http://[::1", "node:0"])
def test_invalid_url_is_a_usage_error(url: str) -> None:
    result = connections(url)
    assert result.returncode == 2
    assert f"error: {url!r} is not an HTTP address" in result.stderr


def test_watch_repeats_the_table(node: str) -> None:
    process = subprocess.Popen(
        [
            *ROLLCALL,
            *("connections", node, "--watch", "0.1"),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        titles = 0
        for line in process.stdout:
            titles += "connections" in line
            if titles == 3:
                break
    finally:
        process.terminate()
        process.communicate(timeout=10)
    assert titles == 3
