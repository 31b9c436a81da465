"""ClusterConfig: configuration of the embedded cluster, the same for all of its nodes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rollcall import __version__
from rollcall.broker.authorizer import ALLOW_ALL, Authorizer
from rollcall.errors import ConfigError
from rollcall.protocol import DIALECT_NAMES, KIP, RELEASED
from rollcall.protocol.sasl import MECHANISMS
from rollcall.server import (
    CONNECTIONS_GAUGE,
    ConnectionLimits,
    OnUnsupported,
    RequestLogFormat,
    RequestLogLevel,
    SecurityProtocol,
    ServerConfig,
    TlsConfig,
)

INTERNAL = "INTERNAL"
"""Name of the listener between the nodes and the controller."""

LOOPBACK = "127.0.0.1"
"""Host of the internal listeners: all nodes run on one machine."""

MAX_BROKERS = 100
_ALL_ADDRESSES = {"0.0.0.0", "::", "*"}  # noqa: S104 - compared, not bound


@dataclass(frozen=True, kw_only=True)
class Software:
    """Software name and version that a node reports (KIP-885): any text or None."""

    name: str | None = "rollcall"
    version: str | None = __version__


@dataclass(frozen=True, kw_only=True)
class ListenerSettings:
    """A client listener of every node."""

    name: str
    dialect: str = RELEASED
    security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    port: int | None = None
    """Port of node 1, node 2 has the next one; None for a free port."""
    tls: TlsConfig | None = None
    mechanisms: tuple[str, ...] = tuple(MECHANISMS)
    on_unsupported: OnUnsupported = OnUnsupported.CLOSE
    authorize: bool = True
    """Whether the authorizer of the cluster applies to this listener."""
    require_describe: bool = False
    """Whether DescribeCluster requires DESCRIBE on the cluster (Kafka does not)."""

    def __post_init__(self) -> None:
        if self.name == INTERNAL:
            raise ConfigError(
                f"the listener name {INTERNAL} is reserved for the cluster",
                hint="choose another name",
            )
        if self.dialect not in DIALECT_NAMES:
            raise ConfigError(
                f"the dialect {self.dialect!r} of the listener {self.name} is unknown",
                hint=f"use one of {', '.join(DIALECT_NAMES)}",
            )


DEFAULT_LISTENERS = (
    ListenerSettings(name="PLAINTEXT"),
    ListenerSettings(name="KIP", dialect=KIP),
)
"""Listeners of every cluster, one for each dialect."""


@dataclass(frozen=True, kw_only=True)
class MetricsSettings:
    """Name of the connections gauge (KIP-511), and how many software names it can hold."""

    connections_gauge: str = CONNECTIONS_GAUGE
    max_software: int = ServerConfig.max_software


@dataclass(frozen=True, kw_only=True)
class NodeSettings:
    """Settings of one node."""

    rack: str | None = None
    software: Software | None = None


@dataclass(frozen=True, kw_only=True)
class ClusterConfig:
    """A cluster with nodes 1 to `brokers`; node 1 is also the controller."""

    brokers: int = 3
    cluster_id: str | None = None
    """None to take it from the data directory, or to generate one."""
    host: str = "127.0.0.1"
    advertised_host: str | None = None
    base_port: int | None = None
    """None for free ports."""
    listeners: tuple[ListenerSettings, ...] = DEFAULT_LISTENERS
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    authorizer: Authorizer | None = None
    software: Software = field(default_factory=Software)
    nodes: Mapping[int, NodeSettings] = field(default_factory=dict)
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    log_format: RequestLogFormat = RequestLogFormat.JSON
    log_level: RequestLogLevel = RequestLogLevel.DEBUG
    metrics: MetricsSettings = field(default_factory=MetricsSettings)

    def __post_init__(self) -> None:
        if not 1 <= self.brokers <= MAX_BROKERS:
            raise ConfigError(f"brokers is {self.brokers}", hint=f"use 1 to {MAX_BROKERS}")
        if not self.host:
            raise ConfigError("host is empty", hint="use 127.0.0.1 to listen on this machine only")
        if self.host in _ALL_ADDRESSES and self.advertised_host is None:
            raise ConfigError(
                f"the cluster listens on {self.host}, which clients cannot connect to",
                hint="set advertised_host to a host name that clients can reach",
            )
        for node_id in self.nodes:
            if not 1 <= node_id <= self.brokers:
                raise ConfigError(
                    f"node {node_id} has settings, but the nodes are 1 to {self.brokers}",
                    hint="raise the number of brokers, or remove these settings",
                )
        for listener in self.listeners:
            self._check(listener)

    def _check(self, listener: ListenerSettings) -> None:
        if listener.security_protocol.sasl and not self.users:
            raise ConfigError(
                f"the listener {listener.name} uses SASL, but no users are configured",
                hint='set the file of users: users = "users.toml"',
            )
        if listener.require_describe and not (self.authorizer and listener.authorize):
            raise ConfigError(
                f"the listener {listener.name} requires DESCRIBE, but has no authorizer",
                hint="add an [authorizer] table, or remove require_describe",
            )

    def authorizer_of(self, listener: ListenerSettings) -> Authorizer:
        return self.authorizer if self.authorizer and listener.authorize else ALLOW_ALL

    def rack_of(self, node_id: int) -> str | None:
        return self.nodes.get(node_id, NodeSettings()).rack

    def software_of(self, node_id: int) -> Software:
        return self.nodes.get(node_id, NodeSettings()).software or self.software
