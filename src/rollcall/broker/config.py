"""What a cluster is told: frozen, checked when made, and the same for all of its nodes.

`config_file` makes it from a document.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rollcall import __version__
from rollcall.broker.authorizer import EVERYBODY, Authorizer
from rollcall.errors import ConfigError
from rollcall.protocol.dialects import DIALECT_NAMES, KIP, RELEASED
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
"""The listener that is closed to all but the cluster."""

LOOPBACK = "127.0.0.1"
"""Where it listens, as all nodes run on one machine."""

MAX_BROKERS = 100
_ALL_ADDRESSES = {"0.0.0.0", "::", "*"}  # noqa: S104 - to be refused, not to be bound


@dataclass(frozen=True, kw_only=True)
class Software:
    """What a node says it is (KIP-885): any text, or nothing at all."""

    name: str | None = "rollcall"
    version: str | None = __version__


@dataclass(frozen=True, kw_only=True)
class ListenerSettings:
    """A listener that every node opens for clients."""

    name: str
    dialect: str = RELEASED
    security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    port: int | None = None
    """That of node 1, node 2 has the next; None for one that is free."""
    tls: TlsConfig | None = None
    mechanisms: tuple[str, ...] = tuple(MECHANISMS)
    on_unsupported: OnUnsupported = OnUnsupported.CLOSE
    authorize: bool = True
    """Whether the authorizer of the cluster, if it has one, is asked."""
    require_describe: bool = False
    """Whether DescribeCluster needs DESCRIBE on the cluster."""

    def __post_init__(self) -> None:
        if self.name == INTERNAL:
            raise ConfigError(
                f"a listener for clients is called {INTERNAL}",
                hint="choose another name, the cluster has one of its own that is called so",
            )
        if self.dialect not in DIALECT_NAMES:
            raise ConfigError(
                f"the listener {self.name} has the dialect {self.dialect!r}",
                hint=f"use one of {', '.join(DIALECT_NAMES)}",
            )


DEFAULT_LISTENERS = (
    ListenerSettings(name="PLAINTEXT"),
    ListenerSettings(name="KIP", dialect=KIP),
)
"""What every cluster has: the Kafka of today, and the proposals to the letter."""


@dataclass(frozen=True, kw_only=True)
class MetricsSettings:
    """The gauge of connections (KIP-511): its name, and how many names may be in it."""

    connections_gauge: str = CONNECTIONS_GAUGE
    max_software: int = ServerConfig.max_software


@dataclass(frozen=True, kw_only=True)
class NodeSettings:
    """What is different on one node."""

    rack: str | None = None
    software: Software | None = None


@dataclass(frozen=True, kw_only=True)
class ClusterConfig:
    """A cluster of nodes 1 to `brokers`; node 1 is the controller as well."""

    brokers: int = 3
    cluster_id: str | None = None
    """None: one is made up, or taken from the data folder."""
    host: str = "127.0.0.1"
    advertised_host: str | None = None
    base_port: int | None = None
    """None for ports that are free."""
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
            raise ConfigError(
                f"the cluster has {self.brokers} brokers", hint=f"use 1 to {MAX_BROKERS}"
            )
        if not self.host:
            raise ConfigError(
                "the cluster has no host to listen on", hint="use 127.0.0.1 for this machine only"
            )
        if self.host in _ALL_ADDRESSES and self.advertised_host is None:
            raise ConfigError(
                f"the cluster listens on {self.host}, which is no address to send clients to",
                hint="set advertised_host in the configuration to a name that clients can reach",
            )
        for node_id in self.nodes:
            if not 1 <= node_id <= self.brokers:
                raise ConfigError(
                    f"there are settings for node {node_id}, but the nodes are 1 to {self.brokers}",
                    hint="raise the number of brokers, or drop these settings",
                )
        for listener in self.listeners:
            self._check(listener)

    def _check(self, listener: ListenerSettings) -> None:
        if listener.security_protocol.sasl and not self.users:
            raise ConfigError(
                f"the listener {listener.name} asks for a login, but there are no users",
                hint='name a file of users: users = "users.toml"',
            )
        if listener.require_describe and not (self.authorizer and listener.authorize):
            raise ConfigError(
                f"the listener {listener.name} demands DESCRIBE, but has no authorizer to ask",
                hint="add an [authorizer], or drop require_describe",
            )

    def authorizer_of(self, listener: ListenerSettings) -> Authorizer:
        return self.authorizer if self.authorizer and listener.authorize else EVERYBODY

    def rack_of(self, node_id: int) -> str | None:
        return self.nodes.get(node_id, NodeSettings()).rack

    def software_of(self, node_id: int) -> Software:
        return self.nodes.get(node_id, NodeSettings()).software or self.software
