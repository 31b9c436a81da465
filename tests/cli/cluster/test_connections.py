"""`rollcall connections` against the HTTP port of a server in this process."""

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
    """A node with one connection, that writes down what it was asked."""

    asked: ClassVar[list[str]] = []
    answer: ClassVar[bytes] = json.dumps({"total": 5, "shown": 1, "connections": [ROW]}).encode()

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"[]" if "nothing" in self.path else self.answer)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def node() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Node)
    Node.asked.clear()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def nobody() -> Iterator[str]:
    with socket.socket() as bound:  # not listening
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


def connections(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ROLLCALL, "connections", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


def test_the_connections_of_all_nodes_are_one_table(node: str) -> None:
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


def test_a_node_that_cannot_be_reached_is_a_row_and_does_not_hide_the_others(
    node: str, nobody: str
) -> None:
    result = connections(nobody, node)
    assert result.returncode == 3
    title, heads, _, dead, alive = result.stdout.splitlines()
    assert title == "1 of 5 connections, 1 of 2 nodes did not answer"
    assert dead.startswith(nobody)
    assert dead.index("unreachable: Connection refused") == heads.index("note")
    assert "librdkafka" in alive
    assert result.stderr == ""


def test_when_no_node_answers_that_is_an_error_and_no_table(nobody: str) -> None:
    result = connections(nobody)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == (
        f"error: no node could be asked: http://{nobody}: unreachable: Connection refused\n"
        "hint: give the HTTP address of a node, as `rollcall cluster start` shows it\n"
    )


def test_a_port_that_does_not_speak_http_is_told_so() -> None:
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
    assert "this is no HTTP port of a node" in result.stderr


def test_a_node_that_says_nothing_has_its_time_and_no_more() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        result = connections(f"127.0.0.1:{server.getsockname()[1]}", "--timeout", "0.2")
    assert result.returncode == 1
    assert "no answer within 0.2 s" in result.stderr


@contextmanager
def saying(content: bytes, pause: float = 0.0) -> Iterator[str]:
    """A port that says this to whoever connects, a byte at a time if there is a pause."""

    def say() -> None:
        with suppress(OSError), listening.accept()[0] as peer:
            peer.recv(4096)
            for start in range(len(content)) if pause else ():
                peer.sendall(content[start : start + 1])
                time.sleep(pause)
            if not pause:
                peer.sendall(content)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=say)
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


def test_a_node_that_answers_a_byte_at_a_time_has_its_time_and_no_more() -> None:
    began = time.monotonic()
    with saying(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" + b"[" * 99, 0.2) as node:
        result = connections(node, "--timeout", "1")
    assert "no answer within 1 s" in result.stderr
    assert time.monotonic() - began < 10.0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[" * 100_000, "this is no HTTP port of a node"),
        (b'{"total": 1, "connections": {"a": 1}}', "it has no list of connections"),
        (b'{"total": 1, "connections": ["a"]}', "it has no list of connections"),
        (b'{"total": "x", "connections": []}', "it has no list of connections"),
    ],
)
def test_what_is_no_list_of_connections_is_told_so(content: bytes, said: str) -> None:
    with saying(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + content) as node:
        result = connections(node)
    assert result.returncode == 1
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_a_password_in_an_address_is_not_repeated() -> None:
    result = connections("http://admin:hunter2@127.0.0.1:1")
    assert result.returncode == 2
    assert "no username and no password" in result.stderr
    assert "hunter2" not in result.stdout + result.stderr


def test_filters_and_limit_are_asked_of_the_node(node: str) -> None:
    connections(
        node, "--listener", "A&B", "--principal", "User:x", "--client-id", "c", "--software", "s",
        "--peer-host", "::1", "--limit", "3",
    )  # fmt: skip
    (asked,) = Node.asked
    assert asked == (
        "/connections?listener=A%26B&principal=User%3Ax&client_id=c&software_name=s"
        "&peer_host=%3A%3A1&limit=3"
    )


def test_json_is_for_programs(node: str, nobody: str) -> None:
    result = connections(node, nobody, "--json")
    good, bad = json.loads(result.stdout)
    assert result.returncode == 3
    assert (good["node"], good["error"], good["total"]) == (f"http://{node}", None, 5)
    assert good["connections"] == [ROW]
    assert "unreachable" in bad["error"]


def test_what_is_no_node_is_told_so(node: str) -> None:
    result = connections(node, "--client-id", "nothing")
    assert result.returncode == 1
    assert "this is no node of rollcall" in result.stderr


@pytest.mark.parametrize("url", ["ftp://somewhere", "", "node:port", "http://[::1", "node:0"])
def test_what_is_no_http_address_is_refused(url: str) -> None:
    result = connections(url)
    assert result.returncode == 2
    assert f"error: {url!r} is not an HTTP address" in result.stderr


def test_watch_shows_it_again_and_again(node: str) -> None:
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
