"""Schemas: every construct of Kafka's JSON message format."""

from pathlib import Path
from uuid import UUID

import pytest

from rollcall.protocol.dialects import Dialect, load_dialect
from rollcall.protocol.errors import LocalProtocolError
from rollcall.protocol.schema import snake_case
from rollcall.protocol.versions import VersionRange
from tests.protocol.strategies import EDGES, SMALL, Chance, Maker, full_message

EVERYTHING = Path(__file__).parent / "schemas"


@pytest.fixture(scope="module")
def everything() -> Dialect:
    return load_dialect("everything", EVERYTHING)


def test_load_dialect_reads_a_directory_of_schema_files(everything: Dialect) -> None:
    assert sorted(everything.messages) == [
        "EverythingData",
        "EverythingRequest",
        "EverythingResponse",
    ]
    assert [(api.key, api.name) for api in everything.apis.values()] == [(1000, "Everything")]
    assert everything.spec("EverythingData").api_key is None


def test_a_field_spec_has_the_attributes_of_the_schema(everything: Dialect) -> None:
    fields = {f.name: f for f in everything.spec("EverythingRequest").fields}
    assert fields["TopicName"].about == 'A name // not a comment, "quoted".'
    assert fields["Items"].struct is not None
    assert fields["Ignorable"].ignorable
    assert fields["Tagged"].tag == 0
    assert fields["Tagged"].tagged == VersionRange.parse("2+")
    assert fields["OldText"].flexible == VersionRange.parse("none")


def test_defaults_are_values_of_the_field_type(everything: Dialect) -> None:
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


def test_attribute_names_are_valid_in_python(everything: Dialect) -> None:
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


def test_a_nullable_struct_begins_with_a_marker_byte(everything: Dialect) -> None:
    codec = everything.codec("EverythingData", 0)
    cls = codec.message_class
    assert codec.encode(cls(one=None)) == b"\xff" + b"\0"
    assert codec.encode(cls(one=cls.Point(x=1, y=None))) == b"\x01" + b"\0\x01" + b"\xff" + b"\0\0"
    assert codec.decode(b"\xff\0") == cls(one=None)


def test_a_common_struct_can_be_used_several_times(everything: Dialect) -> None:
    cls = everything.message_class("EverythingRequest")
    assert type(cls(tagged_struct=cls.Inner(a=1)).tagged_struct) is cls.Inner
    spec = everything.spec("EverythingRequest")
    users = [f.name for f in spec.fields if f.element == "Inner"]
    assert users == ["TaggedStruct", "Maybe", "Many"]


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
def test_snake_case_converts_schema_names(name: str, attribute: str) -> None:
    assert snake_case(name) == attribute
