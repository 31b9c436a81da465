"""Registry of open connections (KIP-511), from accept to close.

To keep an idle connection small, values that many connections have in common (listener, address,
set of API versions used) are one shared object, and the connection id is built on demand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, TypeVar

from rollcall.server.gauge import UNKNOWN, SoftwareGauge, SoftwareLabel

K = TypeVar("K")

ANONYMOUS: Final = "User:ANONYMOUS"
NO_VERSIONS_USED: Final[frozenset[tuple[int, int]]] = frozenset()

MAX_CLIENT_ID_LENGTH: Final = 256
"""Longer client ids are truncated: clients choose them."""


@dataclass(slots=True, eq=False)
class ConnectionInfo:
    """Identity and usage of one connection. Times are Unix seconds."""

    index: int
    processor: int
    listener: str
    security_protocol: str
    local: str
    """Host and port of the listener's end."""
    peer_host: str
    peer_port: int
    since: float
    principal: str = ANONYMOUS
    client_id: str | None = None
    software_name: str = UNKNOWN
    software_version: str = UNKNOWN
    last_request: float | None = None
    requests: int = 0
    api_versions: frozenset[tuple[int, int]] = NO_VERSIONS_USED
    """The (key, version) pairs of its requests."""
    label: SoftwareLabel | None = field(default=None, repr=False)
    """Label under which the gauge counts this connection."""

    @property
    def id(self) -> str:
        """Connection id in the format of Kafka 4."""
        return f"{self.local}-{self.peer}-{self.processor}-{self.index}"

    @property
    def peer(self) -> str:
        return f"{self.peer_host}:{self.peer_port}"

    def as_row(self) -> dict[str, object]:
        """The connection as a JSON object."""
        used: dict[str, list[int]] = {}
        for key, version in sorted(self.api_versions):
            used.setdefault(str(key), []).append(version)
        return {
            "id": self.id,
            "listener": self.listener,
            "network_processor": self.processor,
            "security_protocol": self.security_protocol,
            "principal": self.principal,
            "peer": self.peer,
            "client_id": self.client_id,
            "software_name": self.software_name,
            "software_version": self.software_version,
            "since": _iso(self.since),
            "last_request": None if self.last_request is None else _iso(self.last_request),
            "requests": self.requests,
            "api_versions": used,
        }


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


class ConnectionRegistry:
    """All open connections of a node, counted by listener, by address and by client software."""

    MAX_SHARED_SETS: Final = 4096

    def __init__(self, max_software: int) -> None:
        self.gauge = SoftwareGauge(max_software)
        self.by_listener: Counter[str] = Counter()
        self.by_address: Counter[tuple[str, str]] = Counter()
        """By listener and peer address."""
        self._open: dict[ConnectionInfo, None] = {}
        self._shared_sets: dict[frozenset[tuple[int, int]], frozenset[tuple[int, int]]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[ConnectionInfo]:
        """Connections in the order of accept."""
        return iter(list(self._open))

    def add(self, info: ConnectionInfo) -> None:
        self._open[info] = None
        self.by_listener[info.listener] += 1
        self.by_address[info.listener, info.peer_host] += 1
        info.label = self.gauge.add(info.software_name, info.software_version, info.listener)

    def remove(self, info: ConnectionInfo) -> None:
        """Remove a connection; no effect if it is not registered."""
        if info not in self._open:
            return
        del self._open[info]
        _decrement(self.by_listener, info.listener)
        _decrement(self.by_address, (info.listener, info.peer_host))
        if info.label is not None:
            self.gauge.remove(info.label)
            info.label = None

    def identify(self, info: ConnectionInfo, name: str, version: str) -> None:
        """Set the software that the client reported, in the gauge as well."""
        if (info.software_name, info.software_version) == (name, version) or info.label is None:
            return
        self.gauge.remove(info.label)
        info.software_name, info.software_version = name, version
        info.label = self.gauge.add(name, version, info.listener)

    def note_request(
        self,
        info: ConnectionInfo,
        api_key: int,
        version: int | None,
        client_id: str | None,
        now: float,
    ) -> None:
        """Count a request. `version` is None if unknown: clients could invent thousands."""
        info.requests += 1
        info.last_request = now
        if client_id != info.client_id:
            info.client_id = client_id and client_id[:MAX_CLIENT_ID_LENGTH]
        if version is not None and (api_key, version) not in info.api_versions:
            grown = info.api_versions | {(api_key, version)}
            if len(self._shared_sets) >= self.MAX_SHARED_SETS:
                self._shared_sets.clear()
            info.api_versions = self._shared_sets.setdefault(grown, grown)


def _decrement(counts: Counter[K], key: K) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
