"""`rollcall connections`: who is connected to each node, as one table."""

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
from typing import Annotated, Any
from urllib.parse import urlencode, urlsplit

import typer
from rich.console import Console

from rollcall.cli.exit_codes import FAILED, PARTIAL
from rollcall.cli.options.common import JsonOption, WatchOption, seconds_option
from rollcall.cli.terminal.output import print_json, print_table
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
"""Column to what a node calls it."""

WHERE = "give the HTTP address of a node, as `rollcall cluster start` shows it"
MAX_ANSWER_BYTES = 64 * 1024 * 1024
PARALLEL = 32


@dataclass(frozen=True)
class NodeAnswer:
    """What one node told, or why it told nothing."""

    url: str
    connections: Sequence[Mapping[str, Any]] = ()
    total: int = 0
    error: str | None = None


def connections(
    urls: Annotated[
        list[str], typer.Argument(metavar="HTTP_URL...", help="HTTP addresses of the nodes.")
    ],
    listener: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only on this listener.")
    ] = None,
    principal: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only of this principal.")
    ] = None,
    client_id: Annotated[
        str | None, typer.Option(metavar="ID", help="Only with this client id.")
    ] = None,
    software: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only of this software name.")
    ] = None,
    peer_host: Annotated[
        str | None, typer.Option(metavar="HOST", help="Only from this address.")
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, help="At most so many of each node.")
    ] = 1000,
    watch: WatchOption = None,
    seconds: Annotated[
        float, seconds_option("--timeout", help_text="How long a node has to answer.")
    ] = 5.0,
    as_json: JsonOption = False,
) -> None:
    """Show who is connected to the nodes of `rollcall cluster start`, and with which software.

    A node that does not answer has a row that says why.

    Exit codes: 0 every node answered, 1 none did, 2 wrong usage, 3 at least one did not answer.

    Example: rollcall connections http://127.0.0.1:19292 --software librdkafka
    """
    wanted = {
        "listener": listener,
        "principal": principal,
        "client_id": client_id,
        "software_name": software,
        "peer_host": peer_host,
        "limit": limit,
    }
    query = urlencode({name: value for name, value in wanted.items() if value is not None})
    targets = [_target(url) for url in urls]
    show = _print_json if as_json else _print_table
    answers = _ask_all(targets, query, seconds)
    while watch is not None:
        Console().clear()  # on a terminal only
        show(answers)
        time.sleep(watch)
        answers = _ask_all(targets, query, seconds)
    silent = [answer for answer in answers if answer.error]
    if len(silent) == len(answers) and not as_json:
        raise _nobody(silent)
    show(answers)
    if silent:
        raise typer.Exit(FAILED if len(silent) == len(answers) else PARTIAL)


def _nobody(silent: Sequence[NodeAnswer]) -> RollcallError:
    reasons = "; ".join(f"{answer.url}: {answer.error}" for answer in silent)
    return RollcallError(f"no node could be asked: {reasons}", hint=WHERE)


def _target(url: str) -> str:
    """`host:port` is enough; a path that is there already is left out."""
    if "@" in url:  # not shown: what stands before it may be a password
        raise ConfigError("the HTTP address of a node has no username and no password", hint=WHERE)
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return f"{parts.scheme}://{parts.netloc}"
    except ValueError:  # a port or a bracket that makes no sense
        pass
    raise ConfigError(
        f"{url!r} is not an HTTP address",
        hint=WHERE,
    )


def _ask_all(targets: Sequence[str], query: str, seconds: float) -> list[NodeAnswer]:
    with ThreadPoolExecutor(min(len(targets), PARALLEL)) as threads:
        return list(threads.map(partial(_ask, query=query, seconds=seconds), targets))


def _ask(target: str, query: str, seconds: float) -> NodeAnswer:
    try:
        document = _get_json(target, f"/connections?{query}", seconds)
    except RollcallError as error:
        return NodeAnswer(target, error=error.message)
    return NodeAnswer(target, document["connections"], document["total"])


def _get_json(target: str, path: str, seconds: float) -> Any:
    began = time.monotonic()
    try:
        document = json.loads(_get(target, path, seconds))
    except (HTTPException, OSError, ValueError, RecursionError) as error:
        late = isinstance(error, TimeoutError) or time.monotonic() - began >= seconds
        raise RollcallError(f"no answer within {seconds:g} s" if late else _why(error)) from None
    if not isinstance(document, dict) or not _is_listing(document):
        raise RollcallError("this is no node of rollcall: it has no list of connections")
    return document


def _get(target: str, path: str, seconds: float) -> bytes:
    """The page; at the end of its time it is over, also for a node that sends a byte at a time."""
    parts = urlsplit(target)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    end = time.monotonic() + seconds
    with closing(kind(parts.netloc, timeout=seconds)) as connection:
        connection.connect()
        hang_up = Timer(max(0.0, end - time.monotonic()), _shut, [connection.sock])
        hang_up.start()
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            if answer.status != HTTPStatus.OK:
                raise RollcallError(f"it answers {answer.status} {answer.reason}")
            return answer.read(MAX_ANSWER_BYTES)
        finally:
            hang_up.cancel()


def _shut(sock: socket) -> None:
    with suppress(OSError):
        sock.shutdown(SHUT_RDWR)


def _why(error: Exception) -> str:
    if isinstance(error, OSError) and not isinstance(error, ConnectionResetError):
        return f"unreachable: {error.strerror or error}"
    return "this is no HTTP port of a node"  # a port for Kafka clients hangs up


def _is_listing(document: Mapping[str, object]) -> bool:
    rows = document.get("connections")
    return (
        isinstance(document.get("total"), int)
        and isinstance(rows, list)
        and all(isinstance(row, dict) for row in rows)
    )


def _print_json(answers: Sequence[NodeAnswer]) -> None:
    print_json(
        [
            {
                "node": answer.url,
                "error": answer.error,
                "total": answer.total,
                "connections": answer.connections,
            }
            for answer in answers
        ]
    )


def _cells(row: Mapping[str, object]) -> list[object]:
    since = str(row.get("since"))[:19].replace("T", " ")  # to the second, as all tables tell times
    return [since if name == "since" else row.get(name) for name in FIELDS.values()]


def _print_table(answers: Sequence[NodeAnswer]) -> None:
    rows: list[list[object]] = []
    for answer in answers:
        node = answer.url.removeprefix("http://")
        if answer.error is not None:
            rows.append([node, *[None] * len(FIELDS), answer.error])
        rows += ([node, *_cells(row), None] for row in answer.connections)
    if rows:
        print_table(["node", *FIELDS, "note"], rows, title=_title(answers), right=["requests"])
    else:
        print(_title(answers))


def _title(answers: Sequence[NodeAnswer]) -> str:
    shown = sum(len(answer.connections) for answer in answers)
    total = sum(answer.total for answer in answers)
    silent = sum(answer.error is not None for answer in answers)
    title = count(total, "connection")
    parts = [title if shown == total else f"{shown} of {title}"]
    if silent:
        parts.append(f"{silent} of {len(answers)} nodes did not answer")
    return ", ".join(parts)
