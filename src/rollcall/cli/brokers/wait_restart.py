"""`rollcall wait-restart`: wait until brokers have restarted, for rolling-restart scripts."""

import asyncio
import json
import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime

import typer

from rollcall.cli.brokers.query import run
from rollcall.cli.brokers.text import moment
from rollcall.cli.exit_codes import NO_START_TIME, TIMED_OUT
from rollcall.cli.options.connection import ConnectionSettings
from rollcall.cli.terminal.output import print_error, print_warning
from rollcall.client import AdminClient, ClientConfig
from rollcall.client.restarts import NoStartTimeError, RestartEvent, RestartProgress, watch_restarts
from rollcall.errors import RollcallError
from rollcall.text import safe_text

POLL_TIMEOUT = 2.0
"""Seconds that one broker may take in one poll; a slower one is queried again in the next poll."""
WARNINGS = (RestartEvent.CLOCK_WENT_BACK, RestartEvent.DOWN_TOGETHER)


def wait_for_restarts(
    settings: ConnectionSettings,
    brokers: Sequence[int] | None,
    *,
    after: int | None,
    timeout: float,
    poll: float,
    as_json: bool,
) -> None:
    """Wait for these brokers, or for all of them if `brokers` is None."""
    pending: dict[int, bool] = {}

    async def wait() -> None:
        client = AdminClient(settings.bootstrap, _polling_config(settings.config))
        events = watch_restarts(client, brokers, after=after, poll=poll)
        async with client, asyncio.timeout(timeout), aclosing(events):
            async for progress in events:
                pending[progress.broker] = progress.event is not RestartEvent.BACK
                _print_json(progress) if as_json else _print_text(progress)

    try:
        run(wait())
    except NoStartTimeError as error:
        print_error(error)
        raise typer.Exit(NO_START_TIME) from None
    except TimeoutError:
        ids = ", ".join(str(broker) for broker, is_pending in pending.items() if is_pending)
        waiting_for = f"broker {ids}" if ids else "the first response of the cluster"
        print_error(RollcallError(f"timeout after {timeout:g} s, still waiting for {waiting_for}"))
        raise typer.Exit(TIMED_OUT) from None


def _polling_config(config: ClientConfig) -> ClientConfig:
    """Short timeouts and backoff, so that a broker is soon seen down and soon seen up again."""
    return replace(
        config,
        broker_timeout=min(config.broker_timeout, POLL_TIMEOUT),
        connect_timeout=min(config.connect_timeout, POLL_TIMEOUT),
        rounds=1,
        backoff_max=0.2,
    )


def parse_time(text: str | None) -> int | None:
    """Unix milliseconds of `--after`."""
    if text is None:
        return None
    if re.fullmatch(r"\d{1,16}", text):
        return int(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{safe_text(text)!r} is not a time; use Unix milliseconds or a time such as "
            "2026-01-31T12:00:00Z",
            param_hint="--after",
        ) from None
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)


def _print_text(progress: RestartProgress) -> None:
    if progress.event in WARNINGS:
        print_warning(event_text(progress))
    else:
        print(event_text(progress), flush=True)


def event_text(progress: RestartProgress) -> str:
    broker = f"broker {progress.broker}"
    start, before = moment(progress.start_time_ms), moment(progress.before_ms)
    done = f" ({progress.back} of {progress.of} brokers done)" if progress.of > 1 else ""
    texts = {
        RestartEvent.WAITING: f"{broker}: waiting for a restart, last start {before}",
        RestartEvent.DOWN: f"{broker}: down",
        RestartEvent.RESTARTED: f"{broker}: restarted at {start}",
        RestartEvent.BACK: f"{broker}: all other brokers report the new start time{done}",
        RestartEvent.DOWN_TOGETHER: f"{broker} and another broker are down at the same time",
        RestartEvent.CLOCK_WENT_BACK: f"{broker}: new start time {start} is before {before}; "
        "check the clock of the broker",
    }
    return texts[progress.event]


def _print_json(progress: RestartProgress) -> None:
    """One line per event, flushed for programs that read along."""
    event = {
        "broker": progress.broker,
        "event": progress.event.name.lower(),
        "start_time_ms": progress.start_time_ms or None,
        "before_ms": progress.before_ms or None,
        "back": progress.back,
        "of": progress.of,
    }
    print(json.dumps(event), flush=True)
