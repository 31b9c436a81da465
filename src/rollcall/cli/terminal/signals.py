"""Being told to stop, by Ctrl-C or by a service manager (SIGTERM)."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from rollcall.cli.exit_codes import TERMINATED


@contextmanager
def until_interrupted(tell: Callable[[], None]) -> Iterator[threading.Event]:
    """Ctrl-C and SIGTERM end a stream after the batch it is in, which is told; twice, at once."""
    stop = threading.Event()

    def end(number: int, frame: Any) -> None:
        if not stop.is_set():
            stop.set()
            tell()
        elif callable(handler := before[signal.Signals(number)]):
            handler(number, frame)

    before = {each: signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM ends a command as Ctrl-C does, with an exit code of its own: all is left in order."""
    came: list[int] = []

    def stop(number: int, _: object) -> None:
        if not came:  # what is being left already is not to be disturbed
            came.append(number)
            signal.raise_signal(signal.SIGINT)

    def interrupt(number: int, frame: Any) -> None:
        """For who was started with Ctrl-C ignored, as in the background of a script."""
        if came:
            signal.default_int_handler(number, frame)

    before = {signal.SIGTERM: signal.signal(signal.SIGTERM, stop)}
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except BaseException as error:
        if came:
            raise typer.Exit(TERMINATED) from None
        if _was_interrupted(error):
            raise KeyboardInterrupt from None
        raise
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _was_interrupted(error: BaseException | None) -> bool:
    """Who leaves Spark in the middle of a call may meet other errors on the way out."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


@contextmanager
def children_stay() -> Iterator[None]:
    """What is started in the block does not hear SIGTERM; this process does, when it is over.

    Who stops a service or a group of processes tells all of them, and Java would be gone before
    the command has left in order. It ends with the command all the same: its input does."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # one that is blocked waits even so
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
