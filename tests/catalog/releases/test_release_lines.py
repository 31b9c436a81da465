"""Release lines, and the checks of their rows."""

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rollcall.catalog.apis import Mode, build_apis, known_apis
from rollcall.catalog.loader import TableError, read_table
from rollcall.catalog.releases.release import Release
from rollcall.catalog.releases.release_lines import (
    FILE,
    build_release_lines,
    known_release_lines,
)

Table = dict[str, Any]


def row(table: Table, line: str) -> dict[str, Any]:
    found: dict[str, Any] = next(row for row in table["lines"] if row["line"] == line)
    return found


def test_release_lines_cover_0_8_0_to_4_3() -> None:
    names = [line.name for line in known_release_lines()]
    assert (names[0], names[-1], len(names)) == ("0.8.0", "4.3", 33)


def test_a_line_adds_up_the_changes_of_all_lines_before_it() -> None:
    newest = known_release_lines()[-1].ranges
    assert newest[Mode.KRAFT][35] == (1, 5)
    assert newest[Mode.KRAFT][17] == (0, 1)
    assert (len(newest[Mode.KRAFT]), len(newest[Mode.CONTROLLER])) == (75, 41)


def test_a_patch_release_can_list_more_than_the_first_of_its_line() -> None:
    line = next(line for line in known_release_lines() if line.name == "4.0")
    first, second = line.listings
    assert first.ranges[Mode.KRAFT][11] == (2, 9)
    assert second.ranges[Mode.KRAFT][11] == (0, 9)
    assert line.patches_of(first) == (Release((4, 0, 0)),)
    assert line.listing_at(Release((4, 0, 7))) is second
    assert line.listing_at(Release((4, 0))) is second


@pytest.mark.parametrize(
    ("release", "patch"),
    [("3.9", "3.9.2"), ("3.9.1", "3.9.1"), ("0.9.0", "0.9.0.1"), ("3.9.1-ccs", "3.9.1"),
     ("3.9.77", "3.9.77")],
)  # fmt: skip
def test_patch_is_the_newest_patch_release_that_a_number_names(release: str, patch: str) -> None:
    wanted = Release.parse(release)
    line = next(line for line in known_release_lines() if wanted.within(line.release))
    assert line.patch(wanted) == Release.parse(patch)


def change(line: str, field: str, value: object) -> Callable[[Table], None]:
    def edit(table: Table) -> None:
        row(table, line)[field] = value

    return edit


def drop_line(table: Table) -> None:
    table["lines"] = [row for row in table["lines"] if row["line"] != "4.1"]


def swap_lines(table: Table) -> None:
    table["lines"][3], table["lines"][4] = table["lines"][4], table["lines"][3]


