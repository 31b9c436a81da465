"""What a server and its listeners are told: frozen, and checked when made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from rollcall.errors import ConfigError
from rollcall.protocol.dialects import DIALECT_NAMES, RELEASED
from rollcall.protocol.sasl import MECHANISMS, CredentialStore
from rollcall.protocol.versions import VersionRange

if TYPE_CHECKING:
    from rollcall.server.registry import ConnectionInfo

CONNECTIONS_GAUGE = "kafka_server_socket_server_metrics_connections"
"""The gauge of KIP-511, as the JMX exporter names it by default."""

KIB = 1024


class SecurityProtocol(StrEnum):
    """Kafka's four: with TLS or not, with SASL or not."""

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
    """Whether a TLS client must show a certificate (Kafka's `ssl.client.auth`)."""

    NONE = "none"
    REQUESTED = "requested"
    REQUIRED = "required"


class OnUnsupported(StrEnum):
    """What a client gets for a request that the listener does not answer (KIP-35)."""

    CLOSE = "close"
    """The connection is closed, as Kafka does."""
    EMPTY = "empty"
    """The correlation id alone, the sub-proposal of KIP-35; the connection stays open."""


class RequestLogFormat(StrEnum):
    JSON = "json"
    """Kafka's form since 3.9.1."""
    TEXT = "text"
    """Kafka's form from 2.5 to 2.7, the one that came of KIP-511."""


class RequestLogLevel(StrEnum):
    INFO = "INFO"
    """Requests in deprecated versions only (JSON form; nothing in the text form, as in Kafka)."""
    DEBUG = "DEBUG"
    """Every request."""


@dataclass(frozen=True, kw_only=True)
class TlsConfig:
    """Files in PEM form."""

    certificate: Path
    """The certificate of the listener, followed by those it was signed with."""
    key: Path
    authorities: Path | None = None
    """Who signs the certificates of clients."""
    client_auth: ClientAuth = ClientAuth.NONE

    def __post_init__(self) -> None:
        for what, path in (
            ("certificate", self.certificate),
            ("key", self.key),
            ("authorities", self.authorities),
        ):
            if path is not None and not path.is_file():
                raise ConfigError(
                    f"the TLS {what} file {path} is not there", hint="name a readable PEM file"
                )
        if self.client_auth is not ClientAuth.NONE and self.authorities is None:
            raise ConfigError(
                f"client certificates are {self.client_auth}, but nobody is trusted to sign them",
                hint="set authorities to a PEM file with their certificates",
            )


@dataclass(frozen=True, kw_only=True)
class SaslConfig:
    """Who may log in, and how."""

    users: CredentialStore = field(repr=False)
    mechanisms: tuple[str, ...] = tuple(MECHANISMS)
    failure_delay: float = 0.1
    """Seconds before a failed login is answered: Kafka's own pause, it slows down guessing."""

    def __post_init__(self) -> None:
        if not self.mechanisms:
            raise ConfigError(
                "no SASL mechanism is enabled", hint=f"choose from {', '.join(MECHANISMS)}"
            )
        for name in self.mechanisms:
            if name not in MECHANISMS:
                raise ConfigError(
                    f"there is no SASL mechanism {name!r}",
                    hint=f"choose from {', '.join(MECHANISMS)}",
                )
        if self.failure_delay < 0:
            raise ConfigError(
                f"failure_delay is {self.failure_delay}", hint="use 0 or more seconds"
            )


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits:
    """Sizes in bytes, times in seconds. One address may be a proxy, so it may hold most of all."""

    max_frame_bytes: int = 256 * KIB
    """Kafka allows 100 MB, which only records need. Anyone may send a request as large as that, and
    while a list of the shortest names that fill it is answered, nobody else is: with 1 MB for
    seconds, and the other nodes take this one for dead."""
    max_frame_bytes_before_login: int = 64 * KIB
    """On a SASL listener until the client is logged in. Kafka has 512 KB, which Kerberos needs."""
    max_connections: int = 20_000
    max_connections_per_address: int = 15_000
    idle_seconds: float = 600.0
    """Without a request, as Kafka's `connections.max.idle.ms`."""
    handshake_seconds: float = 10.0
    """From accept to the end of TLS and SASL."""
    frame_seconds: float = 30.0
    """For the rest of a frame that has begun, and for a client to take an answer."""

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if not value > 0:  # TOML can say nan
                raise ConfigError(f"the limit {limit.name} is {value}", hint="use more than 0")


