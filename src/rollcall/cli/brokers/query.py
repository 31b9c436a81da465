"""Run a roll call for a command, and select the broker rows it needs."""

from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

from rollcall.cli.options.connection import ConnectionSettings
from rollcall.client import AdminClient, BrokerRow, RollCall, raise_open_file_limit, roll_call
from rollcall.errors import RollcallError

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run on uvloop, with enough file descriptors for a connection to every broker."""
    raise_open_file_limit()
    try:
        return uvloop.run(work)
    finally:
        work.close()  # if interrupted before it started, Python would warn about it


async def take_roll_call(settings: ConnectionSettings) -> RollCall:
    async with AdminClient(settings.bootstrap, settings.config) as client:
        return await roll_call(client)


def answered_rows(calls: RollCall) -> tuple[BrokerRow, ...]:
    """Rows of the brokers that responded; an error if there are none."""
    rows = tuple(row for row in calls.rows if row.answered)
    if not rows:
        reasons = "; ".join(row.reason or "" for row in calls.rows)
        raise RollcallError(f"no broker of the cluster responded: {reasons}")
    return rows


def broker_row(calls: RollCall, broker_id: int) -> BrokerRow:
    """The row of this broker; an error if it is unknown or did not respond."""
    row = calls.row(broker_id)
    if row is None:
        known = ", ".join(str(row.node.id) for row in calls.rows)
        raise RollcallError(f"the cluster has no broker {broker_id}", hint=f"choose one of {known}")
    if not row.answered:
        raise RollcallError(f"broker {broker_id} did not respond: {row.reason}")
    return row