def drop_level(table: Table) -> None:
    del table["metadata_versions"]["30"]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (change("4.3", "chnages", {}), "line 4.3: has the unknown field chnages"),
        (
            change("4.3", "changes", {"kraft": {"DescribeLogDirs": [1, 5]}}),
            "does not mention the mode contr",
        ),
        (change("3.4", "unchanged", ["kraft", "zookeeper"]), "zookeeper is both changed and unch"),
        (change("2.7", "unchanged", ["kraft"]), "kraft is unchanged but does not exist"),
        (
            change("4.3", "changes", {"kraft": {"Fecth": [4, 19]}}),
            "does not mention the mode controller",
        ),
        (change("2.3", "changes", {"zookeeper": {"Fecth": [0, 11]}}), "there is no API Fecth"),
        (change("2.3", "changes", {"zookeeper": {"Fetch": [0, 10]}}), "Fetch is .0, 10. already"),
        (
            change("2.3", "changes", {"zookeeper": {"Fetch": [0, 9]}}),
            "Fetch decreases from 10 to 9",
        ),
        (change("2.3", "changes", {"zookeeper": {"Fetch": [5, 4]}}), "has the range .5, 4."),
        (change("2.3", "changes", {"zookeeper": {"ShareFetch": None}}), "removes ShareFetch"),
        (change("2.3", "patches", {"2.2.9": "2019-06-19"}), "has the patch release 2.2.9"),
        (change("2.3", "patches", {"2.3.0": "June"}), "2.3.0 has the date 'June'"),
        (change("2.3", "patches", {}), "patch releases are not in order"),
        (change("2.3", "ends", ["kraft"]), "ends the mode kraft, which does not exist"),
        (
            change("4.0", "patch_changes", {"4.0.0": {}}),
            "changes 4.0.0, which is not a later patch",
        ),
        (change("4.0", "refused", {"Produce": [13, 14]}), "refuses unlisted versions of key 0"),
        (
            change("0.10.0", "unlisted", {"ControlledShutdown": [0, 1]}),
            "lists versions of key 7 that are in unlisted",
        ),
        (change("3.7", "telemetry", {"Produce": [0, 0]}), "always lists the telemetry keys"),
        (
            change("4.2", "unstable", {"kraft": {"InitProducerId": [0, 5]}}),
            "unstable kraft: InitPro",
        ),
        (
            change("4.3", "features", {"metadata.version": [7, 29]}),
            "metadata.version 29, which is 4.2",
        ),
        (
            change("4.3", "features", {"metadata.version": [7, 31]}),
            "metadata.version 31, which is unknown",
        ),
        (drop_level, "line 4.3: supports metadata.version 30"),
        (drop_line, "no line of releases.json has it"),
        (swap_lines, "line 0.9: follows line 0.10.0"),
    ],
)
def test_build_release_lines_names_the_line_of_an_invalid_row(
    edit: Callable[[Table], None], message: str
) -> None:
    table = copy.deepcopy(read_table(FILE))
    edit(table)
    with pytest.raises(TableError, match=message) as caught:
        build_release_lines(table, known_apis())
    assert "releases.json" in caught.value.message or "apis.json" in caught.value.message
    assert caught.value.hint


def test_build_release_lines_rejects_an_api_that_no_line_lists() -> None:
    table = copy.deepcopy(read_table(FILE))
    table["lines"] = table["lines"][:-3]
    with pytest.raises(TableError, match=r"apis\.json, row \d+: no line of releases\.json has it"):
        build_release_lines(table, known_apis())


def test_build_release_lines_rejects_a_mode_that_apis_json_lacks() -> None:
    known = dict(known_apis())
    known[35] = replace(known[35], listeners=(Mode.CONTROLLER,))
    with pytest.raises(
        TableError, match=r"kraft lists DescribeLogDirs, which contradicts apis\.json"
    ):
        build_release_lines(read_table(FILE), known)


def test_a_new_release_needs_rows_of_data_and_no_code() -> None:
    """The procedure in CONTRIBUTING.md, with the changes on the branch of 4.4."""
    new_apis = [
        {"key": 93, "name": "StreamsGroupTopologyDescriptionUpdate", "enum": "STREAMS_GROUP_"
         "TOPOLOGY_DESCRIPTION_UPDATE", "listeners": ["kraft"]},
        {"key": 94, "name": "UnregisterController", "enum": "UNREGISTER_CONTROLLER",
         "listeners": ["kraft", "controller"], "forwarded": True},
    ]  # fmt: skip
    new_line = {
        "line": "4.4",
        "patches": {"4.4.0": "2026-10-01"},
        "changes": {
            "kraft": {"ApiVersions": [0, 5], "TxnOffsetCommit": [0, 6], "DeleteGroups": [0, 3],
                      "StreamsGroupTopologyDescriptionUpdate": [0, 0],
                      "UnregisterController": [0, 0]},
            "controller": {"ApiVersions": [0, 5], "UnregisterController": [0, 0]},
        },
        "features": {"metadata.version": [7, 31]},
    }  # fmt: skip
    table = copy.deepcopy(read_table(FILE))
    table["lines"].append(new_line)
    table["metadata_versions"]["31"] = "4.4-IV0"
    apis_then = build_apis([*read_table("apis.json")["apis"], *new_apis])
    line = build_release_lines(table, apis_then)[-1]
    assert line.ranges[Mode.KRAFT][18] == (0, 5)
    assert line.ranges[Mode.KRAFT][93] == (0, 0)
    assert line.refused == {0: (0, 2)}
    assert line.features["streams.version"] == (0, 1)
