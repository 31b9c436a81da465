import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rollcall.broker.config import DEFAULT_LISTENERS, ClusterConfig, ListenerSettings
from rollcall.broker.ports import HTTP, Ports, fixed_ports
from rollcall.errors import ConfigError
from rollcall.server import ListenError

EXTRA = ListenerSettings(name="EXTRA")


@contextmanager
def reserved(config: ClusterConfig) -> Iterator[Ports]:
    ports = Ports.reserve(config)
    try:
        yield ports
    finally:
        ports.release()


def numbers(ports: Ports) -> list[int]:
    return [port for node in ports.by_node.values() for port in node.values()]


@contextmanager
def listening(port: int = 0) -> Iterator[int]:
    """A server that reuses addresses."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port))
        server.listen()
        yield server.getsockname()[1]


def test_base_port_gives_every_listener_100_ports() -> None:
    config = ClusterConfig(brokers=2, base_port=19092, listeners=(*DEFAULT_LISTENERS, EXTRA))
    assert fixed_ports(config) == {
        1: {"PLAINTEXT": 19092, "KIP": 19192, HTTP: 19292, "INTERNAL": 19392, "EXTRA": 19492},
        2: {"PLAINTEXT": 19093, "KIP": 19193, HTTP: 19293, "INTERNAL": 19393, "EXTRA": 19493},
    }


def test_free_ports_are_all_different() -> None:
    with reserved(ClusterConfig(brokers=20)) as ports:
        assert len(set(numbers(ports))) == 80
        for port in numbers(ports)[:4]:
            with listening(port) as number:
                assert number == port


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can reserve a port")
def test_reserved_port_refuses_connections_while_the_node_is_down() -> None:
    with reserved(ClusterConfig(brokers=1)) as ports:
        port = ports.by_node[1]["KIP"]
        for _ in range(2):
            with listening(port), socket.create_connection(("127.0.0.1", port), timeout=5):
                pass
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), timeout=5)
            with socket.socket() as other, pytest.raises(OSError, match="in use"):
                other.bind(("127.0.0.1", port))


def test_free_ports_are_outside_the_range_of_outgoing_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rollcall.broker.ports._outgoing_range", lambda: (20_000, 60_000))
    with reserved(ClusterConfig(brokers=20)) as ports:
        assert not [port for port in numbers(ports) if 20_000 <= port <= 60_000]


def test_port_in_use_is_an_error_with_its_number() -> None:
    with listening() as port:
        listener = ListenerSettings(name="PLAINTEXT", port=port)
        config = ClusterConfig(brokers=1, listeners=(listener, DEFAULT_LISTENERS[1]))
        with pytest.raises(ListenError, match=f"node 1 cannot use port {port} for PLAINTEXT"):
            Ports.reserve(config)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (ClusterConfig(base_port=65_500), "would be 65600"),
        (ClusterConfig(base_port=-5), "would be -5"),
        (
            ClusterConfig(
                listeners=(
                    ListenerSettings(name="PLAINTEXT", port=9000),
                    ListenerSettings(name="KIP", port=9001),
                )
            ),
            "would both use port 9001",
        ),
        (ClusterConfig(host="203.0.113.7"), "cannot listen on 203.0.113.7"),
        (ClusterConfig(host="no.such.host.invalid"), "cannot listen on no.such.host.invalid"),
    ],
)
def test_invalid_ports_and_hosts_are_errors(config: ClusterConfig, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Ports.reserve(config)
    assert message in caught.value.message
    assert caught.value.hint
