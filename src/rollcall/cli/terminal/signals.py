"""SIGINT (Ctrl-C) and SIGTERM while a command runs."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from rollcall.cli.exit_codes import TERMINATED


@contextmanager
def interrupts_raise() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGINT inside the block; otherwise keep the handler there was.

    Python cannot raise inside weak reference callbacks and finalizers; it prints the exception and
    goes on. An interrupt there is sent again a moment later instead.
    """

    def resend(unraisable: Any) -> None:
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            print_unraisable(unraisable)

    before, print_unraisable = signal.getsignal(signal.SIGINT), sys.unraisablehook
    sys.unraisablehook = resend
    try:
        if before is not signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = print_unraisable


def caused_by_interrupt(error: BaseException | None) -> bool:
    """Whether an error is a KeyboardInterrupt, or was raised while one was handled.

    An interrupt inside an import or a Spark call can appear as another error.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM ends the command as Ctrl-C does, with its cleanup, and exit code 143."""
    received: list[int] = []

    def terminate(number: int, _: object) -> None:
        if not received:  # a second SIGTERM does not disturb the cleanup
            received.append(number)
            signal.raise_signal(signal.SIGINT)

    def interrupt(number: int, frame: Any) -> None:
        """For a process that ignores SIGINT, such as a background job of a script."""
        if received:
            signal.default_int_handler(number, frame)

    before = {signal.SIGTERM: signal.signal(signal.SIGTERM, terminate)}
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        before[signal.SIGINT] = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    except BaseException:
        if received:
            raise typer.Exit(TERMINATED) from None
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def stop_requested(notify: Callable[[], None]) -> Iterator[threading.Event]:
    """An event that the first SIGINT or SIGTERM sets; the second one has its usual effect.

    `notify` runs at the first signal. Streams use it to end after the current batch.
    """
    stop = threading.Event()

    def request_stop(number: int, frame: Any) -> None:
        if not stop.is_set():
            stop.set()
            notify()
        elif callable(handler := before[signal.Signals(number)]):
            handler(number, frame)

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, request_stop) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def children_ignore_sigterm() -> Iterator[None]:
    """Processes started in the block ignore SIGTERM; this process receives it after the block.

    A service manager signals the whole process group. Java would end before the command has
    finished its cleanup; it ends with the command anyway, when its standard input is closed.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a blocked signal stays pending
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
