"""The protocol reference: layouts, deprecation marks, changes of versions, Markdown pages."""

import json
import shutil
from importlib import resources
from pathlib import Path

import pytest

from rollcall.protocol.dialects import DIALECT_NAMES, Dialect, dialect, load_dialect
from rollcall.protocol.reference import change_in, message_layout, pages

EVERY_LAYOUT = [
    (name, spec.name, version)
    for name in DIALECT_NAMES
    for spec in dialect(name).messages.values()
    for version in spec.versions
]


@pytest.fixture
def schemas(tmp_path: Path) -> Path:
    """A copy of our schema files to edit."""
    source = Path(str(resources.files("rollcall.protocol") / "schemas"))
    return Path(shutil.copytree(source, tmp_path / "schemas", ignore=shutil.ignore_patterns("kip")))


def edited(schemas: Path, file: str, **changes: object) -> Dialect:
    """The dialect with attributes changed in all messages of a file."""
    documents = json.loads(
        "\n".join(
            line.split("//")[0]
            for line in (schemas / file).read_text(encoding="utf-8").splitlines()
        )
    )
    for document in documents:
        document.update(changes)
    (schemas / file).write_text(json.dumps(documents), encoding="utf-8")
    return load_dialect("edited", schemas)


@pytest.mark.parametrize(("dialect_name", "message", "version"), EVERY_LAYOUT)
def test_message_layout_lists_the_fields_of_the_version(
    dialect_name: str, message: str, version: int
) -> None:
    chosen = dialect(dialect_name)
    spec = chosen.spec(message)
    found = message_layout(chosen, message, version)
    top = [row.name for row in found.rows if row.depth == 0]
    assert sorted(top) == sorted(f.name for f in spec.fields if version in f.versions)
    assert found.change
    assert all(row.about for row in found.rows), "every field has a description"


def test_885_1_broker_software_fields_come_before_the_cluster_operations() -> None:
    names = [
        row.name
        for row in message_layout(dialect("kip"), "DescribeClusterResponse", 1).rows
        if row.depth == 0
    ]
    start = names.index("Brokers")
    assert names[start : start + 4] == [
        "Brokers",
        "BrokerSoftwareName",
        "BrokerSoftwareVersion",
        "ClusterAuthorizedOperations",
    ]


def test_700_4_cluster_operations_of_metadata_are_marked_deprecated() -> None:
    for name in DIALECT_NAMES:
        for version in (8, 9, 10):
            rows = message_layout(dialect(name), "MetadataResponse", version).rows
            assert [row.name for row in rows if row.deprecated] == ["ClusterAuthorizedOperations"]
        rows = message_layout(dialect(name), "MetadataResponse", 11).rows
        assert "ClusterAuthorizedOperations" not in [row.name for row in rows]


def test_35_8_pages_mark_deprecated_versions() -> None:
    written = pages([dialect("released"), dialect("kip")])
    assert "0-18 (0-3)" in written["index.md"]
    assert "### FetchRequest 3 (released, deprecated)" in written["Fetch.md"]
    assert "### FetchRequest 4 (released)" in written["Fetch.md"]
    assert "### FetchResponse 3 (released, deprecated)" in written["Fetch.md"]


def test_35_8_pages_mark_versions_deprecated_in_the_schema(schemas: Path) -> None:
    written = pages([edited(schemas, "SaslHandshake.json", deprecatedVersions="0")])
    assert "| 0-1 (0) |" in written["index.md"]
    assert "### SaslHandshakeRequest 0 (edited, deprecated)" in written["SaslHandshake.md"]


def test_35_11_pages_show_a_version_added_to_the_schema(schemas: Path) -> None:
    changed = edited(schemas, "SaslHandshake.json", validVersions="0-2")
    assert "### SaslHandshakeRequest 2 (edited)" in pages([changed])["SaslHandshake.md"]
    assert change_in(changed.spec("SaslHandshakeRequest"), 2) == "same as 1"


def test_changes_are_derived_from_the_fields_if_the_schema_has_none(schemas: Path) -> None:
    (schemas / "Ping.json").write_text(
        """[
        {"apiKey": 900, "type": "request", "name": "PingRequest", "validVersions": "0-2",
         "flexibleVersions": "2+", "fields": [
            {"name": "Text", "type": "string", "versions": "0", "about": "The text."},
            {"name": "Count", "type": "int32", "versions": "1+", "about": "Repetitions."}]},
        {"apiKey": 900, "type": "response", "name": "PingResponse", "validVersions": "0-2",
         "flexibleVersions": "2+", "fields": []}
        ]""",
        encoding="utf-8",
    )
    spec = load_dialect("edited", schemas).spec("PingRequest")
    assert [change_in(spec, version) for version in spec.versions] == [
        "first version",
        "adds Count, removes Text",
        "flexible",
    ]


def test_pages_escape_text_of_the_schema(schemas: Path) -> None:
    (schemas / "Odd.json").write_text(
        """[
        {"apiKey": 901, "type": "request", "name": "OddRequest", "validVersions": "0",
         "flexibleVersions": "none", "fields": [
            {"name": "A", "type": "int8", "versions": "0", "about": "a | b <script>"}]},
        {"apiKey": 901, "type": "response", "name": "OddResponse", "validVersions": "0",
         "flexibleVersions": "none", "fields": []}
        ]""",
        encoding="utf-8",
    )
    page = pages([load_dialect("edited", schemas)])["Odd.md"]
    assert "a \\| b &lt;script>" in page
    assert "The body is empty." in page
