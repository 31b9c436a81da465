"""Dialects: the layouts of the proposals typed by hand, and what one edit of a schema file does."""

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
from rollcall.protocol.schema_files import read_documents
from rollcall.protocol.versions import VersionRange

SCHEMAS = Path(str(resources.files("rollcall.protocol") / "schemas"))
RELEASED = dialect("released")
KIP = dialect("kip")


# -- what there is


def ranges(speech: Dialect) -> dict[str, str]:
    return {api.name: str(api.versions) for api in speech.apis.values()}


def test_the_dialects_offer_what_the_design_says() -> None:
    released, kip = ranges(RELEASED), ranges(KIP)
    named = ("ApiVersions", "Metadata", "DescribeCluster", "UpdateMetadata")
    assert [kip[name] for name in named] == ["0-3", "0-11", "0-1", "0-7"]
    assert [released[name] for name in named[:3]] == ["0-4", "0-13", "0-2"]


def test_what_an_overlay_does_not_name_is_the_same_in_both() -> None:
    named = {
        document["name"] for path in SCHEMAS.glob("kip/*.json") for document in read_documents(path)
    }
    for name, spec in RELEASED.messages.items():
        assert (KIP.spec(name) is spec) == (name not in named)


def test_a_dialect_is_loaded_once() -> None:
    assert dialect("kip") is KIP


def test_a_codec_is_compiled_once() -> None:
    assert KIP.codec("MetadataRequest", 3) is KIP.codec("MetadataRequest", 3)


@pytest.mark.parametrize(
    ("ask", "message", "hint"),
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
def test_what_does_not_exist_is_named_with_what_does(
    ask: Callable[[], object], message: str, hint: str
) -> None:
    with pytest.raises(LocalProtocolError, match=message) as caught:
        ask()
    assert hint in str(caught.value.hint)


# -- a dialect changes what the schema of the base says, and nothing else


def documents(name: str) -> list[dict[str, Any]]:
    return read_documents(SCHEMAS / f"{name}.json")


def folder_with(tmp_path: Path, **files: object) -> Path:
    folder = tmp_path / "schemas"
    folder.mkdir()
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_35_11_a_new_version_is_an_edit_of_one_file(tmp_path: Path) -> None:
    folder = tmp_path / "schemas"
    shutil.copytree(SCHEMAS, folder)
    file = folder / "DescribeCluster.json"
    text = file.read_text(encoding="utf-8")
    edited = text.replace('"validVersions": "0-2"', '"validVersions": "0-3"').replace(
        '{ "name": "ThrottleTimeMs"',
        '{ "name": "Motto", "type": "string", "versions": "3+", "about": "What it lives by." },\n'
        '      { "name": "ThrottleTimeMs"',
    )
    assert edited.count("0-3") == 2
    assert edited.count("Motto") == 1
    file.write_text(edited, encoding="utf-8")

    edited_dialect = load_dialect("edited", folder)
    codec = edited_dialect.codec("DescribeClusterResponse", 3)
    message = codec.message_class(motto="semper", cluster_id="c")
    assert codec.encode(message).startswith(b"\x07semper")
    assert codec.decode(codec.encode(message)) == message
    with pytest.raises(LocalProtocolError, match="motto"):
        edited_dialect.codec("DescribeClusterResponse", 2).encode(message)
    assert edited_dialect.apis[60].versions == VersionRange(0, 3)
    page = pages([edited_dialect])["DescribeCluster.md"]
    assert "What it lives by." in page
    assert "Motto" in [
        row.name for row in message_layout(edited_dialect, "DescribeClusterResponse", 3).rows
    ]
    assert "0-3" in re.findall(r"\[DescribeCluster\].*", pages([edited_dialect])["index.md"])[0]


def test_35_11_a_new_api_is_one_new_file(tmp_path: Path) -> None:
    folder = tmp_path / "schemas"
    shutil.copytree(SCHEMAS, folder)
    api = [
        {"apiKey": 4242, "type": kind, "name": f"Greet{kind.title()}", "validVersions": "0-1",
         "deprecatedVersions": "0", "flexibleVersions": "1+",
         "fields": [{"name": "Words", "type": "[]string", "versions": "0+"}]}
        for kind in ("request", "response")
    ]  # fmt: skip
    (folder / "Greet.json").write_text(json.dumps(api), encoding="utf-8")

    edited = load_dialect("edited", folder)
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


def test_35_8_a_schema_folder_that_deprecates_api_versions_is_not_loaded(tmp_path: Path) -> None:
    request, response = documents("ApiVersions")
    request["deprecatedVersions"] = "0"
    with pytest.raises(SchemaError, match="ApiVersionsRequest"):
        load_dialect("bad", folder_with(tmp_path, ApiVersions=[request, response]))


def test_700_4_the_reference_marks_the_cluster_operations_of_metadata() -> None:
    for speech in (RELEASED, KIP):
        rows = message_layout(speech, "MetadataResponse", 10).rows
        assert {row.name: row.deprecated for row in rows}["ClusterAuthorizedOperations"]
        names = [row.name for row in message_layout(speech, "MetadataResponse", 11).rows]
        assert "ClusterAuthorizedOperations" not in names


# -- folders that make no dialect


def pair(key: int = 1000, name: str = "Some") -> list[dict[str, Any]]:
    return [
        {"apiKey": key, "type": kind, "name": f"{name}{kind.title()}", "validVersions": "0-2",
         "flexibleVersions": "none", "fields": []}
        for kind in ("request", "response")
    ]  # fmt: skip


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="not a folder"):
        load_dialect("x", tmp_path / "missing")


