"""Which port is whose. Chosen once by the supervisor, as a node that is restarted keeps its ports.

Free ports are looked for outside of the range from which the system gives ports to outgoing
connections: one of those could take the port of a node while it is down.
"""

import errno
import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from rollcall.broker.config import INTERNAL, MAX_BROKERS, ClusterConfig
from rollcall.errors import ConfigError

HTTP = "http"
HIGHEST = 65535
_LOWEST_FREE = 10_000
_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")
_USUAL_OUTGOING = (32768, 60999)


def assign_ports(config: ClusterConfig) -> dict[int, dict[str, int]]:
    """Node to name to port; the names are those of the listeners, `INTERNAL` and `http`."""
    names = _names(config)
    fixed = {plan.name: plan.port for plan in config.listeners if plan.port is not None}
    if config.base_port is not None:
        for column, name in enumerate(names):
            fixed.setdefault(name, config.base_port + column * MAX_BROKERS)
    free = _free_ports(config.host)
    with ExitStack() as held:  # a port that is held is not found twice
        assigned = {
            node_id: {
                name: fixed[name] + node_id - 1
                if name in fixed
                else held.enter_context(next(free)).getsockname()[1]
                for name in names
            }
            for node_id in range(1, config.brokers + 1)
        }
    _check(assigned)
    return assigned


def _names(config: ClusterConfig) -> list[str]:
    """In the order in which they are given hundreds from the base port on."""
    first, second, *others = (plan.name for plan in config.listeners)
    return [first, second, HTTP, INTERNAL, *others]


def _check(assigned: dict[int, dict[str, int]]) -> None:
    taken: dict[int, str] = {}
    for node_id, ports in assigned.items():
        for name, port in ports.items():
            what = f"{name} of node {node_id}"
            if not 1 <= port <= HIGHEST:
                raise ConfigError(
                    f"the port of {what} would be {port}", hint="choose lower ports to begin with"
                )
            if port in taken:
                raise ConfigError(
                    f"{what} and {taken[port]} would both have the port {port}",
                    hint="node 2 has the port after that of node 1: leave room between listeners",
                )
            taken[port] = what


def _free_ports(host: str) -> Iterator[socket.socket]:
    """Sockets bound to ports that nobody has, one after another."""
    low, high = _outgoing_range()
    candidates = [port for port in range(_LOWEST_FREE, HIGHEST) if not low <= port <= high]
    random.shuffle(candidates)
    for port in candidates:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        found = socket.socket(family, socket.SOCK_STREAM)
        try:
            found.bind((host, port))
        except OSError as error:
            found.close()
            if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
                raise ConfigError(
                    f"this machine cannot listen on {host}: {error.strerror}",
                    hint="use an address of this machine, such as 127.0.0.1",
                ) from None
            continue
        yield found
    raise ConfigError(f"there is no free port on {host}", hint="name a base port")


def _outgoing_range() -> tuple[int, int]:
    try:
        low, high = map(int, _OUTGOING.read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return _USUAL_OUTGOING
    return low, high
