"""`rollcall api-versions`: API versions of all brokers as a matrix, with their differences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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
from rollcall.cli.options.connection import ConnectionSettings
from rollcall.cli.terminal.output import print_json, print_lines, print_table, print_warning
from rollcall.cli.terminal.text import count, range_text
from rollcall.client import BrokerRow, RollCall

FORMAT = "rollcall-api-versions/2"
WITHOUT_API_VERSIONS = {
    Provenance.CONFIGURED: "versions are those of the configured release",
    Provenance.INFERRED: "only Metadata 0 is known to work (inferred)",
}


def show_api_versions(
    settings: ConnectionSettings, *, broker: int | None, compare: str | None, as_json: bool
) -> None:
    if compare is not None and not compare.isdecimal():
        release_line(compare)  # reject an unknown release before any broker is queried
    calls = run(take_roll_call(settings))
    rows = answered_rows(calls) if broker is None else (broker_row(calls, broker),)
    ranges = {row.node.id: row.ranges for row in rows}
    matrix = VersionMatrix(ranges, compare, _compared_ranges(calls, compare))
    if as_json:
        print_json(_document(matrix, calls, rows))
    else:
        _print_matrix(matrix)
        for text in coverage_warnings(rows, calls.missing if broker is None else ()):
            print_warning(text)
    if compare is not None and any(map(matrix.differs, matrix.keys)):
        raise typer.Exit(DIFFERENT)


@dataclass(frozen=True)
class VersionMatrix:
    """Version ranges by API key: of each broker, and of what they are compared with."""

    brokers: Mapping[int, Mapping[int, Range]]
    compared_to: str | None = None
    """A release or a broker id."""
    compared: Mapping[int, Range] | None = None

    @property
    def keys(self) -> list[int]:
        columns = [*self.brokers.values(), self.compared or {}]
        return sorted({key for ranges in columns for key in ranges})

    @property
    def common(self) -> Mapping[int, Range]:
        return intersect(self.brokers.values())

    def differs(self, key: int) -> bool:
        found = {ranges.get(key) for ranges in self.brokers.values()}
        if self.compared is not None:
            found.add(self.compared.get(key))
        return len(found) > 1

    def groups(self) -> dict[str, Mapping[int, Range]]:
        """Ranges by the ids of all brokers that share them, for example `1-2,4`."""
        members: dict[tuple[tuple[int, Range], ...], list[int]] = {}
        for broker, ranges in self.brokers.items():
            members.setdefault(tuple(sorted(ranges.items())), []).append(broker)
        return {id_list(ids): dict(items) for items, ids in members.items()}


def id_list(ids: Sequence[int]) -> str:
    """Broker ids with consecutive ones as ranges: `1-3,7`."""
    runs: list[list[int]] = []
    for number in sorted(ids):
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def _compared_ranges(calls: RollCall, compare: str | None) -> Mapping[int, Range] | None:
    if compare is None:
        return None
    if compare.isdecimal():
        return broker_row(calls, int(compare)).ranges
    return listed_ranges(compare, _mode(calls, compare))


def _mode(calls: RollCall, release: str) -> Mode | None:
    """KRaft or ZooKeeper as the brokers run it, if the release supports that mode."""
    inferences = [row.identity.inference for row in calls.rows if row.identity.inference]
    mode = next((inference.mode for inference in inferences if inference.mode), None)
    return mode if mode in release_line(release).modes else None


def _print_matrix(matrix: VersionMatrix) -> None:
    groups, common = matrix.groups(), matrix.common
    columns = ["key", "API", *(f"broker {ids}" for ids in groups)]
    if len(groups) > 1:
        columns.append("common")
    if matrix.compared_to is not None:
        columns.append(_compared_title(matrix.compared_to))
    rows = []
    for key in matrix.keys:
        cells = [key, api_name(key), *(range_text(ranges.get(key)) for ranges in groups.values())]
        if len(groups) > 1:
            cells.append(range_text(common.get(key)))
        if matrix.compared is not None:
            cells.append(range_text(matrix.compared.get(key)))
        rows.append([*cells, "*" if matrix.differs(key) else ""])
    print_table([*columns, ""], rows, right=("key",))
    different = sum(map(matrix.differs, matrix.keys))
    print_lines(["", f"{count(len(matrix.keys), 'API')}, {different} with different versions"])


def _compared_title(compared_to: str) -> str:
    return f"broker {compared_to}" if compared_to.isdecimal() else f"Kafka {compared_to}"


def coverage_warnings(rows: Sequence[BrokerRow], missing: Sequence[BrokerRow]) -> Iterator[str]:
    """Brokers whose versions are not reported by themselves (885.4), and those without response."""
    for provenance, text in WITHOUT_API_VERSIONS.items():
        if ids := [row.node.id for row in rows if versions_provenance(row) is provenance]:
            yield f"broker {id_list(ids)} does not support ApiVersions; {text}"
    if missing:
        ids = [row.node.id for row in missing]
        yield f"broker {id_list(ids)} did not respond and is not included"


def versions_provenance(row: BrokerRow) -> Provenance:
    return row.versions.provenance if row.versions else Provenance.MISSING


def _document(
    matrix: VersionMatrix, calls: RollCall, rows: Sequence[BrokerRow]
) -> dict[str, object]:
    common = matrix.common
    return {
        "format": FORMAT,
        "time_ms": calls.taken_at_ms,
        "cluster_id": calls.cluster.cluster_id,
        "compared_to": matrix.compared_to,
        "missing": [row.node.id for row in calls.missing],
        "provenance": {str(row.node.id): versions_provenance(row) for row in rows},
        "apis": [
            {
                "key": key,
                "name": api_name(key),
                "brokers": {
                    str(broker): _pair(ranges.get(key)) for broker, ranges in matrix.brokers.items()
                },
                "common": _pair(common.get(key)),
                "other": _pair(matrix.compared.get(key)) if matrix.compared is not None else None,
                "differs": matrix.differs(key),
            }
            for key in matrix.keys
        ],
    }


def _pair(range_: Range | None) -> list[int] | None:
    return None if range_ is None else list(range_)
