"""Configuration of a server and its listeners: frozen, and validated when created."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from rollcall.errors import ConfigError
from rollcall.protocol import DIALECT_NAMES, RELEASED, VersionRange
from rollcall.protocol.sasl import MECHANISMS, CredentialStore

if TYPE_CHECKING:
    from rollcall.server.registry import ConnectionInfo

CONNECTIONS_GAUGE = "kafka_server_socket_server_metrics_connections"
"""Name of the KIP-511 gauge, as the JMX exporter writes it by default."""

KIB = 1024


class SecurityProtocol(StrEnum):
    """Kafka's four security protocols: with or without TLS, with or without SASL."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def tls(self) -> bool:
        return self.value.endswith("SSL")

    @property
    def sasl(self) -> bool:
        return self.value.startswith("SASL")


class ClientAuth(StrEnum):
    """Whether TLS clients must present a certificate (Kafka's `ssl.client.auth`)."""

    NONE = "none"
    REQUESTED = "requested"
    REQUIRED = "required"


class OnUnsupported(StrEnum):
    """Reaction to a request that the listener does not support (KIP-35)."""

    CLOSE = "close"
    """Close the connection, as Kafka does."""
    EMPTY = "empty"
    """Respond with the correlation id only (sub-proposal of KIP-35) and keep the connection."""


class RequestLogFormat(StrEnum):
    JSON = "json"
    """Kafka's format since 3.9.1."""
    TEXT = "text"
    """Kafka's format from 2.5 to 2.7, introduced with KIP-511."""


class RequestLogLevel(StrEnum):
    INFO = "INFO"
    """Requests in deprecated versions only (JSON; the text format logs none, as in Kafka)."""
    DEBUG = "DEBUG"
    """Every request."""


@dataclass(frozen=True, kw_only=True)
class TlsConfig:
    """TLS files of a listener, in PEM format."""

    certificate: Path
    """Certificate of the listener, followed by its chain."""
    key: Path
    authorities: Path | None = None
    """Certificate authorities of client certificates."""
    client_auth: ClientAuth = ClientAuth.NONE

    def __post_init__(self) -> None:
        for name, path in (
            ("certificate", self.certificate),
            ("key", self.key),
            ("authorities", self.authorities),
        ):
            if path is not None and not path.is_file():
                raise ConfigError(
                    f"TLS {name} file {path} does not exist", hint="name a readable PEM file"
                )
        if self.client_auth is not ClientAuth.NONE and self.authorities is None:
            raise ConfigError(
                f"client certificates are {self.client_auth}, but authorities is not set",
                hint="set authorities to a PEM file",
            )


