"""What all commands that ask brokers share: a loop to run on, a client, and a roll call."""

from collections.abc import Coroutine
from typing import Any, TypeVar

from rollcall.cli.options.settings import Settings
from rollcall.client import AdminClient, BrokerRow, RollCall, roll_call
from rollcall.client.open_files import raise_open_file_limit
from rollcall.errors import RollcallError

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run on the fastest loop there is, with room for a connection to every broker."""
    import uvloop

    raise_open_file_limit()
    return uvloop.run(work)


async def take_roll_call(settings: Settings) -> RollCall:
    async with AdminClient(settings.bootstrap, settings.config) as client:
        return await roll_call(client)


def answered_rows(calls: RollCall) -> tuple[BrokerRow, ...]:
    """Those that can be compared; without any there is nothing to say."""
    rows = tuple(row for row in calls.rows if row.answered)
    if not rows:
        reasons = "; ".join(row.reason or "" for row in calls.rows)
        raise RollcallError(f"no broker of the cluster answered: {reasons}")
    return rows


def broker_row(calls: RollCall, broker_id: int) -> BrokerRow:
    row = calls.row(broker_id)
    if row is None:
        known = ", ".join(str(row.node.id) for row in calls.rows)
        raise RollcallError(f"there is no broker {broker_id}", hint=f"the cluster has {known}")
    if not row.answered:
        raise RollcallError(f"broker {broker_id} did not answer: {row.reason}")
    return row
