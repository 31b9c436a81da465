"""`rollcall api-versions`: the APIs of all brokers side by side, and where they differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from rollcall.catalog import (
    Mode,
    Provenance,
    Range,
    api_name,
    intersect,
    listed_ranges,
    release_line,
)
from rollcall.cli.brokers.query import answered_rows, broker_row, run, take_roll_call
from rollcall.cli.exit_codes import DIFFERENT
from rollcall.cli.options.common import JsonOption
from rollcall.cli.options.connection import (
    BootstrapArgument,
    ConfigOption,
    ReleaseOption,
    TimeoutOption,
    load_settings,
)
from rollcall.cli.terminal.output import print_json, print_lines, print_table
from rollcall.client import BrokerRow, RollCall

FORM = "rollcall-api-versions/1"
NOT_TOLD = {
    Provenance.CONFIGURED: (
        "tells no versions; these are of the release it is taken for (configured)"
    ),
    Provenance.INFERRED: "tells no versions; that it answers Metadata 0 is all we know (inferred)",
}


def api_versions(
    bootstrap: BootstrapArgument = None,
    broker: Annotated[
        int | None, typer.Option(metavar="N", help="Only this broker, by its id.")
    ] = None,
    compare: Annotated[
        str | None,
        typer.Option(metavar="RELEASE|BROKER", help="Hold it against a release or a broker's id."),
    ] = None,
    config: ConfigOption = None,
    timeout: TimeoutOption = None,
    release: ReleaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which versions of which APIs the brokers have, and what they have in common.

    Brokers with the same list share a column. A row with a star is one in which lists differ.

    Exit codes: 0 done, 1 it failed, 2 wrong usage, 3 with --compare: there are differences.

    Example: rollcall api-versions broker1:9092 --compare 4.0.0
    """
    settings = load_settings(bootstrap, config, timeout=timeout, release=release)
    if compare is not None and not compare.isdecimal():
        release_line(compare)  # what is no release is told before anybody is asked
    calls = run(take_roll_call(settings))
    rows = answered_rows(calls) if broker is None else (broker_row(calls, broker),)
    matrix = Matrix({row.node.id: row.ranges for row in rows}, compare, _other_side(calls, compare))
    if as_json:
        print_json(_document(matrix, calls, rows))
    else:
        _print(matrix)
        print_lines(remarks(rows, calls.missing if broker is None else ()))
    if compare is not None and any(map(matrix.differs, matrix.keys)):
        raise typer.Exit(DIFFERENT)


@dataclass(frozen=True)
class Matrix:
    lists: Mapping[int, Mapping[int, Range]]
    """By broker id."""
    compared_to: str | None = None
    other: Mapping[int, Range] | None = None

    @property
    def keys(self) -> list[int]:
        everything = [*self.lists.values(), self.other or {}]
        return sorted({key for ranges in everything for key in ranges})

    @property
    def common(self) -> Mapping[int, Range]:
        return intersect(self.lists.values())

    def differs(self, key: int) -> bool:
        found = {ranges.get(key) for ranges in self.lists.values()}
        return len(found if self.other is None else found | {self.other.get(key)}) > 1

    def groups(self) -> dict[str, Mapping[int, Range]]:
        """One list for all brokers that have it, under their ids."""
        members: dict[tuple[tuple[int, Range], ...], list[int]] = {}
        for broker, ranges in self.lists.items():
            members.setdefault(tuple(sorted(ranges.items())), []).append(broker)
        return {number_list(ids): dict(items) for items, ids in members.items()}


def number_list(numbers: Sequence[int]) -> str:
    """`1-3,7`: runs drawn together."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def _other_side(calls: RollCall, compare: str | None) -> Mapping[int, Range] | None:
    if compare is None:
        return None
    if compare.isdecimal():
        return broker_row(calls, int(compare)).ranges
    return listed_ranges(compare, _mode(calls, compare))


def _mode(calls: RollCall, release: str) -> Mode | None:
    """That of the brokers, if the release has it: a KRaft broker is held against a KRaft broker."""
    inferences = [row.identity.inference for row in calls.rows if row.identity.inference]
    mode = next((inference.mode for inference in inferences if inference.mode), None)
    return mode if mode in release_line(release).modes else None


def shown(range_: Range | None) -> str:
    if range_ is None:
        return "-"
    return f"{range_.low}" if range_.low == range_.high else f"{range_.low}-{range_.high}"


def _print(matrix: Matrix) -> None:
    groups, common = matrix.groups(), matrix.common
    columns = ["key", "API", *(f"broker {ids}" for ids in groups)]
    if len(groups) > 1:
        columns.append("common")
    if matrix.compared_to is not None:
        columns.append(_title(matrix.compared_to))
    rows = []
    for key in matrix.keys:
        cells = [key, api_name(key), *(shown(ranges.get(key)) for ranges in groups.values())]
        if len(groups) > 1:
            cells.append(shown(common.get(key)))
        if matrix.other is not None:
            cells.append(shown(matrix.other.get(key)))
        rows.append([*cells, "*" if matrix.differs(key) else ""])
    print_table([*columns, ""], rows, right=("key",))
    different = sum(map(matrix.differs, matrix.keys))
    print(f"\n{len(matrix.keys)} APIs, {different} of them not the same everywhere")


def remarks(rows: Sequence[BrokerRow], missing: Sequence[BrokerRow]) -> Iterator[str]:
    """Whose ranges are not its own words (885.4), and who is not in it at all."""
    for source, words in NOT_TOLD.items():
        if untold := [row.node.id for row in rows if provenance_of(row) is source]:
            yield f"broker {number_list(untold)}: {words}"
    if missing:
        yield f"without broker {number_list([row.node.id for row in missing])}: no answer"


def provenance_of(row: BrokerRow) -> Provenance:
    """How we know its ranges."""
    return row.versions.provenance if row.versions else Provenance.MISSING


def _title(compared_to: str) -> str:
    return f"broker {compared_to}" if compared_to.isdecimal() else f"Kafka {compared_to}"


def _document(matrix: Matrix, calls: RollCall, rows: Sequence[BrokerRow]) -> dict[str, object]:
    common = matrix.common
    return {
        "form": FORM,
        "time_ms": calls.taken_at_ms,
        "cluster_id": calls.cluster.cluster_id,
        "compared_to": matrix.compared_to,
        "missing": [row.node.id for row in calls.missing],
        "provenance": {str(row.node.id): provenance_of(row) for row in rows},
        "apis": [
            {
                "key": key,
                "name": api_name(key),
                "brokers": {
                    str(broker): _pair(ranges.get(key)) for broker, ranges in matrix.lists.items()
                },
                "common": _pair(common.get(key)),
                "other": _pair(matrix.other.get(key)) if matrix.other is not None else None,
                "differs": matrix.differs(key),
            }
            for key in matrix.keys
        ],
    }


def _pair(range_: Range | None) -> list[int] | None:
    return None if range_ is None else list(range_)
