"""Dialects: version ranges, edits of schema files, invalid directories, overlays."""

import json
import re
import shutil
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from rollcall.protocol.dialects import Dialect, _overlaid, dialect, load_dialect
from rollcall.protocol.errors import LocalProtocolError, SchemaError
from rollcall.protocol.reference import message_layout, pages
from rollcall.protocol.schema_files import read_file
from rollcall.protocol.versions import VersionRange

SCHEMAS = Path(str(resources.files("rollcall.protocol") / "schemas"))
RELEASED = dialect("released")
KIP = dialect("kip")


# Versions and lookup


def ranges(dialect_: Dialect) -> dict[str, str]:
    return {api.name: str(api.versions) for api in dialect_.apis.values()}


def test_each_dialect_has_its_version_ranges() -> None:
    released, kip = ranges(RELEASED), ranges(KIP)
    named = ("ApiVersions", "Metadata", "DescribeCluster", "UpdateMetadata")
    assert [kip[name] for name in named] == ["0-3", "0-11", "0-1", "0-7"]
    assert [released[name] for name in named[:3]] == ["0-4", "0-13", "0-2"]


def test_messages_without_an_overlay_are_shared_by_both_dialects() -> None:
    named = {
        document["name"] for path in SCHEMAS.glob("kip/*.json") for document in read_file(path)
    }
    for name, spec in RELEASED.messages.items():
        assert (KIP.spec(name) is spec) == (name not in named)


def test_a_dialect_is_loaded_once() -> None:
    assert dialect("kip") is KIP


def test_a_codec_is_compiled_once() -> None:
    assert KIP.codec("MetadataRequest", 3) is KIP.codec("MetadataRequest", 3)


@pytest.mark.parametrize(
    ("lookup", "message", "hint"),
    [
        (lambda: dialect("klingon"), "klingon", "released, kip"),
        (lambda: RELEASED.codec("Nothing", 0), "Nothing", "MetadataRequest"),
        (lambda: RELEASED.spec("Nothing"), "Nothing", "MetadataRequest"),
        (lambda: RELEASED.message_class("Nothing"), "Nothing", "MetadataRequest"),
        (lambda: RELEASED.codec("MetadataRequest", 14), "no version 14", "0-13"),
        (lambda: KIP.codec("MetadataRequest", 12), "no version 12", "0-11"),
        (lambda: KIP.codec("MetadataRequest", -1), "no version -1", "0-11"),
    ],
)
def test_the_error_for_an_unknown_name_lists_the_known_ones(
    lookup: Callable[[], object], message: str, hint: str
) -> None:
    with pytest.raises(LocalProtocolError, match=message) as caught:
        lookup()
    assert hint in str(caught.value.hint)


# Edited schema files


def documents(name: str) -> list[dict[str, Any]]:
    return read_file(SCHEMAS / f"{name}.json")