def test_a_folder_without_schemas_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="no schema files") as caught:
        load_dialect("x", folder_with(tmp_path))
    assert caught.value.hint


def test_a_message_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"SomeRequest.* twice"):
        load_dialect("x", folder_with(tmp_path, A=pair(), B=pair()[:1]))


def test_two_apis_with_one_key_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="1000") as caught:
        load_dialect("x", folder_with(tmp_path, A=pair(), B=pair(name="Other")))
    assert caught.value.hint


def test_a_request_without_its_response_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="SomeRequest") as caught:
        load_dialect("x", folder_with(tmp_path, A=pair()[:1]))
    assert caught.value.hint


def test_a_response_without_its_request_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="SomeResponse") as caught:
        load_dialect("x", folder_with(tmp_path, A=pair()[1:]))
    assert caught.value.hint


def test_a_response_with_other_versions_is_refused(tmp_path: Path) -> None:
    request, response = pair()
    response["validVersions"] = "0-1"
    with pytest.raises(SchemaError, match=r"0-2.*0-1"):
        load_dialect("x", folder_with(tmp_path, A=[request, response]))


def test_an_api_that_was_removed_is_no_api(tmp_path: Path) -> None:
    gone = [{**document, "validVersions": "none"} for document in pair()]
    assert not load_dialect("x", folder_with(tmp_path, A=gone)).apis


def test_an_unstable_last_version_is_not_offered_but_can_be_spoken(tmp_path: Path) -> None:
    request, response = pair()
    request["latestVersionUnstable"] = True
    loaded = load_dialect("x", folder_with(tmp_path, A=[request, response]))
    assert loaded.apis[1000].versions == VersionRange(0, 1)
    assert loaded.codec("SomeRequest", 2)


def test_an_api_whose_only_version_is_unstable_offers_none(tmp_path: Path) -> None:
    documents = [{**d, "validVersions": "0", "latestVersionUnstable": True} for d in pair()]
    assert not load_dialect("x", folder_with(tmp_path, A=documents)).apis[1000].versions


# -- overlays


@pytest.fixture
def base(tmp_path: Path) -> tuple[Dialect, Path, Path]:
    """A dialect, its folder, and the folder of an overlay, still empty."""
    request, response = pair()
    request["fields"] = [
        {"name": "Label", "type": "string", "versions": "0+", "about": "A label."},
        {"name": "Items", "type": "[]Item", "versions": "0+", "fields": [
            {"name": "Size", "type": "int32", "versions": "0+"}]},
    ]  # fmt: skip
    folder = folder_with(tmp_path, Some=[request, response])
    (folder / "over").mkdir()
    return load_dialect("base", folder), folder, folder / "over"


def overlay(base: tuple[Dialect, Path, Path], change: object) -> Dialect:
    under, folder, over = base
    (over / "Some.json").write_text(json.dumps(change), encoding="utf-8")
    return _overlaid("over", under, folder, over)


def test_an_overlay_changes_what_it_names(base: tuple[Dialect, Path, Path]) -> None:
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
def test_an_overlay_that_changes_what_does_not_exist_is_refused(
    base: tuple[Dialect, Path, Path], change: object, what: str
) -> None:
    with pytest.raises(SchemaError, match=what) as caught:
        overlay(base, change)
    assert caught.value.hint


def test_35_8_an_overlay_may_not_deprecate_api_versions_either(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ApiVersions=documents("ApiVersions"))
    over = folder / "over"
    over.mkdir()
    change = {"name": "ApiVersionsResponse", "deprecatedVersions": "0"}
    (over / "ApiVersions.json").write_text(json.dumps(change), encoding="utf-8")
    with pytest.raises(SchemaError, match="ApiVersionsResponse"):
        _overlaid("over", load_dialect("base", folder), folder, over)
