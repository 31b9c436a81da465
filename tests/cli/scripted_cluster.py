"""Run scripted brokers in a thread, so that a command can run its own event loop."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from typer.testing import CliRunner

from rollcall.cli.app import app, exit_code
from rollcall.errors import RollcallError
from tests.client.scripted import ScriptedBroker, running


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str
    error: BaseException | None


def rollcall(*arguments: object, stdin: str | None = None) -> Outcome:
    """Run a command as `main` does, without printing a RollcallError."""
    result = CliRunner().invoke(app, list(map(str, arguments)), input=stdin)
    error = result.exception if not isinstance(result.exception, SystemExit) else None
    code = exit_code(error) if isinstance(error, RollcallError) else result.exit_code
    return Outcome(code, result.stdout, result.stderr, error)


@contextmanager
def serving(*brokers: ScriptedBroker) -> Iterator[Sequence[ScriptedBroker]]:
    loop = asyncio.new_event_loop()
    ready, stop = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with running(*brokers):
            ready.set()
            await stop.wait()
        await asyncio.sleep(0)

    def work() -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(serve())
            loop.run_until_complete(loop.shutdown_asyncgens())
            pending = asyncio.all_tasks(loop)
            for task in pending:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))
        finally:
            loop.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield brokers
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(60)