def directory_with(tmp_path: Path, **files: object) -> Path:
    directory = tmp_path / "schemas"
    directory.mkdir()
    for name, content in files.items():
        (directory / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return directory


def test_35_11_a_new_version_is_an_edit_of_one_file(tmp_path: Path) -> None:
    directory = tmp_path / "schemas"
    shutil.copytree(SCHEMAS, directory)
    file = directory / "DescribeCluster.json"
    text = file.read_text(encoding="utf-8")
    edited = text.replace('"validVersions": "0-2"', '"validVersions": "0-3"').replace(
        '{ "name": "ThrottleTimeMs"',
        '{ "name": "Motto", "type": "string", "versions": "3+", "about": "A motto." },\n'
        '      { "name": "ThrottleTimeMs"',
    )
    assert edited.count("0-3") == 2
    assert edited.count("Motto") == 1
    file.write_text(edited, encoding="utf-8")

    edited_dialect = load_dialect("edited", directory)
    codec = edited_dialect.codec("DescribeClusterResponse", 3)
    message = codec.message_class(motto="semper", cluster_id="c")
    assert codec.encode(message).startswith(b"\x07semper")
    assert codec.decode(codec.encode(message)) == message
    with pytest.raises(LocalProtocolError, match="motto"):
        edited_dialect.codec("DescribeClusterResponse", 2).encode(message)
    assert edited_dialect.apis[60].versions == VersionRange(0, 3)
    page = pages([edited_dialect])["DescribeCluster.md"]
    assert "A motto." in page
    assert "Motto" in [
        row.name for row in message_layout(edited_dialect, "DescribeClusterResponse", 3).rows
    ]
    assert "0-3" in re.findall(r"\[DescribeCluster\].*", pages([edited_dialect])["index.md"])[0]


def test_35_11_a_new_api_is_one_new_file(tmp_path: Path) -> None:
    directory = tmp_path / "schemas"
    shutil.copytree(SCHEMAS, directory)
    api = [
        {"apiKey": 4242, "type": kind, "name": f"Greet{kind.title()}", "validVersions": "0-1",
         "deprecatedVersions": "0", "flexibleVersions": "1+",
         "fields": [{"name": "Words", "type": "[]string", "versions": "0+"}]}
        for kind in ("request", "response")
    ]  # fmt: skip
    (directory / "Greet.json").write_text(json.dumps(api), encoding="utf-8")

    edited = load_dialect("edited", directory)
    for name in ("GreetRequest", "GreetResponse"):
        for version in (0, 1):
            codec = edited.codec(name, version)
            message = codec.message_class(words=["hello", "world"])
            assert codec.decode(codec.encode(message)) == message
    assert edited.apis[4242].name == "Greet"
    assert edited.apis[4242].versions == VersionRange(0, 1)
    reference = pages([edited])
    assert "[Greet](Greet.md)" in reference["index.md"]
    assert "deprecated" in reference["Greet.md"]


def test_35_8_the_reference_marks_deprecated_versions() -> None:
    assert message_layout(RELEASED, "FetchRequest", 3).deprecated
    assert message_layout(RELEASED, "FetchResponse", 3).deprecated
    assert not message_layout(RELEASED, "FetchRequest", 4).deprecated
    assert "deprecated" in pages([RELEASED])["Fetch.md"]
    for name in ("ApiVersionsRequest", "ApiVersionsResponse"):
        assert not any(
            message_layout(RELEASED, name, v).deprecated for v in RELEASED.spec(name).versions
        )


def test_35_8_a_schema_that_deprecates_api_versions_is_not_loaded(tmp_path: Path) -> None:
    request, response = documents("ApiVersions")
    request["deprecatedVersions"] = "0"
    with pytest.raises(SchemaError, match="ApiVersionsRequest"):
        load_dialect("bad", directory_with(tmp_path, ApiVersions=[request, response]))


def test_700_4_the_reference_marks_the_cluster_operations_of_metadata() -> None:
    for dialect_ in (RELEASED, KIP):
        rows = message_layout(dialect_, "MetadataResponse", 10).rows
        assert {row.name: row.deprecated for row in rows}["ClusterAuthorizedOperations"]
        names = [row.name for row in message_layout(dialect_, "MetadataResponse", 11).rows]
        assert "ClusterAuthorizedOperations" not in names


# Invalid schema directories


def pair(key: int = 1000, name: str = "Some") -> list[dict[str, Any]]:
    return [
        {"apiKey": key, "type": kind, "name": f"{name}{kind.title()}", "validVersions": "0-2",
         "flexibleVersions": "none", "fields": []}
        for kind in ("request", "response")
    ]  # fmt: skip


def test_load_dialect_rejects_a_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="not a directory"):
        load_dialect("x", tmp_path / "missing")


