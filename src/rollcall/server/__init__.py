"""Socket server: listeners, TLS, SASL, limits, connection registry, metrics, request log.

A `SocketServer` opens listeners, each with a table of request handlers. It reads requests, serves
ApiVersions and SASL itself, passes the other requests to the handlers and sends their responses in
order. The API versions that a listener advertises follow from its handlers.

This package does not implement any other API and does not know clusters or brokers. Transport,
limits, registry, metrics and request log do not depend on Kafka requests being served here.

Modules in reading order:

- `config`: settings of the server and its listeners
- `handlers`: the handler interface, and the supported version ranges
- `server`, `listener`, `processor`: shared by all connections, by a listener, by an event loop
- `transport`, `frame_queue`, `connection`: bytes, frames and requests of one connection
- `api_versions`, `authentication`: the requests that the server handles itself
- `tls`, `distinguished_name`: TLS, and the principal of a client certificate
- `registry`, `gauge`, `metrics`: open connections and counters (KIP-511)
- `request_log`, `log_format`, `rolling_file`: the request log (KIP-511)
- `refusals`, `dialect_conflicts`: warnings for operators
- `http`: /metrics, /connections and /health
"""

from rollcall.server.config import (
    CONNECTIONS_GAUGE,
    ClientAuth,
    ConnectionLimits,
    ListenerConfig,
    OnUnsupported,
    RequestLogConfig,
    RequestLogFormat,
    RequestLogLevel,
    SaslConfig,
    SecurityProtocol,
    ServerConfig,
    TlsConfig,
)
from rollcall.server.handlers import Handler, RequestContext
from rollcall.server.http import HttpServer
from rollcall.server.listener import Listener, ListenError
from rollcall.server.registry import ANONYMOUS, ConnectionInfo, ConnectionRegistry
from rollcall.server.server import SocketServer
from rollcall.server.transport import Transport, TransportHandler, TransportSettings

__all__ = [
    "ANONYMOUS",
    "CONNECTIONS_GAUGE",
    "ClientAuth",
    "ConnectionInfo",
    "ConnectionLimits",
    "ConnectionRegistry",
    "Handler",
    "HttpServer",
    "ListenError",
    "Listener",
    "ListenerConfig",
    "OnUnsupported",
    "RequestContext",
    "RequestLogConfig",
    "RequestLogFormat",
    "RequestLogLevel",
    "SaslConfig",
    "SecurityProtocol",
    "ServerConfig",
    "SocketServer",
    "TlsConfig",
    "Transport",
    "TransportHandler",
    "TransportSettings",
]