@dataclass(frozen=True, kw_only=True)
class SaslConfig:
    """SASL mechanisms and credentials of a listener."""

    users: CredentialStore = field(repr=False)
    mechanisms: tuple[str, ...] = tuple(MECHANISMS)
    failure_delay: float = 0.1
    """Seconds before the response to a failed authentication, as in Kafka: slows down guessing."""

    def __post_init__(self) -> None:
        if not self.mechanisms:
            raise ConfigError(
                "no SASL mechanism is enabled", hint=f"choose from {', '.join(MECHANISMS)}"
            )
        for name in self.mechanisms:
            if name not in MECHANISMS:
                raise ConfigError(
                    f"SASL mechanism {name!r} is not supported",
                    hint=f"choose from {', '.join(MECHANISMS)}",
                )
        if self.failure_delay < 0:
            raise ConfigError(
                f"failure_delay {self.failure_delay} is negative", hint="use 0 or more seconds"
            )


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits:
    """Limits of connections; a connection that exceeds one is closed."""

    max_frame_bytes: int = 256 * KIB
    """Kafka allows 100 MB, for records. A Metadata request of 1 MB of short topic names blocks the
    event loop for seconds, long enough for the session of the node to expire."""
    max_frame_bytes_before_login: int = 64 * KIB
    """Before SASL authentication. Kafka allows 512 KB, which only Kerberos needs."""
    max_connections: int = 20_000
    max_connections_per_address: int = 15_000
    """Most of max_connections: an address may be a proxy."""
    idle_seconds: float = 600.0
    """Time without a request (Kafka's `connections.max.idle.ms`)."""
    handshake_seconds: float = 10.0
    """From accept to the end of the TLS handshake and SASL authentication."""
    frame_seconds: float = 30.0
    """To receive a whole request after its first byte, and for a client to read a response."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if not value > 0:  # also rejects nan, which TOML allows
                raise ConfigError(f"{limit.name} {value} is not positive", hint="use more than 0")


@dataclass(frozen=True, kw_only=True)
class ListenerConfig:
    """Address, dialect, security and limits of one listener."""

    name: str
    host: str = "127.0.0.1"
    port: int = 0
    advertised_host: str | None = None
    """Host that clients connect to (default: host)."""
    advertised_port: int | None = None
    dialect: str = RELEASED
    security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    tls: TlsConfig | None = None
    sasl: SaslConfig | None = None
    on_unsupported: OnUnsupported = OnUnsupported.CLOSE
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    versions: Mapping[int, VersionRange] = field(default_factory=dict)
    """API key -> versions to serve, to restrict those of the dialect."""
    admits: Callable[[ConnectionInfo], bool] | None = None
    """Called when the principal is known; False closes the connection (default: admit all)."""

    def __post_init__(self) -> None:
        if not self.name:
            raise ConfigError("a listener has no name", hint="set a name, such as PLAINTEXT")
        if not self.host:
            raise ConfigError(
                f"listener {self.name} has no host",
                hint="use 127.0.0.1 for this machine only, 0.0.0.0 for all addresses",
            )
        for name, port in (("port", self.port), ("advertised_port", self.advertised_port)):
            if port is not None and not 0 <= port < 65536:
                raise ConfigError(
                    f"{name} {port} of listener {self.name} is out of range",
                    hint="use 1 to 65535, or 0 to let the system choose",
                )
        if self.dialect not in DIALECT_NAMES:
            raise ConfigError(
                f"listener {self.name} has an unknown dialect {self.dialect!r}",
                hint=f"use one of {', '.join(DIALECT_NAMES)}",
            )
        self._check_pair("tls", self.security_protocol.tls, self.tls is not None)
        self._check_pair("sasl", self.security_protocol.sasl, self.sasl is not None)

    def _check_pair(self, name: str, needed: bool, given: bool) -> None:
        if needed and not given:
            raise ConfigError(
                f"listener {self.name} is {self.security_protocol} but has no {name} settings",
                hint=f"set {name}, or use a security protocol without it",
            )
        if given and not needed:
            raise ConfigError(
                f"listener {self.name} has {name} settings but is {self.security_protocol}",
                hint=f"remove {name}, or use a security protocol with it",
            )


@dataclass(frozen=True, kw_only=True)
class RequestLogConfig:
    """File, format and level of the request log, and the size of its queue."""

    path: Path
    format: RequestLogFormat = RequestLogFormat.JSON
    level: RequestLogLevel = RequestLogLevel.DEBUG
    max_queued_lines: int = 20_000
    """Lines waiting for the disk; further ones are dropped and counted."""
    max_queued_bytes: int = 8 * 1024 * 1024
    """Encoded size of the queued requests and responses; in memory they take a multiple."""

    def __post_init__(self) -> None:
        if self.max_queued_lines < 1 or self.max_queued_bytes < 1:
            raise ConfigError(
                "the queue of the request log has no capacity",
                hint="use 1 or more for max_queued_lines and max_queued_bytes",
            )


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """Settings that the listeners of one node share."""

    processor: int = 0
    """Number of the network processor, used in connection ids, gauge and registry."""
    request_log: RequestLogConfig | None = None
    connections_gauge: str = CONNECTIONS_GAUGE
    max_software: int = 100
    """Software name and version pairs in the gauge (Kafka's limit); more count as `other`."""

    def __post_init__(self) -> None:
        if self.processor < 0:
            raise ConfigError(f"processor {self.processor} is negative", hint="use 0 or more")
        if self.max_software < 1:
            raise ConfigError(f"max_software {self.max_software} is below 1", hint="use 1 or more")