def test_load_dialect_rejects_a_directory_without_schemas(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no schema files") as caught:
        load_dialect("x", directory_with(tmp_path))
    assert caught.value.hint


def test_load_dialect_rejects_a_message_defined_twice(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"SomeRequest.* twice"):
        load_dialect("x", directory_with(tmp_path, A=pair(), B=pair()[:1]))


def test_load_dialect_rejects_two_apis_with_the_same_key(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="1000") as caught:
        load_dialect("x", directory_with(tmp_path, A=pair(), B=pair(name="Other")))
    assert caught.value.hint


def test_load_dialect_rejects_a_request_without_a_response(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="SomeRequest") as caught:
        load_dialect("x", directory_with(tmp_path, A=pair()[:1]))
    assert caught.value.hint


def test_load_dialect_rejects_a_response_without_a_request(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="SomeResponse") as caught:
        load_dialect("x", directory_with(tmp_path, A=pair()[1:]))
    assert caught.value.hint


def test_load_dialect_rejects_a_response_with_other_versions(tmp_path: Path) -> None:
    request, response = pair()
    response["validVersions"] = "0-1"
    with pytest.raises(SchemaError, match=r"0-2.*0-1"):
        load_dialect("x", directory_with(tmp_path, A=[request, response]))


def test_a_removed_api_is_not_in_the_dialect(tmp_path: Path) -> None:
    removed = [{**document, "validVersions": "none"} for document in pair()]
    assert not load_dialect("x", directory_with(tmp_path, A=removed)).apis


def test_an_unstable_last_version_is_not_listed_but_has_a_codec(tmp_path: Path) -> None:
    request, response = pair()
    request["latestVersionUnstable"] = True
    loaded = load_dialect("x", directory_with(tmp_path, A=[request, response]))
    assert loaded.apis[1000].versions == VersionRange(0, 1)
    assert loaded.codec("SomeRequest", 2)


def test_an_api_whose_only_version_is_unstable_lists_no_version(tmp_path: Path) -> None:
    documents = [{**d, "validVersions": "0", "latestVersionUnstable": True} for d in pair()]
    assert not load_dialect("x", directory_with(tmp_path, A=documents)).apis[1000].versions


# Overlays


@pytest.fixture
def base(tmp_path: Path) -> tuple[Dialect, Path, Path]:
    """A dialect, its directory, and the empty directory of an overlay."""
    request, response = pair()
    request["fields"] = [
        {"name": "Label", "type": "string", "versions": "0+", "about": "A label."},
        {"name": "Items", "type": "[]Item", "versions": "0+", "fields": [
            {"name": "Size", "type": "int32", "versions": "0+"}]},
    ]  # fmt: skip
    directory = directory_with(tmp_path, Some=[request, response])
    (directory / "over").mkdir()
    return load_dialect("base", directory), directory, directory / "over"


def overlay(base: tuple[Dialect, Path, Path], change: object) -> Dialect:
    under, directory, over = base
    (over / "Some.json").write_text(json.dumps(change), encoding="utf-8")
    return _overlaid("over", under, directory, over)


def test_an_overlay_changes_only_the_fields_it_names(base: tuple[Dialect, Path, Path]) -> None:
    item = {"name": "Items", "fields": [{"name": "Size", "versions": "none"}]}
    changed = overlay(base, {"name": "SomeRequest", "fields": [item]}).spec("SomeRequest")
    label, items = changed.fields
    assert label == base[0].spec("SomeRequest").fields[0]
    assert items.struct is not None
    assert not items.struct.fields[0].versions
    assert items.struct.fields[0].type == "int32"


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"name": "Nothing"}, "Nothing"),
        ({"name": "SomeRequest", "fields": [{"name": "New", "type": "int8"}]}, "New"),
        (
            {"name": "SomeRequest", "fields": [{"name": "Items", "fields": [{"name": "New"}]}]},
            "New",
        ),
        ({"name": "SomeRequest", "commonStructs": [{"name": "New"}]}, "New"),
        ({"name": "SomeRequest", "validVersions": "0-7"}, "0-7"),
        ({"name": "SomeRequest", "fields": [{"versions": "0+"}]}, "SomeRequest"),
    ],
)
def test_an_overlay_of_an_unknown_message_or_field_is_rejected(
    base: tuple[Dialect, Path, Path], change: object, what: str
) -> None:
    with pytest.raises(SchemaError, match=what) as caught:
        overlay(base, change)
    assert caught.value.hint


def test_35_8_an_overlay_that_deprecates_api_versions_is_rejected(tmp_path: Path) -> None:
    directory = directory_with(tmp_path, ApiVersions=documents("ApiVersions"))
    over = directory / "over"
    over.mkdir()
    change = {"name": "ApiVersionsResponse", "deprecatedVersions": "0"}
    (over / "ApiVersions.json").write_text(json.dumps(change), encoding="utf-8")
    with pytest.raises(SchemaError, match="ApiVersionsResponse"):
        _overlaid("over", load_dialect("base", directory), directory, over)
