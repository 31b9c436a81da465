"""The schema parser rejects every kind of invalid schema."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from rollcall.protocol.errors import SchemaError
from rollcall.protocol.schema_parser import parse_message

Document = dict[str, Any]


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
    """A change that adds a field."""

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

INVALID: dict[str, Callable[[Document], None]] = {
    "no valid versions": without("validVersions"),
    "valid versions that are not a range": top(validVersions="all"),
    "valid versions in descending order": top(validVersions="3-0"),
    "valid versions without an end": top(validVersions="0+"),
    "flexible versions that are not a range": top(flexibleVersions="yes"),
    "a kind that does not exist": top(type="requst"),
    "a key that is not a number": top(apiKey="TBD"),
    "a negative key": top(apiKey=-1),
    "a request without a key": without("apiKey"),
    "a name that is not a name": top(name="Some Request"),
    "a name that is code": top(name="X(): pass\nimport os"),
    "fields that are not a list": top(fields={"name": "X"}),
    "a field that is not an object": top(fields=["X"]),
    "common structs that are not a list": top(commonStructs="X"),
    "a common struct without a name": top(commonStructs=[{"versions": "0+", "fields": INLINE}]),
    "a common struct without fields": lambda d: (
        top(commonStructs=[{"name": "Empty", "versions": "0+"}])(d),
        field(type="Empty")(d),
    )[0],
    "deprecated versions beyond the valid ones": top(deprecatedVersions="3-9"),
    "deprecated versions that are not a range": top(deprecatedVersions="old"),
    "a field without a name": field(name=None),
    "a field whose name is not a name": field(name="not-a-name"),
    "a field whose name is code": field(name="x=print(1)"),
    "a field whose name begins with a digit": field(name="1st"),
    "a field with the name of a method": field(name="Replace"),
    "a field with the name of the defaults": field(name="Defaults"),
    "a field with the name of unknown tags": field(name="UnknownTags"),
    "a field without a type": field(type=None),
    "an undefined type": field(type="int128"),
    "an array of arrays": field(type="[][]int32"),
    "a field without versions": field(versions=None),
    "versions that are not a range": field(versions="always"),
    "a field twice": field(name="Number"),
    "two names with the same attribute": field(name="number"),
    "a nullable number": field(nullableVersions="0+"),
    "nullable versions that are not a range": field(type="string", nullableVersions="some"),
    "a default of null that is never allowed": field(type="string", default="null"),
    "a default that is not a number": field(default="many"),
    "a default out of range": field(type="int8", default="128"),
    "a default below zero": field(type="uint16", default="-1"),
    "a default that is not a bool": field(type="bool", default="maybe"),
    "a default that is not a float": field(type="float64", default="half"),
    "a default that is not a uuid": field(type="uuid", default="zero"),
    "a default for bytes": field(type="bytes", default="00"),
    "a default for an array": field(type="[]int32", default="1"),
    "a default for a struct": field(type="Inner", default="1", fields=INLINE),
    "a number with its own flexible versions": field(flexibleVersions="none"),
    "a tag without versions": field(tag=0),
    "tagged versions without a tag": field(taggedVersions="2+"),
    "a tag in versions that are not flexible": field(tag=0, taggedVersions="1+", versions="1+"),
    "a tag in versions without the field": field(tag=0, taggedVersions="2+", versions="3+"),
    "a tag that is not a number": field(tag="first", taggedVersions="2+", versions="2+"),
    "a negative tag": field(tag=-1, taggedVersions="2+", versions="2+"),
    "a tag twice": lambda d: (
        field(name="A", tag=0, taggedVersions="2+", versions="2+")(d),
        field(name="B", tag=0, taggedVersions="2+", versions="2+")(d),
    )[0],
    "a struct nested in itself": lambda d: (
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
    "a struct whose name is not a name": field(type="[]Th ing", fields=OTHER),
    "a number with fields": field(type="int32", fields=OTHER),
}  # fmt: skip


def test_parse_message_accepts_a_valid_schema() -> None:
    assert parse_message(good()).name == "SomeRequest"


@pytest.mark.parametrize("what", INVALID)
def test_parse_message_rejects_an_invalid_schema_with_a_hint(what: str) -> None:
    document = good()
    INVALID[what](document)
    with pytest.raises(SchemaError) as caught:
        parse_message(document)
    assert caught.value.hint
    assert document["name"] in f"{caught.value} {caught.value.hint}"


def test_the_error_for_an_invalid_version_range_names_the_field() -> None:
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


def test_versions_and_defaults_can_be_json_numbers() -> None:
    document = json.loads('{"name": "Some", "validVersions": 0, "fields": [{"name": "A", '
                          '"type": "int32", "versions": 0, "default": 7}]}')  # fmt: skip
    assert parse_message(document).fields[0].default == 7
