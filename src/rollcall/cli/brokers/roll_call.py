"""`rollcall brokers`: what every broker of a cluster is, since when it runs, and how we know."""

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rollcall.cli.brokers.query import run
from rollcall.cli.brokers.roll_call_json import document, lines, summary
from rollcall.cli.brokers.text import moment, note, software, uptime, version
from rollcall.cli.exit_codes import PARTIAL
from rollcall.cli.options.common import JsonOption, WatchOption
from rollcall.cli.options.connection import (
    BootstrapArgument,
    ConfigOption,
    ConnectionSettings,
    ReleaseOption,
    TimeoutOption,
    load_settings,
)
from rollcall.cli.terminal.output import print_error, print_json, print_table
from rollcall.cli.terminal.text import count
from rollcall.client import AdminClient, BrokerRow, ClientError, RollCall, roll_call
from rollcall.errors import RollcallError
from rollcall.text import safe_text

COLUMNS = (
    "id", "address", "rack", "controller", "software", "version", "software is", "started (UTC)",
    "uptime", "start is", "note",
)  # fmt: skip


class Order(StrEnum):
    ID = "id"
    START = "start"


def brokers(
    bootstrap: BootstrapArgument = None,
    config: ConfigOption = None,
    timeout: TimeoutOption = None,
    release: ReleaseOption = None,
    sort: Annotated[Order, typer.Option(help="By id, or by start time: unknown last.")] = Order.ID,
    watch: WatchOption = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE.jsonl", help="Append a line per broker, for the pipeline."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Call the roll: what each broker is, since when it runs, and how we know.

    A broker's name, version and start time are its own words ("reported"), or a set of candidates
    drawn from its list of APIs ("inferred"), or from --release ("configured"), or missing. A broker
    that does not answer has a row that says why.

    Exit codes: 0 every broker answered, 1 none could be asked, 2 wrong usage, 3 at least one
    did not answer.

    Example: rollcall brokers broker1:9092 --output rolls.jsonl
    """
    settings = load_settings(bootstrap, config, timeout=timeout, release=release)
    table = _TableView(sort, clear=watch is not None)
    show: Callable[[RollCall], None] = _print_document if as_json else table
    calls = run(call_the_roll(settings, show, output, watch))
    if calls.missing or calls.unlisted:
        raise typer.Exit(PARTIAL)


async def call_the_roll(
    settings: ConnectionSettings,
    show: Callable[[RollCall], None],
    output: Path | None,
    watch: float | None,
) -> RollCall:
    async with AdminClient(settings.bootstrap, settings.config) as client:
        if watch is None:
            return _shown(await roll_call(client, unlisted=True), show, output)
        while True:
            try:
                calls = await roll_call(client, keep_open=True, unlisted=True)
                _shown(calls, show, output)
            except ClientError as error:  # who watches wants to see it come back
                print_error(error)
            await asyncio.sleep(watch)


def _shown(calls: RollCall, show: Callable[[RollCall], None], output: Path | None) -> RollCall:
    if output is not None:
        _append(output, calls)
    show(calls)
    return calls


def _append(path: Path, calls: RollCall) -> None:
    """All lines at once: who reads the file meanwhile sees whole roll calls."""
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines(calls))
    try:
        start = "\n" if _breaks_off(path) else ""
        with path.open("a", encoding="utf-8") as file:
            file.write(start + text)
    except OSError as error:
        raise RollcallError(
            f"{path} cannot be written: {error.strerror}", hint="name a file in a folder of yours"
        ) from None


def _breaks_off(path: Path) -> bool:
    """Whether an earlier call was stopped inside of a line, which must not spoil the next one."""
    if not (path.is_file() and os.access(path, os.R_OK) and path.stat().st_size):
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


def _print_document(calls: RollCall) -> None:
    print_json(document(calls))


class _TableView:
    def __init__(self, order: Order, *, clear: bool) -> None:
        self.order = order
        self.clear = clear

    def __call__(self, calls: RollCall) -> None:
        if self.clear:
            Console().clear()  # does nothing where there is no terminal
        rows = [*in_order(calls.rows, self.order), *calls.unlisted]
        print_table(COLUMNS, [_cells(row, calls) for row in rows], right=("id", "uptime"))
        print(f"\n{glance(calls)}")


def in_order(rows: Sequence[BrokerRow], order: Order) -> list[BrokerRow]:
    """By start time the unknown come last (536.4)."""
    if order is Order.START:
        return sorted(rows, key=lambda row: (not row.start_time_ms, row.start_time_ms, row.node.id))
    return sorted(rows, key=lambda row: row.node.id)


def _cells(row: BrokerRow, calls: RollCall) -> tuple[object, ...]:
    return (
        row.node.id if row.node.id >= 0 else "?",
        row.node.address,
        row.node.rack,
        "yes" if row.is_controller else "",
        software(row.identity),
        version(row.identity),
        row.identity.provenance,
        moment(row.start_time_ms),
        uptime(row, calls.taken_at_ms),
        row.start_time_provenance,
        note(row, calls.cluster.cluster_id),
    )


def glance(calls: RollCall) -> str:
    """The cluster in one line."""
    found = summary(calls)
    silent = found["brokers"] - found["answered"]
    parts = [count(found["brokers"], "broker")]
    if silent:
        parts.append(f"{silent} did not answer")
    parts += [_spread(one) for one in found["software"]]
    if found["mixed"]:
        parts.append("MIXED: not all brokers are the same")
    return safe_text(", ".join(parts))


def _spread(found: dict[str, str | None]) -> str:
    low, high = found["lowest"], found["highest"]
    name = found["name"] or "unknown software"
    if low is None:
        return f"{name} of unknown version"
    return f"{name} {low}" if low == high else f"{name} {low} to {high}"
