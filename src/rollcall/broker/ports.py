"""Ports of the nodes, reserved by the supervisor: a node keeps its ports across restarts.

On Linux the supervisor stays bound to each port without listening. A node can listen on it, other
programs cannot take it while the node is down, and connection attempts are refused meanwhile. Other
systems do not allow this; there, free ports are chosen outside the range of outgoing connections.
"""

import errno
import random
import socket
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rollcall.broker.config import INTERNAL, LOOPBACK, MAX_BROKERS, ClusterConfig
from rollcall.errors import ConfigError
from rollcall.server import ListenError

HTTP = "http"
MAX_PORT = 65535
MIN_FREE_PORT = 10_000
_CAN_STAY_BOUND = sys.platform == "linux"
_OUTGOING_RANGE_FILE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_DEFAULT_OUTGOING_RANGE = (32768, 60999)


@dataclass
class Ports:
    """Ports by node id and name: a listener, `INTERNAL` or `http`."""

    by_node: dict[int, dict[str, int]] = field(default_factory=dict)
    _sockets: list[socket.socket] = field(default_factory=list, repr=False)

    @classmethod
    def reserve(cls, config: ClusterConfig) -> "Ports":
        ports = cls()
        try:
            ports._reserve_fixed(config)
            ports._reserve_free(config)
        except BaseException:
            ports.release()
            raise
        if not _CAN_STAY_BOUND:
            ports.release()
        return ports

    def release(self) -> None:
        for reserved in self._sockets:
            reserved.close()
        self._sockets.clear()

    def _reserve_fixed(self, config: ClusterConfig) -> None:
        self.by_node = fixed_ports(config)
        for node_id, ports in self.by_node.items():
            for name, port in ports.items():
                try:
                    self._sockets.append(_bound(_host(config, name), port, reuse=True))
                except OSError as error:
                    raise ListenError(
                        f"node {node_id} cannot use port {port} for {name}: {error.strerror}",
                        hint="choose other ports, or none to use free ones",
                    ) from None

    def _reserve_free(self, config: ClusterConfig) -> None:
        names = _names(config)
        candidates = iter(_candidates())
        for ports in self.by_node.values():
            for name in (name for name in names if name not in ports):
                reserved = _first_free(_host(config, name), candidates)
                self._sockets.append(reserved)
                ports[name] = reserved.getsockname()[1]


def fixed_ports(config: ClusterConfig) -> dict[int, dict[str, int]]:
    """Ports by node that the configuration sets: node 2 has the port after that of node 1."""
    first = {
        listener.name: listener.port for listener in config.listeners if listener.port is not None
    }
    if config.base_port is not None:
        for column, name in enumerate(_names(config)):
            first.setdefault(name, config.base_port + column * MAX_BROKERS)
    nodes = range(1, config.brokers + 1)
    fixed = {node: {name: port + node - 1 for name, port in first.items()} for node in nodes}
    _check(fixed)
    return fixed


def _names(config: ClusterConfig) -> list[str]:
    """Names of all ports; from the base port on, each name has 100 ports for 100 nodes."""
    first, second, *others = (listener.name for listener in config.listeners)
    return [first, second, HTTP, INTERNAL, *others]


def _host(config: ClusterConfig, name: str) -> str:
    return LOOPBACK if name == INTERNAL else config.host


def _check(fixed: Mapping[int, Mapping[str, int]]) -> None:
    taken: dict[int, str] = {}
    for node_id, ports in fixed.items():
        for name, port in ports.items():
            user = f"{name} of node {node_id}"
            if not 1 <= port <= MAX_PORT:
                raise ConfigError(
                    f"the port of {user} would be {port}", hint=f"use ports from 1 to {MAX_PORT}"
                )
            if port in taken:
                raise ConfigError(
                    f"{user} and {taken[port]} would both use port {port}",
                    hint="leave a gap between listeners: node 2 has the port after that of node 1",
                )
            taken[port] = user


def _bound(host: str, port: int, *, reuse: bool) -> socket.socket:
    """A bound socket that does not listen; `reuse` for a port that was used recently."""
    reserved = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        if reuse:
            reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind((host, port))
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # for the node's own socket
    except BaseException:
        reserved.close()
        raise
    return reserved


def _first_free(host: str, candidates: Iterable[int]) -> socket.socket:
    for port in candidates:
        try:
            return _bound(host, port, reuse=False)
        except OSError as error:
            if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
                raise ConfigError(
                    f"cannot listen on {host}: {error.strerror}",
                    hint="use an address of this machine, such as 127.0.0.1",
                ) from None
    raise ListenError(f"no free port on {host}", hint="set the ports explicitly")


def _candidates() -> list[int]:
    low, high = _outgoing_range()
    candidates = [port for port in range(MIN_FREE_PORT, MAX_PORT) if not low <= port <= high]
    random.shuffle(candidates)
    return candidates


def _outgoing_range() -> tuple[int, int]:
    try:
        low, high = map(int, _OUTGOING_RANGE_FILE.read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return _DEFAULT_OUTGOING_RANGE
    return low, high
