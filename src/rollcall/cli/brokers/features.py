"""`rollcall features`: features that all brokers support, and what is missing for the others."""

from collections.abc import Iterator, Sequence

from rollcall.catalog import (
    BrokerSupport,
    FeatureResult,
    MissingRequirement,
    Usable,
    api_name,
    usable_features,
)
from rollcall.cli.brokers.api_versions import (
    coverage_warnings,
    id_list,
    versions_provenance,
)
from rollcall.cli.brokers.query import answered_rows, run, take_roll_call
from rollcall.cli.options.connection import ConnectionSettings
from rollcall.cli.terminal.output import print_json, print_lines, print_table, print_warning
from rollcall.cli.terminal.text import count, range_text
from rollcall.client import BrokerRow, RollCall

FORMAT = "rollcall-features/2"
OPEN_END = 32767
"""A requirement with this maximum is open-ended: `7+`."""
MAX_REQUIREMENTS = 3
"""Requirements shown per feature; JSON has all of them."""


def show_features(settings: ConnectionSettings, *, as_json: bool) -> None:
    calls = run(take_roll_call(settings))
    rows = answered_rows(calls)
    results = usable_features({row.node.id: broker_support(row) for row in rows})
    if as_json:
        print_json(_document(results, calls, rows))
        return
    print_table(
        ("feature", "description", "KIP", "usable", "missing"),
        [
            (
                result.feature.id,
                result.feature.title,
                result.feature.kip,
                result.usable,
                "; ".join(missing_texts(result)),
            )
            for result in results
        ],
        right=("KIP",),
    )
    usable = sum(result.usable is Usable.YES for result in results)
    print_lines(["", f"{usable} of {len(results)} features usable on {count(len(rows), 'broker')}"])
    for text in coverage_warnings(rows, calls.missing):
        print_warning(text)


def broker_support(row: BrokerRow) -> BrokerSupport:
    """API versions, finalized features, and the extensions that its responses carried."""
    shown = {
        "broker-start-time": bool(row.start_time_ms),
        "broker-identity": row.responses is not None and any(row.responses.software),
    }
    return BrokerSupport(
        row.ranges,
        finalized=row.versions.finalized_features if row.versions else None,
        extensions=frozenset(name for name, is_shown in shown.items() if is_shown),
    )


def missing_texts(result: FeatureResult[int]) -> Iterator[str]:
    """One phrase per set of brokers: `broker 1-2 lacks FindCoordinator 4+ (has 0-3)`."""
    brokers_by_requirement: dict[str, list[int]] = {}
    for missing in result.missing:
        brokers_by_requirement.setdefault(_requirement_text(missing), []).append(missing.broker)
    requirements_by_brokers: dict[str, list[str]] = {}
    for text, brokers in brokers_by_requirement.items():
        requirements_by_brokers.setdefault(id_list(brokers), []).append(text)
    for ids, texts in requirements_by_brokers.items():
        shown = texts[:MAX_REQUIREMENTS]
        if len(texts) > MAX_REQUIREMENTS:
            shown.append(f"{len(texts) - MAX_REQUIREMENTS} more")
        yield f"broker {ids} lacks {', '.join(shown)}"


def _requirement_text(missing: MissingRequirement[int]) -> str:
    key = missing.api_key if missing.api_key is not None else -1
    name = missing.extension or missing.level or api_name(key)
    if missing.needed is None:
        return name
    is_open = missing.needed.high >= OPEN_END
    needed = f"{missing.needed.low}+" if is_open else range_text(missing.needed)
    offered = f" (has {range_text(missing.offered)})" if missing.offered else ""
    return f"{name} {needed}{offered}"


def _document(
    results: tuple[FeatureResult[int], ...], calls: RollCall, rows: Sequence[BrokerRow]
) -> dict[str, object]:
    return {
        "format": FORMAT,
        "time_ms": calls.taken_at_ms,
        "cluster_id": calls.cluster.cluster_id,
        "missing": [row.node.id for row in calls.missing],
        "provenance": {str(row.node.id): versions_provenance(row) for row in rows},
        "features": [
            {
                "id": result.feature.id,
                "title": result.feature.title,
                "kip": result.feature.kip,
                "since": result.feature.since,
                "usable": result.usable,
                "missing_requirements": [
                    {
                        "broker": missing.broker,
                        "api_key": missing.api_key,
                        "level": missing.level,
                        "extension": missing.extension,
                        "needed": list(missing.needed) if missing.needed else None,
                        "offered": list(missing.offered) if missing.offered else None,
                    }
                    for missing in result.missing
                ],
            }
            for result in results
        ],
    }
