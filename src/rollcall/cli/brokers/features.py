"""`rollcall features`: what a client can use on a cluster, and which broker stands in the way."""

from collections.abc import Iterator, Sequence

from rollcall.catalog import (
    BrokerSupport,
    FeatureResult,
    MissingRequirement,
    Usable,
    api_name,
    usable_features,
)
from rollcall.cli.brokers.api_versions import number_list, provenance_of, remarks, shown
from rollcall.cli.brokers.query import answered_rows, run, take_roll_call
from rollcall.cli.options.common import JsonOption
from rollcall.cli.options.connection import (
    BootstrapArgument,
    ConfigOption,
    ReleaseOption,
    TimeoutOption,
    load_settings,
)
from rollcall.cli.terminal.output import print_json, print_lines, print_table
from rollcall.cli.terminal.text import count
from rollcall.client import BrokerRow, RollCall

FORM = "rollcall-features/1"
HIGHEST = 32767


def features(
    bootstrap: BootstrapArgument = None,
    config: ConfigOption = None,
    timeout: TimeoutOption = None,
    release: ReleaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which features can be used on the cluster, and what stands in the way of the others.

    A feature can be used when all brokers have the versions it takes in common (KIP-35).

    Exit codes: 0 done, 1 it failed, 2 wrong usage.

    Example: rollcall features broker1:9092
    """
    settings = load_settings(bootstrap, config, timeout=timeout, release=release)
    calls = run(take_roll_call(settings))
    rows = answered_rows(calls)
    verdicts = usable_features({row.node.id: offer_of(row) for row in rows})
    if as_json:
        print_json(_document(verdicts, calls, rows))
        return
    print_table(
        ("feature", "what it is", "KIP", "usable", "in the way"),
        [
            (v.feature.id, v.feature.title, v.feature.kip, v.usable, "; ".join(in_the_way(v)))
            for v in verdicts
        ],
        right=("KIP",),
    )
    usable = sum(verdict.usable is Usable.YES for verdict in verdicts)
    print(f"\n{usable} of {len(verdicts)} can be used on {count(len(rows), 'broker')}")
    print_lines(remarks(rows, calls.missing))


def offer_of(row: BrokerRow) -> BrokerSupport:
    """What a broker lists, and what it has shown beyond that."""
    shows = {
        "broker-start-time": bool(row.start_time_ms),
        "broker-identity": row.responses is not None and any(row.responses.software),
    }
    return BrokerSupport(
        row.ranges,
        finalized=row.versions.finalized_features if row.versions else None,
        extensions=frozenset(name for name, is_shown in shows.items() if is_shown),
    )


def in_the_way(verdict: FeatureResult[int]) -> Iterator[str]:
    """One phrase for each thing that is missing, with all brokers that lack it alike."""
    alike: dict[tuple[object, ...], list[MissingRequirement[int]]] = {}
    for one in verdict.missing:
        key = (one.api_key, one.level, one.extension, one.needed, one.offered)
        alike.setdefault(key, []).append(one)
    for same in alike.values():
        yield f"broker {number_list([one.broker for one in same])}: {_lack(same[0])}"


def _lack(one: MissingRequirement[int]) -> str:
    what = one.extension or one.level or api_name(one.api_key if one.api_key is not None else -1)
    if one.needed is None:
        return f"does not tell {what}"
    needed = f"{one.needed.low}+" if one.needed.high >= HIGHEST else shown(one.needed)
    return f"{what} {needed} needed, has {shown(one.offered) if one.offered else 'none'}"


def _document(
    verdicts: tuple[FeatureResult[int], ...], calls: RollCall, rows: Sequence[BrokerRow]
) -> dict[str, object]:
    return {
        "form": FORM,
        "time_ms": calls.taken_at_ms,
        "cluster_id": calls.cluster.cluster_id,
        "missing": [row.node.id for row in calls.missing],
        "provenance": {str(row.node.id): provenance_of(row) for row in rows},
        "features": [
            {
                "id": verdict.feature.id,
                "title": verdict.feature.title,
                "kip": verdict.feature.kip,
                "since": verdict.feature.since,
                "usable": verdict.usable,
                "missing_requirements": [
                    {
                        "broker": one.broker,
                        "api_key": one.api_key,
                        "level": one.level,
                        "extension": one.extension,
                        "needed": list(one.needed) if one.needed else None,
                        "offered": list(one.offered) if one.offered else None,
                    }
                    for one in verdict.missing
                ],
            }
            for verdict in verdicts
        ],
    }
