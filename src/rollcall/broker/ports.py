"""Which port is whose. Taken once by the supervisor, as a node that is restarted keeps its ports.

On Linux the supervisor stays bound to each port without listening: a node can listen there, nobody
else finds the port free while the node is down, and whoever connects then is refused, as it should
be. Elsewhere that is not possible: there it has to do that free ports are looked for outside of the
range from which the system gives ports to outgoing connections.
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
HIGHEST = 65535
LOWEST_FREE = 10_000
_CAN_HOLD = sys.platform == "linux"
_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")
_USUAL_OUTGOING = (32768, 60999)


@dataclass
class Ports:
    """Node to name to port; the names are those of the listeners, `INTERNAL` and `http`."""

    by_node: dict[int, dict[str, int]] = field(default_factory=dict)
    _held: list[socket.socket] = field(default_factory=list, repr=False)

    @classmethod
    def take(cls, config: ClusterConfig) -> "Ports":
        ports = cls()
        try:
            ports._take_fixed(config)
            ports._take_free(config)
        except BaseException:
            ports.release()
            raise
        if not _CAN_HOLD:
            ports.release()
        return ports

    def release(self) -> None:
        for held in self._held:
            held.close()
        self._held.clear()

    def _take_fixed(self, config: ClusterConfig) -> None:
        self.by_node = fixed_ports(config)
        for node_id, ports in self.by_node.items():
            for name, port in ports.items():
                try:
                    self._held.append(_bound(_host(config, name), port, reuse=True))
                except OSError as error:
                    raise ListenError(
                        f"node {node_id} cannot have {port} for {name}: {error.strerror}",
                        hint="choose other ports, or none at all to get free ones",
                    ) from None

    def _take_free(self, config: ClusterConfig) -> None:
        names = _names(config)
        candidates = iter(_candidates())
        for ports in self.by_node.values():
            for name in (name for name in names if name not in ports):
                held = _first_free(_host(config, name), candidates)
                self._held.append(held)
                ports[name] = held.getsockname()[1]


def fixed_ports(config: ClusterConfig) -> dict[int, dict[str, int]]:
    """The ports that the configuration asks for: node 2 has the port after that of node 1."""
    first = {plan.name: plan.port for plan in config.listeners if plan.port is not None}
    if config.base_port is not None:
        for column, name in enumerate(_names(config)):
            first.setdefault(name, config.base_port + column * MAX_BROKERS)
    nodes = range(1, config.brokers + 1)
    fixed = {node: {name: port + node - 1 for name, port in first.items()} for node in nodes}
    _check(fixed)
    return fixed


def _names(config: ClusterConfig) -> list[str]:
    """In the order in which they are given hundreds from the base port on."""
    first, second, *others = (plan.name for plan in config.listeners)
    return [first, second, HTTP, INTERNAL, *others]


def _host(config: ClusterConfig, name: str) -> str:
    return LOOPBACK if name == INTERNAL else config.host


def _check(fixed: Mapping[int, Mapping[str, int]]) -> None:
    taken: dict[int, str] = {}
    for node_id, ports in fixed.items():
        for name, port in ports.items():
            what = f"{name} of node {node_id}"
            if not 1 <= port <= HIGHEST:
                raise ConfigError(
                    f"the port of {what} would be {port}", hint=f"use ports from 1 to {HIGHEST}"
                )
            if port in taken:
                raise ConfigError(
                    f"{what} and {taken[port]} would both have the port {port}",
                    hint="node 2 has the port after that of node 1: leave room between listeners",
                )
            taken[port] = what


def _bound(host: str, port: int, *, reuse: bool) -> socket.socket:
    """A socket that has the port and does not listen; `reuse` if others may have had it lately."""
    held = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        if reuse:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind((host, port))
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # for the node's own socket
    except BaseException:
        held.close()
        raise
    return held


def _first_free(host: str, candidates: Iterable[int]) -> socket.socket:
    for port in candidates:
        try:
            return _bound(host, port, reuse=False)
        except OSError as error:
            if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
                raise ConfigError(
                    f"this machine cannot listen on {host}: {error.strerror}",
                    hint="use an address of this machine, such as 127.0.0.1",
                ) from None
    raise ListenError(f"there is no free port on {host}", hint="name ports that can be used")


def _candidates() -> list[int]:
    low, high = _outgoing_range()
    candidates = [port for port in range(LOWEST_FREE, HIGHEST) if not low <= port <= high]
    random.shuffle(candidates)
    return candidates


def _outgoing_range() -> tuple[int, int]:
    try:
        low, high = map(int, _OUTGOING.read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return _USUAL_OUTGOING
    return low, high
