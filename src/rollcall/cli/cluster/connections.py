"""`rollcall connections`: the open connections of all nodes in one table."""

import json
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from socket import SHUT_RDWR, socket
from threading import Timer
from typing import Any
from urllib.parse import urlencode, urlsplit

import typer

from rollcall.cli.exit_codes import FAILED, PARTIAL
from rollcall.cli.terminal.output import clear_screen, print_json, print_table
from rollcall.cli.terminal.text import count
from rollcall.errors import ConfigError, RollcallError

FIELDS = {
    "listener": "listener",
    "principal": "principal",
    "client id": "client_id",
    "software": "software_name",
    "version": "software_version",
    "peer": "peer",
    "since (UTC)": "since",
    "requests": "requests",
}
"""Column titles and the JSON keys of a node."""

URL_HINT = "use the HTTP address that `rollcall cluster start` prints for a node"
MAX_RESPONSE_BYTES = 64 * 1024 * 1024
MAX_THREADS = 32


@dataclass(frozen=True)
class NodeConnections:
    """The connections of one node, or the reason why it did not respond."""

    url: str
    connections: Sequence[Mapping[str, Any]] = ()
    total: int = 0
    error: str | None = None


def list_connections(
    urls: Sequence[str],
    filters: Mapping[str, Any],
    *,
    watch: float | None,
    timeout: float,
    as_json: bool,
) -> None:
    query = urlencode({name: value for name, value in filters.items() if value is not None})
    targets = [_target(url) for url in urls]
    show = _print_json if as_json else _print_table
    nodes = _query_all(targets, query, timeout)
    while watch is not None:
        clear_screen()
        show(nodes)
        time.sleep(watch)
        nodes = _query_all(targets, query, timeout)
    failed = [node for node in nodes if node.error]
    if len(failed) == len(nodes) and not as_json:
        reasons = "; ".join(f"{node.url}: {node.error}" for node in failed)
        raise RollcallError(f"no node responded: {reasons}", hint=URL_HINT)
    show(nodes)
    if failed:
        raise typer.Exit(FAILED if len(failed) == len(nodes) else PARTIAL)


def _target(url: str) -> str:
    """Scheme and authority of a URL; `host:port` means HTTP, and a path is ignored."""
    if "@" in url:  # the message does not repeat it: it may contain a password
        raise ConfigError("credentials in the URL of a node are not supported", hint=URL_HINT)
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return f"{parts.scheme}://{parts.netloc}"
    except ValueError:  # invalid port or bracket
        pass
    raise ConfigError(f"{url!r} is not an HTTP address", hint=URL_HINT)


def _query_all(targets: Sequence[str], query: str, timeout: float) -> list[NodeConnections]:
    with ThreadPoolExecutor(min(len(targets), MAX_THREADS)) as threads:
        return list(threads.map(partial(_query, query=query, timeout=timeout), targets))


def _query(target: str, query: str, timeout: float) -> NodeConnections:
    try:
        document = _get_json(target, f"/connections?{query}", timeout)
    except RollcallError as error:
        return NodeConnections(target, error=error.message)
    return NodeConnections(target, document["connections"], document["total"])


def _get_json(target: str, path: str, timeout: float) -> Any:
    start = time.monotonic()
    try:
        document = json.loads(_get(target, path, timeout))
    except (HTTPException, OSError, ValueError, RecursionError) as error:
        timed_out = isinstance(error, TimeoutError) or time.monotonic() - start >= timeout
        message = f"no response within {timeout:g} s" if timed_out else _failure_text(error)
        raise RollcallError(message) from None
    if not isinstance(document, dict) or not _is_listing(document):
        raise RollcallError("not a rollcall node: the response has no list of connections")
    return document


def _get(target: str, path: str, timeout: float) -> bytes:
    """The response body. The timeout also ends a node that sends one byte at a time."""
    parts = urlsplit(target)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    end = time.monotonic() + timeout
    with closing(kind(parts.netloc, timeout=timeout)) as connection:
        connection.connect()
        timer = Timer(max(0.0, end - time.monotonic()), _shut_down, [connection.sock])
        timer.start()
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            if response.status != HTTPStatus.OK:
                raise RollcallError(f"HTTP status {response.status} {response.reason}")
            return response.read(MAX_RESPONSE_BYTES)
        finally:
            timer.cancel()


def _shut_down(sock: socket) -> None:
    with suppress(OSError):
        sock.shutdown(SHUT_RDWR)


def _failure_text(error: Exception) -> str:
    if isinstance(error, OSError) and not isinstance(error, ConnectionResetError):
        return f"unreachable: {error.strerror or error}"
    return "not the HTTP port of a node"  # a Kafka listener closes the connection


def _is_listing(document: Mapping[str, object]) -> bool:
    rows = document.get("connections")
    return (
        isinstance(document.get("total"), int)
        and isinstance(rows, list)
        and all(isinstance(row, dict) for row in rows)
    )


def _print_json(nodes: Sequence[NodeConnections]) -> None:
    print_json(
        [
            {
                "node": node.url,
                "error": node.error,
                "total": node.total,
                "connections": node.connections,
            }
            for node in nodes
        ]
    )


def _print_table(nodes: Sequence[NodeConnections]) -> None:
    rows: list[list[object]] = []
    for node in nodes:
        name = node.url.removeprefix("http://")
        if node.error is not None:
            rows.append([name, *[None] * len(FIELDS), node.error])
        rows += ([name, *_cells(row), None] for row in node.connections)
    if rows:
        print_table(["node", *FIELDS, "note"], rows, title=_title(nodes), right=["requests"])
    else:
        print(_title(nodes))


def _cells(row: Mapping[str, object]) -> list[object]:
    since = str(row.get("since"))[:19].replace("T", " ")  # to the second, as in all tables
    return [since if name == "since" else row.get(name) for name in FIELDS.values()]


def _title(nodes: Sequence[NodeConnections]) -> str:
    shown = sum(len(node.connections) for node in nodes)
    total = sum(node.total for node in nodes)
    failed = sum(node.error is not None for node in nodes)
    title = count(total, "connection")
    parts = [title if shown == total else f"{shown} of {title}"]
    if failed:
        parts.append(f"{failed} of {len(nodes)} nodes did not respond")
    return ", ".join(parts)
