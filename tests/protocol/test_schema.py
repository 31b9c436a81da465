"""Schemas: Kafka's JSON message format, every construct of it, and everything that can be wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from rollcall.protocol.dialects import Dialect, load_dialect
from rollcall.protocol.errors import LocalProtocolError, SchemaError
from rollcall.protocol.schema import parse_message, read_documents, snake_case
from rollcall.protocol.versions import VersionRange
from tests.protocol.strategies import EDGES, SMALL, Chance, Maker, full_message

Document = dict[str, Any]

KINDS = ("Data", "Request", "Response")
EVERYTHING = Path(__file__).parent / "schemas"


# -- every construct


@pytest.fixture(scope="module")
def everything() -> Dialect:
    return load_dialect("everything", EVERYTHING)


def test_a_folder_of_files_is_loaded(everything: Dialect) -> None:
    assert sorted(everything.messages) == [
        "EverythingData",
        "EverythingRequest",
        "EverythingResponse",
    ]
    assert [(api.key, api.name) for api in everything.apis.values()] == [(1000, "Everything")]
    assert everything.spec("EverythingData").api_key is None


def test_every_attribute_of_a_field_is_kept(everything: Dialect) -> None:
    fields = {f.name: f for f in everything.spec("EverythingRequest").fields}
    assert fields["TopicName"].entity_type == "topicName"
    assert fields["TopicName"].about == 'A name // not a comment, "quoted".'
    assert fields["Items"].struct is not None
    assert fields["Items"].struct.fields[0].map_key
    assert fields["Ignorable"].ignorable
    assert fields["Tagged"].tag == 0
    assert fields["Tagged"].tagged == VersionRange.parse("2+")
    assert fields["OldText"].flexible == VersionRange.parse("none")


def test_defaults_are_values_of_the_type(everything: Dialect) -> None:
    message = everything.message_class("EverythingRequest")()
    assert message.hex == 0x7FFF
    assert message.negative == -(2**31)
    assert message.big == 4294967295
    assert message.ratio == 0.5
    assert message.yes is True
    assert message.text == "none given"
    assert message.id == UUID("12345678-1234-5678-1234-567812345678")
    assert message.nothing is None
    assert message.records is None
    assert message.items == ()
    assert message.tagged_struct == type(message).Inner()
    assert message.maybe is None


def test_names_become_python_names(everything: Dialect) -> None:
    message = everything.message_class("EverythingRequest")
    assert {"topic_name", "class_", "is_k_raft_ready"} <= set(message.defaults)


@pytest.mark.parametrize("version", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["EverythingRequest", "EverythingResponse", "EverythingData"])
def test_every_construct_survives_a_round_trip(
    everything: Dialect, name: str, version: int
) -> None:
    if version not in everything.spec(name).versions:
        with pytest.raises(LocalProtocolError):
            everything.codec(name, version)
        return
    codec = everything.codec(name, version)
    full = full_message(everything, name, version)
    assert codec.decode(codec.encode(full)) == full
    for seed in range(30):
        chance = Chance.seeded((name, version, seed))
        message = Maker(chance, everything, version, (*SMALL, *EDGES)).message(name)
        assert codec.decode(codec.encode(message)) == message


def test_a_nullable_struct_begins_with_a_byte(everything: Dialect) -> None:
    codec = everything.codec("EverythingData", 0)
    cls = codec.message_class
    assert codec.encode(cls(one=None)) == b"\xff" + b"\0"
    assert codec.encode(cls(one=cls.Point(x=1, y=None))) == b"\x01" + b"\0\x01" + b"\xff" + b"\0\0"
    assert codec.decode(b"\xff\0") == cls(one=None)


def test_the_same_common_struct_serves_in_two_places(everything: Dialect) -> None:
    cls = everything.message_class("EverythingRequest")
    assert type(cls(tagged_struct=cls.Inner(a=1)).tagged_struct) is cls.Inner
    spec = everything.spec("EverythingRequest")
    users = [f.name for f in spec.fields if f.element == "Inner"]
    assert users == ["TaggedStruct", "Maybe", "Many"]


# -- files


def written(folder: Path, text: str) -> Path:
    path = folder / "Some.json"
    path.write_text(text, encoding="utf-8")
    return path


MINIMAL = '{"name": "Some", "type": "data", "validVersions": "0", "fields": []}'


@pytest.mark.parametrize(
    "text",
    [
        MINIMAL,
        f"[{MINIMAL}]",
        f"// a comment\n{MINIMAL} // another\n",
        "\ufeff" + MINIMAL,
        # as in Kafka 2.8's DescribeProducersRequest.json
        pytest.param(f"{MINIMAL}\n  ]\n}}\n", id="brackets left over"),
    ],
)
def test_a_file_may_look_like_this(tmp_path: Path, text: str) -> None:
    assert [d["name"] for d in read_documents(written(tmp_path, text))] == ["Some"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "7",
        '"text"',
        "[7]",
        "{}",
        '{"type": "data"}',
        f"{MINIMAL} {MINIMAL}",
        f"{MINIMAL} and more",
        '{"name": "Some" "type": "data"}',
    ],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(SchemaError, match=r"Some\.json") as caught:
        read_documents(written(tmp_path, text))
    assert caught.value.hint


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "Some.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SchemaError, match=r"Some\.json"):
        read_documents(path)


# -- contradictions


def good() -> Document:
    return {
        "apiKey": 1000,
        "type": "request",
        "name": "SomeRequest",
        "validVersions": "0-3",
        "flexibleVersions": "2+",
        "fields": [
            {"name": "Number", "type": "int32", "versions": "0+"},
            {"name": "Things", "type": "[]Thing", "versions": "0+", "fields": [
                {"name": "Label", "type": "string", "versions": "0+"},
            ]},
        ],
    }  # fmt: skip


def field(**attributes: object) -> Callable[[Document], None]:
    """The change that adds a field."""

    def change(document: Document) -> None:
        base = {"name": "Extra", "type": "int32", "versions": "0+"}
        merged = {key: value for key, value in {**base, **attributes}.items() if value is not None}
        document["fields"].append(merged)

    return change


def top(**attributes: object) -> Callable[[Document], None]:
    return lambda document: document.update(attributes)


def without(key: str) -> Callable[[Document], None]:
    return lambda document: document.pop(key)


INLINE = [{"name": "X", "type": "int32", "versions": "0+"}]
OTHER = [{"name": "Y", "type": "string", "versions": "0+"}]

CONTRADICTIONS: dict[str, Callable[[Document], None]] = {
    "no valid versions": without("validVersions"),
    "valid versions that are no range": top(validVersions="all"),
    "valid versions that run backwards": top(validVersions="3-0"),
    "valid versions without an end": top(validVersions="0+"),
    "flexible versions that are no range": top(flexibleVersions="yes"),
    "a kind that does not exist": top(type="requst"),
    "a key that is no number": top(apiKey="TBD"),
    "a negative key": top(apiKey=-1),
    "a request without a key": without("apiKey"),
    "a name that is no name": top(name="Some Request"),
    "a name that is code": top(name="X(): pass\nimport os"),
    "fields that are no list": top(fields={"name": "X"}),
    "a field that is no object": top(fields=["X"]),
    "common structs that are no list": top(commonStructs="X"),
    "a common struct without a name": top(commonStructs=[{"versions": "0+", "fields": INLINE}]),
    "a common struct without fields": lambda d: (
        top(commonStructs=[{"name": "Empty", "versions": "0+"}])(d),
        field(type="Empty")(d),
    )[0],
    "deprecated versions beyond the valid ones": top(deprecatedVersions="3-9"),
    "deprecated versions that are no range": top(deprecatedVersions="old"),
    "a field without a name": field(name=None),
    "a field whose name is no name": field(name="not-a-name"),
    "a field whose name is code": field(name="x=print(1)"),
    "a field whose name begins with a digit": field(name="1st"),
    "a field with the name of a method": field(name="Replace"),
    "a field with the name of the defaults": field(name="Defaults"),
    "a field with the name of unknown tags": field(name="UnknownTags"),
    "a field without a type": field(type=None),
    "a type nobody defines": field(type="int128"),
    "an array of arrays": field(type="[][]int32"),
    "a field without versions": field(versions=None),
    "versions that are no range": field(versions="always"),
    "a field twice": field(name="Number"),
    "two names that become one": field(name="number"),
    "a nullable number": field(nullableVersions="0+"),
    "nullable versions that are no range": field(type="string", nullableVersions="some"),
    "a default of null that is never allowed": field(type="string", default="null"),
    "a default that is no number": field(default="many"),
    "a default out of range": field(type="int8", default="128"),
    "a default below zero": field(type="uint16", default="-1"),
    "a default that is no bool": field(type="bool", default="maybe"),
    "a default that is no float": field(type="float64", default="half"),
    "a default that is no uuid": field(type="uuid", default="zero"),
    "a default for bytes": field(type="bytes", default="00"),
    "a default for an array": field(type="[]int32", default="1"),
    "a default for a struct": field(type="Inner", default="1", fields=INLINE),
    "a number with flexible versions of its own": field(flexibleVersions="none"),
    "a tag without versions": field(tag=0),
    "tagged versions without a tag": field(taggedVersions="2+"),
    "a tag in versions that are not flexible": field(tag=0, taggedVersions="1+", versions="1+"),
    "a tag in versions that the field lacks": field(tag=0, taggedVersions="2+", versions="3+"),
    "a tag that is no number": field(tag="first", taggedVersions="2+", versions="2+"),
    "a negative tag": field(tag=-1, taggedVersions="2+", versions="2+"),
    "a tag twice": lambda d: (
        field(name="A", tag=0, taggedVersions="2+", versions="2+")(d),
        field(name="B", tag=0, taggedVersions="2+", versions="2+")(d),
    )[0],
    "a struct inside of itself": lambda d: (
        top(commonStructs=[{"name": "Loop", "versions": "0+", "fields": [
            {"name": "Again", "type": "[]Loop", "versions": "0+"}]}])(d),
        field(type="Loop")(d),
    )[0],
    "one name for two structs": field(type="[]Thing", fields=OTHER),
    "a struct with the name of the message": field(type="SomeRequest", fields=OTHER),
    "a struct that is common and inline": lambda d: (
        top(commonStructs=[{"name": "Both", "versions": "0+", "fields": OTHER}])(d),
        field(type="Both", fields=INLINE)(d),
    )[0],
    "two common structs of one name": top(commonStructs=[
        {"name": "Twin", "versions": "0+", "fields": INLINE},
        {"name": "Twin", "versions": "0+", "fields": OTHER},
    ]),
    "a struct whose name is no name": field(type="[]Th ing", fields=OTHER),
    "a number with fields": field(type="int32", fields=OTHER),
}  # fmt: skip


def test_without_contradiction_the_schema_is_good() -> None:
    assert parse_message(good()).name == "SomeRequest"


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_a_contradiction_is_refused_with_a_hint(what: str) -> None:
    document = good()
    CONTRADICTIONS[what](document)
    with pytest.raises(SchemaError) as caught:
        parse_message(document)
    assert caught.value.hint
    assert document["name"] in f"{caught.value} {caught.value.hint}"


def test_a_wrong_range_names_the_field() -> None:
    document = good()
    field(versions="always")(document)
    with pytest.raises(SchemaError, match=r"SomeRequest\.Extra"):
        parse_message(document)


@pytest.mark.parametrize("kind", ["request", "response"])
@pytest.mark.parametrize("versions", ["0", "1-2", "0+"])
def test_35_8_no_version_of_api_versions_may_be_deprecated(kind: str, versions: str) -> None:
    document = {
        "apiKey": 18,
        "type": kind,
        "name": f"ApiVersions{kind.title()}",
        "validVersions": "0-4",
        "deprecatedVersions": versions,
        "flexibleVersions": "3+",
        "fields": [],
    }
    with pytest.raises(SchemaError, match="deprecated") as caught:
        parse_message(document)
    assert "KIP-35" in str(caught.value.hint)
    document["deprecatedVersions"] = "none"
    assert not parse_message(document).deprecated


@pytest.mark.parametrize(
    ("name", "attribute"),
    [
        ("ThrottleTimeMs", "throttle_time_ms"),
        ("isKRaftController", "is_k_raft_controller"),
        ("V0Host", "v0_host"),
        ("TopicId", "topic_id"),
        ("SASLMechanism", "sasl_mechanism"),
        ("x", "x"),
    ],
)
def test_a_name_in_python(name: str, attribute: str) -> None:
    assert snake_case(name) == attribute


def test_numbers_may_be_written_as_numbers() -> None:
    document = json.loads('{"name": "Some", "validVersions": 0, "fields": [{"name": "A", '
                          '"type": "int32", "versions": 0, "default": 7}]}')  # fmt: skip
    assert parse_message(document).fields[0].default == 7
