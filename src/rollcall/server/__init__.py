"""WE ARE ASKED: listeners with TLS, SASL and limits; the registry, the metrics, the request log.

What it is: everything between a socket and whoever answers. A `SocketServer` opens listeners, each
with a table of handlers; it cuts frames, answers ApiVersions and SASL itself, hands the rest to the
handlers, and keeps the answers in order. What it lists as supported follows from the handlers.

What it is not: it knows no other API, no cluster and no broker. Registry, metrics, request log and
limits do not know who answers, so that one day a gateway can.

In reading order:

- `config`, `limits`: what it is told
- `handlers`: who answers, and the ranges that follow from it
- `server`, `listener`, `processor`: what is shared by all, by a listener, by an event loop
- `link`, `connection`: one connection, its bytes and what they mean
- `api_versions`, `authentication`: what the server answers by itself
- `tls`, `distinguished_name`: TLS, and the principal of a certificate
- `registry`, `gauge`, `metrics`: who is connected, and how much was asked (KIP-511)
- `request_log`, `request_lines`, `rolling_file`: the request log (KIP-511)
- `refusals`, `disputes`: what operators are warned of
- `http`: the port for people and Prometheus
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
]
