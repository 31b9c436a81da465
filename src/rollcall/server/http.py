"""The HTTP port of a node: /metrics, /connections and /health, and nothing else.

A request is a line and headers of bounded size, with a bounded time to come; a body is not read.
The answer closes the connection, which spares this module all of keep-alive.
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
ANSWER_SECONDS: Final = 30.0
ROWS_AT_ONCE: Final = 200
"""After that many the loop may serve others: thousands are shown in many small steps."""
DEFAULT_LIMIT: Final = 1_000
FILTERS: Final = frozenset(
    {"listener", "principal", "client_id", "software_name", "software_version", "peer_host"}
)
METRICS_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

Health = Mapping[str, object]
"""What /health shows. It is healthy when `status` is `ready`."""


@dataclass(frozen=True, slots=True)
class Page:
    status: HTTPStatus
    content: bytes
    content_type: str = "application/json"


def _json_page(status: HTTPStatus, value: object) -> Page:
    return Page(status, json.dumps(value, default=str).encode() + b"\n")


def _problem(status: HTTPStatus, what: str) -> Page:
    return _json_page(status, {"error": what})


class HttpServer:
    """Made by `SocketServer.open_http`."""

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
        self._open: set[_HttpConnection] = set()
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
                f"the HTTP port cannot listen on {host}:{port}: {error}",
                hint="choose another port, or 0 for a free one",
            ) from error
        self.host = host
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for connection in list(self._open):
            connection.close()

    # -- pages

    async def page(self, method: str, target: str) -> Page:
        if method not in ("GET", "HEAD"):
            return _problem(HTTPStatus.METHOD_NOT_ALLOWED, "only GET and HEAD are served")
        try:
            parts = urlsplit(target)
            query = dict(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=20))
        except ValueError:
            return _problem(HTTPStatus.BAD_REQUEST, "the address cannot be read")
        match parts.path:
            case "/metrics":
                return Page(HTTPStatus.OK, self._metrics.text(), METRICS_TYPE)
            case "/connections":
                return await self._connections(query)
            case "/health":
                health = self._health()
                ready = health.get("status") == "ready"
                status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
                return _json_page(status, health)
            case _:
                return _problem(
                    HTTPStatus.NOT_FOUND, "there are /metrics, /connections and /health"
                )

    async def _connections(self, query: dict[str, str]) -> Page:
        text = query.pop("limit", str(DEFAULT_LIMIT))
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            return _problem(HTTPStatus.BAD_REQUEST, "limit must be a whole number")
        if unknown := sorted(query.keys() - FILTERS):
            known = ", ".join(sorted(FILTERS))
            return _problem(
                HTTPStatus.BAD_REQUEST, f"there is no filter {unknown[0]!r}: use limit, {known}"
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
            if number % ROWS_AT_ONCE == 0:
                await asyncio.sleep(0)
        content = (
            f'{{"total": {len(found)}, "shown": {len(shown)}, '
            f'"connections": [{", ".join(rows)}]}}\n'
        )
        return Page(HTTPStatus.OK, content.encode())


class _HttpConnection(asyncio.Protocol):
    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self._head = bytearray()
        self._transport: asyncio.Transport
        self._timer: asyncio.TimerHandle | None = None
        self._answer: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._limit(REQUEST_SECONDS)
        if len(self._server._open) >= MAX_CONNECTIONS:
            self._transport.abort()
        self._server._open.add(self)

    def _limit(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(seconds, self._transport.abort)

    def data_received(self, data: bytes) -> None:
        if self._answer is not None or self._transport.is_closing():
            return
        self._head += data
        if b"\r\n\r\n" in self._head:
            line, _, _ = bytes(self._head).partition(b"\r\n")
            self._limit(ANSWER_SECONDS)
            self._answer = asyncio.get_running_loop().create_task(self._respond(line))
        elif len(self._head) > MAX_HEAD_BYTES:
            self._send(
                _problem(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the request is too long")
            )

    async def _respond(self, line: bytes) -> None:
        words = line.decode("latin-1").split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            self._send(_problem(HTTPStatus.BAD_REQUEST, "this is no HTTP/1 request"))
            return
        try:
            page = await self._server.page(words[0], words[1])
        except Exception:  # a page that fails must not leave its reader waiting
            logger.exception("the page %r failed", words[1][:100])
            page = _problem(HTTPStatus.INTERNAL_SERVER_ERROR, "the page failed, see the log")
        self._send(page, head_only=words[0] == "HEAD")

    def _send(self, page: Page, *, head_only: bool = False) -> None:
        head = (
            f"HTTP/1.1 {page.status.value} {page.status.phrase}\r\n"
            f"Content-Type: {page.content_type}\r\nContent-Length: {len(page.content)}\r\n"
            "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
            "Connection: close\r\n\r\n"
        )
        self._transport.write(head.encode("latin-1") + (b"" if head_only else page.content))
        self._transport.close()

    def eof_received(self) -> bool:
        """Who asked and then closed its own end still gets the answer."""
        return self._answer is not None

    def close(self) -> None:
        self._transport.close()

    def connection_lost(self, _: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._answer is not None:
            self._answer.cancel()
        self._server._open.discard(self)
