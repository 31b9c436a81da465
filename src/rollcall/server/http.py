"""HTTP server of a node: /metrics, /connections and /health.

Size of the request head and time are bounded, a request body is not read, and each response closes
the connection (no keep-alive).
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, cast
from urllib.parse import parse_qsl, urlsplit

from rollcall.errors import RollcallError
from rollcall.server.metrics import Metrics
from rollcall.server.registry import ConnectionRegistry

logger = logging.getLogger(__name__)

MAX_HEAD_BYTES: Final = 16 * 1024
MAX_CONNECTIONS: Final = 64
REQUEST_SECONDS: Final = 5.0
RESPONSE_SECONDS: Final = 30.0
ROWS_PER_TURN: Final = 200
"""Rows of /connections formatted before the event loop gets its turn."""
DEFAULT_LIMIT: Final = 1_000
FILTERS: Final = frozenset(
    {"listener", "principal", "client_id", "software_name", "software_version", "peer_host"}
)
METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Health = Mapping[str, object]
"""JSON object of /health. The node is healthy if `status` is `ready`."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    status: HTTPStatus
    content: bytes
    content_type: str = "application/json"


def _json_response(status: HTTPStatus, value: object) -> HttpResponse:
    return HttpResponse(status, json.dumps(value, default=str).encode() + b"\n")


def _error_response(status: HTTPStatus, message: str) -> HttpResponse:
    return _json_response(status, {"error": message})


class HttpServer:
    """An HTTP server, created by `SocketServer.open_http`."""

    def __init__(
        self,
        registry: ConnectionRegistry,
        metrics: Metrics,
        health: Callable[[], Health] | None,
    ) -> None:
        self._registry = registry
        self._metrics = metrics
        self._health = health or (lambda: {"status": "ready"})
        self._server: asyncio.Server | None = None
        self.connections: set[_HttpConnection] = set()
        self.host = ""
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    async def open(self, host: str, port: int) -> None:
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(lambda: _HttpConnection(self), host, port)
        except (OSError, OverflowError) as error:
            raise RollcallError(
                f"HTTP server cannot listen on {host}:{port}: {error}",
                hint="choose a free port, or 0 to let the system choose",
            ) from error
        self.host = host
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in list(self.connections):
            connection.close()

    async def handle(self, method: str, target: str) -> HttpResponse:
        if method not in ("GET", "HEAD"):
            return _error_response(HTTPStatus.METHOD_NOT_ALLOWED, "method is not GET or HEAD")
        try:
            parts = urlsplit(target)
            query = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=20))
        except ValueError:
            return _error_response(HTTPStatus.BAD_REQUEST, "invalid URL")
        match parts.path:
            case "/metrics":
                return HttpResponse(HTTPStatus.OK, self._metrics.text(), METRICS_TYPE)
            case "/connections":
                return await self._connections(query)
            case "/health":
                health = self._health()
                ready = health.get("status") == "ready"
                status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
                return _json_response(status, health)
            case _:
                return _error_response(
                    HTTPStatus.NOT_FOUND, "unknown path; use /metrics, /connections or /health"
                )

    async def _connections(self, query: dict[str, str]) -> HttpResponse:
        text = query.pop("limit", str(DEFAULT_LIMIT))
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            return _error_response(HTTPStatus.BAD_REQUEST, "limit is not a whole number")
        if unknown := sorted(query.keys() - FILTERS):
            known = ", ".join(sorted(FILTERS))
            return _error_response(
                HTTPStatus.BAD_REQUEST, f"unknown filter {unknown[0]!r}; use limit, {known}"
            )
        found = [
            info
            for info in self._registry
            if all(str(getattr(info, name)) == value for name, value in query.items())
        ]
        shown = found[: int(text)]
        rows = []
        for number, info in enumerate(shown, start=1):
            rows.append(json.dumps(info.as_row()))
            if number % ROWS_PER_TURN == 0:
                await asyncio.sleep(0)
        content = (
            f'{{"total": {len(found)}, "shown": {len(shown)}, '
            f'"connections": [{", ".join(rows)}]}}\n'
        )
        return HttpResponse(HTTPStatus.OK, content.encode())


class _HttpConnection(asyncio.Protocol):
    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._head = bytearray()
        self._transport: asyncio.Transport
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._limit(REQUEST_SECONDS)
        if len(self._server.connections) >= MAX_CONNECTIONS:
            self._transport.abort()
        self._server.connections.add(self)

    def _limit(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(seconds, self._transport.abort)

    def data_received(self, data: bytes) -> None:
        if self._task is not None or self._transport.is_closing():
            return
        self._head += data
        if b"\r\n\r\n" in self._head:
            line, _, _ = bytes(self._head).partition(b"\r\n")
            self._limit(RESPONSE_SECONDS)
            self._task = asyncio.get_running_loop().create_task(self._respond(line))
        elif len(self._head) > MAX_HEAD_BYTES:
            self._send(
                _error_response(
                    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "request head too large"
                )
            )

    async def _respond(self, line: bytes) -> None:
        words = line.decode("latin-1").split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            self._send(_error_response(HTTPStatus.BAD_REQUEST, "not an HTTP/1 request"))
            return
        try:
            response = await self._server.handle(words[0], words[1])
        except Exception:  # the client must get a response
            logger.exception("HTTP request for %r failed", words[1][:100])
            response = _error_response(
                HTTPStatus.INTERNAL_SERVER_ERROR, "internal error; see the log"
            )
        self._send(response, head_only=words[0] == "HEAD")

    def _send(self, response: HttpResponse, *, head_only: bool = False) -> None:
        head = (
            f"HTTP/1.1 {response.status.value} {response.status.phrase}\r\n"
            f"Content-Type: {response.content_type}\r\nContent-Length: {len(response.content)}\r\n"
            "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
            "Connection: close\r\n\r\n"
        )
        self._transport.write(head.encode("latin-1") + (b"" if head_only else response.content))
        self._transport.close()

    def eof_received(self) -> bool:
        """A client that half-closed the connection after its request still gets the response."""
        return self._task is not None

    def close(self) -> None:
        self._transport.close()

    def connection_lost(self, _: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
        self._server.connections.discard(self)
