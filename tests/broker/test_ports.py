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
def taken(config: ClusterConfig) -> Iterator[Ports]:
    ports = Ports.take(config)
    try:
        yield ports
    finally:
        ports.release()


def numbers(ports: Ports) -> list[int]:
    return [port for node in ports.by_node.values() for port in node.values()]


@contextmanager
def listening(port: int = 0) -> Iterator[int]:
    """As a server does it that may be started again."""
    with socket.socket() as server:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", port))
        server.listen()
        yield server.getsockname()[1]


def test_from_a_base_port_every_listener_has_its_hundred() -> None:
    config = ClusterConfig(brokers=2, base_port=19092, listeners=(*DEFAULT_LISTENERS, EXTRA))
    assert fixed_ports(config) == {
        1: {"PLAINTEXT": 19092, "KIP": 19192, HTTP: 19292, "INTERNAL": 19392, "EXTRA": 19492},
        2: {"PLAINTEXT": 19093, "KIP": 19193, HTTP: 19293, "INTERNAL": 19393, "EXTRA": 19493},
    }


def test_without_one_all_ports_are_free_and_different() -> None:
    with taken(ClusterConfig(brokers=20)) as ports:
        assert len(set(numbers(ports))) == 80
        for port in numbers(ports)[:4]:
            with listening(port) as number:
                assert number == port


@pytest.mark.skipif(sys.platform != "linux", reason="only there a port can be held")
def test_a_port_is_kept_for_its_node_and_refuses_while_the_node_is_down() -> None:
    with taken(ClusterConfig(brokers=1)) as ports:
        port = ports.by_node[1]["KIP"]
        for _ in range(2):
            with listening(port), socket.create_connection(("127.0.0.1", port), timeout=5):
                pass
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", port), timeout=5)
            with socket.socket() as other, pytest.raises(OSError, match="in use"):
                other.bind(("127.0.0.1", port))


def test_ports_are_not_taken_from_those_of_outgoing_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rollcall.broker.ports._outgoing_range", lambda: (20_000, 60_000))
    with taken(ClusterConfig(brokers=20)) as ports:
        assert not [port for port in numbers(ports) if 20_000 <= port <= 60_000]


def test_a_port_that_somebody_has_is_an_error_that_names_it() -> None:
    with listening() as port:
        plan = ListenerSettings(name="PLAINTEXT", port=port)
        config = ClusterConfig(brokers=1, listeners=(plan, DEFAULT_LISTENERS[1]))
        with pytest.raises(ListenError, match=f"node 1 cannot have {port} for PLAINTEXT"):
            Ports.take(config)


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
            "would both have the port 9001",
        ),
        (ClusterConfig(host="203.0.113.7"), "cannot listen on 203.0.113.7"),
        (ClusterConfig(host="no.such.host.invalid"), "cannot listen on no.such.host.invalid"),
    ],
)
def test_ports_that_cannot_be_are_an_error(config: ClusterConfig, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Ports.take(config)
    assert message in caught.value.message
    assert caught.value.hint
