import socket

import pytest

from rollcall.broker.config import DEFAULT_LISTENERS, ClusterConfig, ListenerPlan
from rollcall.broker.ports import HTTP, assign_ports
from rollcall.errors import ConfigError

EXTRA = ListenerPlan(name="EXTRA")


def test_from_a_base_port_every_listener_has_its_hundred() -> None:
    config = ClusterConfig(brokers=2, base_port=19092, listeners=(*DEFAULT_LISTENERS, EXTRA))
    assert assign_ports(config) == {
        1: {"PLAINTEXT": 19092, "KIP": 19192, HTTP: 19292, "INTERNAL": 19392, "EXTRA": 19492},
        2: {"PLAINTEXT": 19093, "KIP": 19193, HTTP: 19293, "INTERNAL": 19393, "EXTRA": 19493},
    }


def test_without_one_all_ports_are_free_and_different() -> None:
    assigned = assign_ports(ClusterConfig(brokers=20))
    ports = [port for node in assigned.values() for port in node.values()]
    assert len(set(ports)) == 80
    for port in ports[:4]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", port))


def test_a_port_that_is_taken_is_not_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        number = taken.getsockname()[1]
        monkeypatch.setattr("rollcall.broker.ports._LOWEST_FREE", number)
        monkeypatch.setattr("rollcall.broker.ports.HIGHEST", number + 40)
        monkeypatch.setattr("rollcall.broker.ports._outgoing_range", lambda: (1, 2))
        chosen = assign_ports(ClusterConfig(brokers=1))[1].values()
    assert number not in chosen


def test_ports_are_not_taken_from_those_of_outgoing_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rollcall.broker.ports._outgoing_range", lambda: (20_000, 60_000))
    assigned = assign_ports(ClusterConfig(brokers=20))
    assert not [p for node in assigned.values() for p in node.values() if 20_000 <= p <= 60_000]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (ClusterConfig(base_port=65_500), "would be 65600"),
        (ClusterConfig(base_port=-5), "would be -5"),
        (
            ClusterConfig(
                listeners=(
                    ListenerPlan(name="PLAINTEXT", port=9000),
                    ListenerPlan(name="KIP", port=9001),
                )
            ),
            "would both have the port 9001",
        ),
        (ClusterConfig(host="203.0.113.7"), "cannot listen on 203.0.113.7"),
    ],
)
def test_ports_that_cannot_be_are_an_error(config: ClusterConfig, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        assign_ports(config)
    assert message in caught.value.message
    assert caught.value.hint
