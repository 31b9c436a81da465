"""`rollcall protocol`: list, show and reference."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rollcall.cli.app import app
from rollcall.errors import RollcallError


def rollcall(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["protocol", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def rows(table: str) -> list[list[str]]:
    return [line.split() for line in table.splitlines()[2:]]


def test_list_shows_each_dialect_with_its_own_ranges() -> None:
    released = {row[1]: row[2] for row in rows(rollcall("list"))}
    kip = {row[1]: row[2] for row in rows(rollcall("list", "--dialect", "kip"))}
    differing = {name: (released[name], kip[name]) for name in kip if released[name] != kip[name]}
    assert differing == {
        "ApiVersions": ("0-4", "0-3"),
        "Metadata": ("0-13", "0-11"),
        "DescribeCluster": ("0-2", "0-1"),
        "UpdateMetadata": ("0-8", "0-7"),
    }


def test_list_prints_the_same_as_json() -> None:
    fetch = next(api for api in json.loads(rollcall("list", "--json")) if api["key"] == 1)
    assert fetch == {
        "key": 1,
        "name": "Fetch",
        "versions": [0, 18],
        "flexible": [12, 18],
        "deprecated": [0, 3],
    }


def test_536_3_show_prints_the_start_time_after_the_rack_in_the_dialect_kip() -> None:
    shown = rollcall("show", "Metadata", "--version", 10, "--dialect", "kip")
    fields = [line.split()[0] for line in shown.splitlines() if line]
    assert fields[fields.index("Rack") + 1] == "StartTimeMs"
    assert "TopicId" not in fields
    assert "TopicId" in rollcall("show", "Metadata", "--version", 10)


def test_show_as_json_carries_header_and_traits() -> None:
    [shown] = json.loads(rollcall("show", "apiversionsresponse", "--version", 3, "--json"))
    assert (shown["header"], shown["flexible"], shown["deprecated"]) == (0, True, False)
    tags = {field["name"]: field["tag"] for field in shown["fields"] if field["tag"] is not None}
    assert tags["Dialect"] == 88599


def test_show_without_a_version_lists_the_changes() -> None:
    shown = rollcall("show", "Fetch")
    assert "deprecated   same as 0; the client supports record format 1 (KIP-32)" in shown
    assert len(json.loads(rollcall("show", "Fetch", "--json"))) == 2 * 19


def test_reference_writes_an_index_and_a_page_for_each_api(tmp_path: Path) -> None:
    said = rollcall("reference", "--output", tmp_path / "new" / "directory")
    pages = {path.name for path in (tmp_path / "new" / "directory").iterdir()}
    assert "index.md" in said
    assert {"index.md", "Metadata.md", "ApiVersions.md", "DescribeCluster.md"} <= pages
    assert len(pages) == 13


def test_schemas_option_replaces_the_built_in_schemas(tmp_path: Path) -> None:
    for kind in ("request", "response"):
        (tmp_path / f"Ping{kind.title()}.json").write_text(
            f'{{"apiKey": 900, "type": "{kind}", "name": "Ping{kind.title()}", // a comment\n'
            '"validVersions": "0-1", "flexibleVersions": "1+", "fields": []}',
            encoding="utf-8",
        )
    assert rows(rollcall("list", "--schemas", tmp_path)) == [["900", "Ping", "0-1", "1"]]
    rollcall("reference", "--schemas", tmp_path, "--output", tmp_path / "out")
    assert (tmp_path / "out" / "Ping.md").exists()


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["show", "Nothing"], "choose one of Produce, Fetch"),
        (["show", "Metadata", "--version", "99"], "use a version of 0-13"),
        (["show", "Metadata", "--version", "-1"], "use a version of 0-13"),
        (["list", "--dialect", "klingon"], "use one of released, kip"),
    ],
)
def test_unknown_name_is_an_error_with_the_known_ones(arguments: list[str], hint: str) -> None:
    with pytest.raises(RollcallError) as caught:
        rollcall(*arguments)
    assert hint in str(caught.value.hint)


def test_directory_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(RollcallError, match="cannot write the reference"):
        rollcall("reference", "--output", tmp_path / "file" / "below")
