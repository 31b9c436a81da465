"""`rollcall wait-restart`: wait until brokers have restarted, for scripts that restart them."""

import asyncio
import json
import re
import sys
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

import typer

from rollcall.cli.brokers.query import run
from rollcall.cli.brokers.text import moment
from rollcall.cli.exit_codes import NO_START_TIME, TIMED_OUT
from rollcall.cli.options.common import JsonOption, seconds_option
from rollcall.cli.options.connection import BootstrapArgument, ConfigOption, load_settings
from rollcall.cli.terminal.output import print_error
from rollcall.client import AdminClient, ClientConfig
from rollcall.client.restarts import NoStartTimeError, RestartEvent, RestartProgress, watch_restarts
from rollcall.errors import RollcallError
from rollcall.text import safe_text

BROKER_SECONDS = 2.0
"""How long one broker may take in one look; one that takes longer is looked at again."""


def wait_restart(
    bootstrap: BootstrapArgument = None,
    broker: Annotated[
        list[int] | None, typer.Option(metavar="N", help="The id of a broker; can be repeated.")
    ] = None,
    everyone: Annotated[bool, typer.Option("--all", help="All brokers of the cluster.")] = False,
    after: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="When it had started before, if the restart may have begun already: "
            "Unix milliseconds, or as in 2026-01-31T12:00:00Z.",
        ),
    ] = None,
    seconds: Annotated[
        float, seconds_option("--timeout", help_text="How long to wait in all.")
    ] = 300.0,
    poll: Annotated[float, seconds_option(help_text="The pause between two looks.")] = 0.5,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Wait until brokers have restarted: each says so itself, and the others know.

    A broker has restarted when it tells another start time than at the beginning (KIP-536), or a
    later one than TIME; it is back when the other brokers tell that time too. A lower start time
    is a warning: its clock went back.

    Exit codes: 0 restarted, 1 the cluster cannot be asked or has no such broker, 2 wrong usage,
    3 not within the timeout, 4 a broker tells no start time (at once, as waiting would not help).

    Example: rollcall wait-restart broker1:9092 --broker 2 --timeout 120
    """
    if broker and everyone:
        raise typer.BadParameter("--all is there, too: give one of them", param_hint="--broker")
    if not broker and not everyone:
        raise typer.BadParameter(
            "which brokers? Give --broker N, as often as needed, or --all", param_hint="--broker"
        )
    settings = load_settings(bootstrap, config)
    client = AdminClient(settings.bootstrap, _for_looking(settings.config))
    view = _JsonView() if as_json else _LinesView()
    work = _wait(client, broker or None, _parse_time(after), seconds, poll, view)
    try:
        run(work)
    except NoStartTimeError as error:
        print_error(error)
        raise typer.Exit(NO_START_TIME) from None
    except TimeoutError:
        late = ", ".join(map(str, view.missing()))
        who = f"broker {late}" if late else "the first answer of the cluster"
        print_error(RollcallError(f"after {seconds:g} s still waiting for {who}"))
        raise typer.Exit(TIMED_OUT) from None


async def _wait(
    client: AdminClient,
    brokers: list[int] | None,
    after: int | None,
    seconds: float,
    poll: float,
    view: "_View",
) -> None:
    told = watch_restarts(client, brokers, after=after, poll=poll)
    async with client, asyncio.timeout(seconds), aclosing(told):
        async for progress in told:
            view.show(progress)


def _for_looking(config: ClientConfig) -> ClientConfig:
    """A broker that is away is found out quickly, and found again quickly."""
    return replace(
        config,
        broker_timeout=min(config.broker_timeout, BROKER_SECONDS),
        connect_timeout=min(config.connect_timeout, BROKER_SECONDS),
        rounds=1,
        backoff_max=0.2,
    )


def _parse_time(text: str | None) -> int | None:
    if text is None:
        return None
    if re.fullmatch(r"\d{1,16}", text):
        return int(text)
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{safe_text(text)!r} is not a time: use Unix milliseconds, as `rollcall brokers "
            "--json` prints them, or a form such as 2026-01-31T12:00:00Z",
            param_hint="--after",
        ) from None
    return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1000)


class _View:
    def __init__(self) -> None:
        self.seen: dict[int, bool] = {}

    def show(self, progress: RestartProgress) -> None:
        self.seen[progress.broker] = progress.event is RestartEvent.BACK
        self.tell(progress)

    def missing(self) -> list[int]:
        return [broker for broker, back in self.seen.items() if not back]

    def tell(self, progress: RestartProgress) -> None:
        raise NotImplementedError


class _LinesView(_View):
    def tell(self, progress: RestartProgress) -> None:
        is_warning = progress.event in (RestartEvent.CLOCK_WENT_BACK, RestartEvent.DOWN_TOGETHER)
        print(event_text(progress), file=sys.stderr if is_warning else sys.stdout, flush=True)


def event_text(progress: RestartProgress) -> str:
    number, start = progress.broker, moment(progress.start_time_ms)
    before = moment(progress.before_ms)
    count = f" ({progress.back} of {progress.of} are back)" if progress.of > 1 else ""
    texts = {
        RestartEvent.WAITING: f"broker {number}: waiting for another start than {before}",
        RestartEvent.DOWN: f"broker {number}: down",
        RestartEvent.RESTARTED: f"broker {number}: restarted at {start}",
        RestartEvent.BACK: f"broker {number}: back, all others know{count}",
        RestartEvent.DOWN_TOGETHER: f"warning: broker {number} is down together with another",
        RestartEvent.CLOCK_WENT_BACK: f"warning: broker {number} started at {start}, "
        f"before {before}: its clock went back",
    }
    return texts[progress.event]


class _JsonView(_View):
    def tell(self, progress: RestartProgress) -> None:
        step = {
            "broker": progress.broker,
            "event": progress.event.name.lower(),
            "start_time_ms": progress.start_time_ms or None,
            "before_ms": progress.before_ms or None,
            "back": progress.back,
            "of": progress.of,
        }
        print(json.dumps(step), flush=True)  # a line each, for who reads along