@dataclass(frozen=True, kw_only=True)
class ListenerConfig:
    """One listener: where it listens, what it speaks, who may come in."""

    name: str
    host: str = "127.0.0.1"
    port: int = 0
    advertised_host: str | None = None
    """Where clients reach it; its own host by default."""
    advertised_port: int | None = None
    dialect: str = RELEASED
    security_protocol: SecurityProtocol = SecurityProtocol.PLAINTEXT
    tls: TlsConfig | None = None
    sasl: SaslConfig | None = None
    on_unsupported: OnUnsupported = OnUnsupported.CLOSE
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    versions: Mapping[int, VersionRange] = field(default_factory=dict)
    """API key to the only versions to answer, for a listener that should have fewer."""
    admits: Callable[[ConnectionInfo], bool] | None = None
    """Asked once the principal is known; whoever it turns down is closed. None admits everyone."""

    def __post_init__(self) -> None:
        if not self.name:
            raise ConfigError("a listener has no name", hint="name it, as in PLAINTEXT")
        if not self.host:
            raise ConfigError(
                f"the listener {self.name} has no host",
                hint="use 127.0.0.1 for this machine only, 0.0.0.0 for all its addresses",
            )
        for what, port in (("port", self.port), ("advertised_port", self.advertised_port)):
            if port is not None and not 0 <= port < 65536:
                raise ConfigError(
                    f"the {what} of the listener {self.name} is {port}",
                    hint="use 1 to 65535, or 0 to let the system choose",
                )
        if self.dialect not in DIALECT_NAMES:
            raise ConfigError(
                f"the listener {self.name} has the dialect {self.dialect!r}",
                hint=f"use one of {', '.join(DIALECT_NAMES)}",
            )
        self._check_pair("tls", self.security_protocol.tls, self.tls is not None)
        self._check_pair("sasl", self.security_protocol.sasl, self.sasl is not None)

    def _check_pair(self, what: str, needed: bool, given: bool) -> None:
        if needed and not given:
            raise ConfigError(
                f"the listener {self.name} is {self.security_protocol} but has no {what} settings",
                hint=f"set {what}, or use a security protocol without it",
            )
        if given and not needed:
            raise ConfigError(
                f"the listener {self.name} has {what} settings but is {self.security_protocol}",
                hint=f"drop {what}, or use a security protocol with it",
            )


@dataclass(frozen=True, kw_only=True)
class RequestLogConfig:
    """Where the request log goes, and how much may wait to be written."""

    path: Path
    format: RequestLogFormat = RequestLogFormat.JSON
    level: RequestLogLevel = RequestLogLevel.DEBUG
    max_waiting: int = 20_000
    """Lines that may wait for the disk; what comes beyond is dropped and counted."""
    max_waiting_bytes: int = 8 * 1024 * 1024
    """The same in bytes of their requests and answers, which take many times that in memory."""

    def __post_init__(self) -> None:
        if self.max_waiting < 1 or self.max_waiting_bytes < 1:
            raise ConfigError(
                "the request log may let nothing wait",
                hint="use 1 or more for max_waiting and max_waiting_bytes",
            )


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """What the listeners of one node share."""

    processor: int = 0
    """The number of this network processor: in connection ids, the gauge and the registry."""
    request_log: RequestLogConfig | None = None
    connections_gauge: str = CONNECTIONS_GAUGE
    max_software: int = 100
    """Pairs of software name and version in the gauge, as in Kafka; more are counted as `other`."""

    def __post_init__(self) -> None:
        if self.processor < 0:
            raise ConfigError(f"processor is {self.processor}", hint="use 0 or more")
        if self.max_software < 1:
            raise ConfigError(f"max_software is {self.max_software}", hint="use 1 or more")
