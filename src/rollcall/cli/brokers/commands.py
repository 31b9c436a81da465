"""Arguments, options and help of the commands that query brokers."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from rollcall.cli.options.common import JsonOption, WatchOption, seconds_option
from rollcall.cli.options.connection import (
    BootstrapArgument,
    ConfigOption,
    ReleaseOption,
    TimeoutOption,
)


class Order(StrEnum):
    ID = "id"
    START = "start"


def brokers(
    bootstrap: BootstrapArgument = None,
    config: ConfigOption = None,
    timeout: TimeoutOption = None,
    release: ReleaseOption = None,
    sort: Annotated[
        Order,
        typer.Option(
            metavar="id|start",
            show_default=False,
            help="Sort by broker id or by start time, unknown start times last (default id).",
        ),
    ] = Order.ID,
    watch: WatchOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Append one line of JSON per broker, as input for `rollcall pipeline brokers`.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List every broker with its software, version, start time and how each was determined.

    Values without a mark were reported by the broker itself. "inferred" values are derived from
    the API versions that it supports. "configured" values come from --release. A broker that does
    not respond is listed with the reason.

    Exit codes: 0 every broker responded, 1 no broker responded, 2 wrong usage, 3 at least one
    broker did not respond.

    Example: rollcall brokers broker1:9092 --output rolls.jsonl
    """
    from rollcall.cli.brokers.roll_call import list_brokers
    from rollcall.cli.options.connection import load_settings

    settings = load_settings(bootstrap, config, timeout=timeout, release=release)
    list_brokers(
        settings, by_start=sort is Order.START, watch=watch, output=output, as_json=as_json
    )


def api_versions(
    bootstrap: BootstrapArgument = None,
    broker: Annotated[
        int | None, typer.Option(metavar="ID", help="Show this broker only (default: all).")
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE|ID",
            help="Compare with a release (4.0.0) or with another broker (its id).",
        ),
    ] = None,
    config: ConfigOption = None,
    timeout: TimeoutOption = None,
    release: ReleaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the API versions of every broker, and the versions that all of them support.

    Brokers with the same versions share a column. An asterisk marks the APIs whose versions differ.

    Exit codes: 0 success, 1 failure, 2 wrong usage, 3 with --compare: the versions differ.

    Example: rollcall api-versions broker1:9092 --compare 4.0.0
    """
    from rollcall.cli.brokers.api_versions import show_api_versions
    from rollcall.cli.options.connection import load_settings

    settings = load_settings(bootstrap, config, timeout=timeout, release=release)
    show_api_versions(settings, broker=broker, compare=compare, as_json=as_json)


def features(
    bootstrap: BootstrapArgument = None,
    config: ConfigOption = None,
    timeout: TimeoutOption = None,
    release: ReleaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which features all brokers support, and what is missing for the others.

    A feature is usable when the brokers have the required API versions in common (KIP-35).

    Exit codes: 0 success, 1 failure, 2 wrong usage.

    Example: rollcall features broker1:9092
    """
    from rollcall.cli.brokers.features import show_features
    from rollcall.cli.options.connection import load_settings

    settings = load_settings(bootstrap, config, timeout=timeout, release=release)
    show_features(settings, as_json=as_json)


def wait_restart(
    bootstrap: BootstrapArgument = None,
    broker: Annotated[
        list[int] | None,
        typer.Option(metavar="ID", help="Wait for this broker (repeatable)."),
    ] = None,
    all_brokers: Annotated[
        bool, typer.Option("--all", help="Wait for every broker of the cluster.")
    ] = False,
    after: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Accept only a start time later than TIME, in Unix milliseconds or as "
            "2026-01-31T12:00:00Z (default: any start time other than the present one).",
        ),
    ] = None,
    timeout: Annotated[
        float,
        seconds_option("--timeout", help_text="Timeout of the command in seconds (default 300)."),
    ] = 300.0,
    poll: Annotated[
        float,
        seconds_option("--poll", help_text="Interval between two polls in seconds (default 0.5)."),
    ] = 0.5,
    config: ConfigOption = None,
    as_json: JsonOption = False,
) -> None:
    """Wait until brokers have restarted and all other brokers report their new start time.

    A broker has restarted when it reports another start time than at the beginning (KIP-536). The
    wait ends when the other brokers report the new start time of every broker named. A new start
    time that is lower than the old one is a warning about the clock of the broker.

    Exit codes: 0 restarted, 1 the cluster is unreachable or has no such broker, 2 wrong usage,
    3 timeout, 4 a broker does not report its start time.

    Example: rollcall wait-restart broker1:9092 --broker 2 --timeout 120
    """
    from rollcall.cli.brokers.wait_restart import parse_time, wait_for_restarts
    from rollcall.cli.options.connection import load_settings

    if bool(broker) == all_brokers:
        raise typer.BadParameter("give either --broker ID or --all", param_hint="--broker")
    settings = load_settings(bootstrap, config)
    wait_for_restarts(
        settings,
        broker or None,
        after=parse_time(after),
        timeout=timeout,
        poll=poll,
        as_json=as_json,
    )


def identify(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            show_default=False,
            help="JSON file with the response (default: standard input, also as -).",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Infer the release of a broker from a saved ApiVersions response (JSON).

    The response may come from a request log, from another tool or from `rollcall brokers --json`.

    Exit codes: 0 a release or product matches, 1 the input is not an ApiVersions response,
    2 wrong usage, 3 no release or product matches.

    Example: rollcall identify response.json
    """
    from rollcall.cli.brokers.identify import identify_response

    identify_response(file, as_json=as_json)
