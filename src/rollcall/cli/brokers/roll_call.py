"""`rollcall brokers`: a table of all brokers, or its JSON."""

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import typer

from rollcall.cli.brokers.query import run
from rollcall.cli.brokers.roll_call_json import document, lines, summary
from rollcall.cli.brokers.text import moment, note, software_cell, uptime, version_cell
from rollcall.cli.exit_codes import PARTIAL
from rollcall.cli.options.connection import ConnectionSettings
from rollcall.cli.terminal.output import (
    clear_screen,
    print_error,
    print_json,
    print_lines,
    print_table,
    print_warning,
)
from rollcall.cli.terminal.text import count
from rollcall.client import AdminClient, BrokerRow, ClientError, RollCall, roll_call
from rollcall.errors import RollcallError

COLUMNS = (
    "id", "address", "rack", "controller", "software", "version", "started (UTC)", "uptime", "note",
)  # fmt: skip

Show = Callable[[RollCall], None]


def list_brokers(
    settings: ConnectionSettings,
    *,
    by_start: bool,
    watch: float | None,
    output: Path | None,
    as_json: bool,
) -> None:
    def show(calls: RollCall) -> None:
        if output is not None:
            _append(output, calls)
        if as_json:
            print_json(document(calls))
            return
        if watch is not None:
            clear_screen()
        print_roll_call(calls, by_start=by_start)

    if watch is not None:
        run(watch_brokers(settings, show, watch))
        return
    calls = run(_query_once(settings, show))
    if calls.missing or calls.unlisted:
        raise typer.Exit(PARTIAL)


async def _query_once(settings: ConnectionSettings, show: Show) -> RollCall:
    async with AdminClient(settings.bootstrap, settings.config) as client:
        calls = await roll_call(client, unlisted=True)
        show(calls)
        return calls


async def watch_brokers(settings: ConnectionSettings, show: Show, seconds: float) -> None:
    """Repeat until interrupted, also while the cluster is unreachable."""
    async with AdminClient(settings.bootstrap, settings.config) as client:
        while True:
            try:
                show(await roll_call(client, keep_open=True, unlisted=True))
            except ClientError as error:
                print_error(error)
            await asyncio.sleep(seconds)


def _append(path: Path, calls: RollCall) -> None:
    """Append all lines in one write, so that a concurrent reader sees whole roll calls."""
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines(calls))
    try:
        separator = "\n" if _ends_inside_line(path) else ""
        with path.open("a", encoding="utf-8") as file:
            file.write(separator + text)
    except OSError as error:
        raise RollcallError(
            f"cannot write to {path}: {error.strerror}", hint="choose a writable file"
        ) from None


def _ends_inside_line(path: Path) -> bool:
    """Whether an earlier run was killed before the newline of its last line."""
    if not (path.is_file() and os.access(path, os.R_OK) and path.stat().st_size):
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


def print_roll_call(calls: RollCall, *, by_start: bool) -> None:
    rows = [*sorted_rows(calls.rows, by_start=by_start), *calls.unlisted]
    print_table(COLUMNS, [_cells(row, calls) for row in rows], right=("id", "uptime"))
    print_lines(["", summary_line(calls)])
    if summary(calls)["mixed"]:
        print_warning("the brokers do not all run the same software and version")


def sorted_rows(rows: Sequence[BrokerRow], *, by_start: bool) -> list[BrokerRow]:
    """By broker id, or by start time with unknown start times last (536.4)."""
    if by_start:
        return sorted(rows, key=lambda row: (not row.start_time_ms, row.start_time_ms, row.node.id))
    return sorted(rows, key=lambda row: row.node.id)


def _cells(row: BrokerRow, calls: RollCall) -> tuple[object, ...]:
    return (
        row.node.id if row.node.id >= 0 else "?",
        row.node.address,
        row.node.rack,
        "yes" if row.is_controller else "",
        software_cell(row.identity),
        version_cell(row.identity),
        moment(row.start_time_ms),
        uptime(row, calls.taken_at_ms),
        note(row, calls.cluster.cluster_id),
    )


def summary_line(calls: RollCall) -> str:
    """`3 brokers, 1 did not respond, Apache Kafka 3.8 to 3.9`."""
    found = summary(calls)
    failed = found["brokers"] - found["answered"]
    parts = [count(found["brokers"], "broker")]
    if failed:
        parts.append(f"{failed} did not respond")
    return ", ".join([*parts, *map(_version_span, found["software"])])


def _version_span(software: dict[str, str | None]) -> str:
    low, high = software["lowest"], software["highest"]
    name = software["name"] or "unknown software"
    if low is None:
        return f"{name} of unknown version"
    return f"{name} {low}" if low == high else f"{name} {low} to {high}"
