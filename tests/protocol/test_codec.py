"""Every message in every version and dialect: round trips, malformed bytes, bad values."""

import re
import tracemalloc
from contextlib import suppress
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollcall.protocol.codec import Codec
from rollcall.protocol.dialects import dialect
from rollcall.protocol.errors import LocalProtocolError, RemoteProtocolError
from rollcall.protocol.messages import Message
from rollcall.protocol.primitives import write_uvarint
from tests.protocol.strategies import (
    EDGES,
    HUGE,
    SMALL,
    Case,
    Chance,
    Maker,
    case_id,
    every_case,
    full_message,
    messages,
)

RELEASED = dialect("released")
KIP = dialect("kip")


def _ends(case: Case) -> tuple[int, int]:
    versions = dialect(case[0]).spec(case[1]).versions
    return versions.lowest, versions.highest


CASES = list(every_case())
FLEXIBLE = [case for case in CASES if dialect(case[0]).codec(case[1], case[2]).flexible]
ENDS = [case for case in CASES if case[2] in _ends(case)]

PLACE = re.compile(
    r"^(\w+) version (\d+) \((\w+)\) cannot be read: ([\w.\[\] ]+) at byte (\d+): .+"
)


def codec_of(case: Case) -> Codec:
    dialect_name, name, version = case
    return dialect(dialect_name).codec(name, version)


def read_error(codec: Codec, data: bytes) -> tuple[str, int, str]:
    """Path, offset and text of the error for malformed bytes."""
    with pytest.raises(RemoteProtocolError) as caught:
        codec.decode(data)
    text = str(caught.value)
    assert caught.value.hint
    place = PLACE.match(text)
    assert place is not None, text
    assert place[1] == codec.name
    assert place[2] == str(codec.version)
    assert place[3] == codec.dialect
    assert 0 <= int(place[5]) <= len(data), text
    return place[4], int(place[5]), text


# Round trips


@pytest.mark.parametrize("case", CASES, ids=case_id)
@settings(max_examples=12)
@given(data=st.data())
def test_a_random_message_survives_a_round_trip(case: Case, data: st.DataObject) -> None:
    codec = codec_of(case)
    message = data.draw(messages(dialect(case[0]), case[1], case[2]))
    wire = codec.encode(message)
    assert codec.decode(wire) == message
    assert codec.encode(codec.decode(wire)) == wire


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_lengths_around_varint_limits_survive_a_round_trip(case: Case) -> None:
    codec = codec_of(case)
    for seed in range(3):
        chance, lengths = Chance.seeded((case, seed)), (*SMALL, *EDGES)
        maker = Maker(chance, dialect(case[0]), case[2], lengths, budget=1_000)
        message = maker.message(case[1])
        assert codec.decode(codec.encode(message)) == message


@pytest.mark.parametrize("length", [*EDGES, *HUGE])
@pytest.mark.parametrize("version", [0, 8, 9, 12])
def test_long_arrays_and_strings_survive_a_round_trip(version: int, length: int) -> None:
    codec = RELEASED.codec("MetadataResponse", version)
    cls = codec.message_class
    partition = cls.MetadataResponsePartition(
        replica_nodes=tuple(range(length)), isr_nodes=(1,) * (length - 1)
    )
    brokers = [cls.MetadataResponseBroker(node_id=n, host="h") for n in range(length)]
    topic = cls.MetadataResponseTopic(name="x" * length, partitions=[partition])
    message = cls(brokers=brokers, topics=[topic])
    assert codec.decode(codec.encode(message)) == message


@pytest.mark.parametrize("length", [*SMALL, *EDGES, *HUGE])
@pytest.mark.parametrize("version", [4, 12])
def test_records_are_a_view_of_the_buffer(version: int, length: int) -> None:
    codec = RELEASED.codec("FetchResponse", version)
    cls = codec.message_class
    data = bytes(range(256)) * 65
    partition = cls.PartitionData(records=data[:length])
    wire = codec.encode(cls(responses=[cls.FetchableTopicResponse(partitions=[partition])]))
    records = codec.decode(wire).responses[0].partitions[0].records
    assert isinstance(records, memoryview)
    assert records.obj is wire
    assert records == data[:length]


def test_a_message_can_begin_at_an_offset() -> None:
    codec = RELEASED.codec("SaslHandshakeRequest", 1)
    wire = codec.encode(codec.message_class(mechanism="PLAIN"))
    message, end = codec.read(b"before" + wire + b"behind", 6)
    assert message.mechanism == "PLAIN"
    assert end == 6 + len(wire)


def test_invalid_utf_8_becomes_replacement_characters() -> None:
    codec = RELEASED.codec("SaslHandshakeRequest", 0)
    assert codec.decode(b"\0\x02\xff\xfe").mechanism == "��"


# Malformed bytes


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_every_truncated_message_is_an_error_with_field_and_offset(case: Case) -> None:
    codec = codec_of(case)
    wire = codec.encode(full_message(dialect(case[0]), case[1], case[2]))
    for cut in range(len(wire)):
        read_error(codec, wire[:cut])


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_every_truncated_message_with_nulls_and_empty_arrays_is_an_error(case: Case) -> None:
    codec = codec_of(case)
    maker = Maker(Chance.seeded(case), dialect(case[0]), case[2])
    wire = codec.encode(maker.message(case[1]))
    for cut in range(len(wire)):
        read_error(codec, wire[:cut])


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_bytes_after_the_message_are_an_error(case: Case) -> None:
    codec = codec_of(case)
    wire = codec.encode(full_message(dialect(case[0]), case[1], case[2]))
    with pytest.raises(
        RemoteProtocolError, match=f"{case[1]} version {case[2]} .*1 more byte"
    ) as e:
        codec.decode(wire + b"\0")
    assert f"byte {len(wire)}" in str(e.value)


@pytest.mark.parametrize(
    ("data", "path", "offset"),
    [
        # two topics, but only 5 bytes are left
        ("00000000 00000002 0000000000", "topics", 8),
        # topics: one; its error; its name of 9 bytes, 5 are left
        ("00000000 00000001 0000 0009 6162636465", "topics[0].name", 12),
        # topics: one; its name; partitions: -1
        ("00000000 00000001 0000 0001 61 ffffffff", "topics[0].partitions", 17),
        # brokers: -2
        ("fffffffe", "brokers", 4),
        # one broker, whose host is null
        ("00000001 00000000 ffff 00000000", "brokers[0].host", 10),
        # one broker, whose host has -3 bytes
        ("00000001 00000000 fffd 00000000", "brokers[0].host", 10),
        # the second broker is cut off inside its port
        (
            "00000002 00000000 0001 61 00002384 00000001 0001 62 0000",
            "brokers[1].port",
            22,
        ),
    ],
)
def test_the_error_names_the_field_and_the_offset(data: str, path: str, offset: int) -> None:
    found, at, _ = read_error(RELEASED.codec("MetadataResponse", 0), bytes.fromhex(data))
    assert (found, at) == (path, offset)


@pytest.mark.parametrize("length", ["ffffffff 0f", "ffffffff ff0f", "8080808080 01", "80808080 10"])
def test_varints_over_31_bits_or_five_bytes_are_rejected(length: str) -> None:
    codec = RELEASED.codec("ApiVersionsRequest", 3)
    path, _, text = read_error(codec, bytes.fromhex(length) + b"a" * 64)
    assert path == "client_software_name"
    assert "varint" in text


def test_a_varint_can_have_surplus_bytes_as_in_kafka() -> None:
    codec = RELEASED.codec("ApiVersionsRequest", 3)
    assert codec.decode(bytes.fromhex("8280808000 61 01 00")).client_software_name == "a"


@pytest.mark.parametrize(
    ("name", "version"), [("ApiVersionsRequest", 3), ("FindCoordinatorRequest", 4)]
)
def test_compact_strings_are_limited_to_32767_bytes_as_in_kafka(name: str, version: int) -> None:
    codec = RELEASED.codec(name, version)
    many = name == "FindCoordinatorRequest"
    longest = "x" * 32767
    message = codec.message_class(
        **{"coordinator_keys": [longest]} if many else {"client_software_name": longest}
    )
    wire = codec.encode(message)
    assert codec.decode(wire) == message
    at = wire.index(write_uvarint(32768) + b"x")
    longer = wire[:at] + write_uvarint(32769) + b"x" + wire[at + 3 :]
    path, _, text = read_error(codec, longer)
    assert path == ("coordinator_keys[0]" if many else "client_software_name")
    assert "32768 bytes of text" in text


@pytest.mark.parametrize(
    "tags",
    [
        pytest.param("01 05 04 616161", id="longer than the rest"),
        pytest.param("01 05 ffffffff07 61", id="announces two gigabytes"),
        pytest.param("02 05 01 61", id="second tag missing"),
        pytest.param("ffffffff07", id="two billion tags"),
        pytest.param("01 05 8080808080 01", id="size of six bytes"),
        pytest.param("01", id="no tag after the count"),
        pytest.param("01 05", id="no size"),
        pytest.param("02 05 01 61 05 01 62", id="duplicate"),
    ],
)
def test_malformed_tags_are_rejected(tags: str) -> None:
    read_error(RELEASED.codec("ApiVersionsRequest", 3), bytes.fromhex("02 61 02 62" + tags))


@pytest.mark.parametrize(
    "tag",
    [
        pytest.param("01 01 07 00000000000000", id="an int64 of 7 bytes"),
        pytest.param("01 01 09 000000000000000000", id="an int64 of 9 bytes"),
        pytest.param("01 03 00", id="a bool of no bytes"),
        pytest.param("01 00 02 02 02", id="an array that exceeds its tag"),
        pytest.param("02 01 08 0000000000000001 01 08 0000000000000002", id="duplicate"),
    ],
)
def test_known_tags_of_the_wrong_size_are_rejected(tag: str) -> None:
    wire = bytes.fromhex("0000 01 00000000" + tag)
    path, _, _ = read_error(RELEASED.codec("ApiVersionsResponse", 3), wire)
    assert path == "the message" or path in RELEASED.message_class("ApiVersionsResponse").defaults


@pytest.mark.parametrize("case", ENDS, ids=case_id)
def test_an_announced_length_allocates_no_memory(case: Case) -> None:
    """Insert lengths of up to two billion all over the message."""
    codec = codec_of(case)
    wire = codec.encode(full_message(dialect(case[0]), case[1], case[2]))
    bombs = [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\x07", b"\x00\xff\xff\xff", b"\xff\xff\x7f"]
    tracemalloc.start()
    try:
        for at in range(0, len(wire), max(1, len(wire) // 40)):
            for bomb in bombs:
                with suppress(RemoteProtocolError):
                    codec.decode(wire[:at] + bomb + wire[at + len(bomb) :])
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def _nested_bomb(version: int, size: int) -> bytes:
    """Metadata with nested arrays that each announce as many elements as could fit."""
    flexible = version >= 9
    count = write_uvarint if flexible else (lambda n: n.to_bytes(4, "big"))
    head = b"\0\0\0\0" + count(1 if flexible else 0) + (b"\0" if flexible else b"\xff\xff")
    head += b"\0\0\0\0"
    topic = b"\0\0" + (b"\x02a" if flexible else b"\0\x01a") + b"\0"
    return head + count(size // 12) + topic + count(size // 40) + bytes(size)


@pytest.mark.parametrize("version", [5, 9])
def test_memory_for_nested_announced_lengths_is_proportional_to_the_bytes(version: int) -> None:
    codec = RELEASED.codec("MetadataResponse", version)
    size = 200_000
    data = _nested_bomb(version, size)
    tracemalloc.start()
    try:
        with pytest.raises(RemoteProtocolError):
            codec.decode(data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * size


@settings(max_examples=300)
@given(data=st.binary(max_size=200), case=st.sampled_from(CASES))
def test_random_bytes_are_read_or_rejected(data: bytes, case: Case) -> None:
    codec = codec_of(case)
    with suppress(RemoteProtocolError):
        message = codec.decode(data)
        assert codec.decode(codec.encode(message)) == message


# Unknown tags


@pytest.mark.parametrize("case", FLEXIBLE, ids=case_id)
def test_unknown_tags_survive_a_round_trip_at_every_level(case: Case) -> None:
    codec = codec_of(case)
    message = full_message(dialect(case[0]), case[1], case[2])
    tags = ((77, b""), (300, b"\x01\x02"))
    tagged = _with_tags(message, tags)
    again = codec.decode(codec.encode(tagged))
    assert again == tagged
    assert again.unknown_tags == tags


def _with_tags(message: Message, tags: tuple[tuple[int, bytes], ...]) -> Message:
    changed: dict[str, object] = {"unknown_tags": tags}
    for name in message.defaults:
        value = getattr(message, name)
        if value == message.defaults[name]:
            continue  # the version may not have the field
        if isinstance(value, Message):
            changed[name] = _with_tags(value, tags)
        elif isinstance(value, tuple) and value and isinstance(value[0], Message):
            changed[name] = tuple(_with_tags(item, tags) for item in value)
    return message.replace(**changed)


def test_known_and_unknown_tags_are_written_in_ascending_order() -> None:
    codec = RELEASED.codec("ApiVersionsResponse", 3)
    message = codec.message_class(
        zk_migration_ready=True,
        finalized_features_epoch=5,
        dialect="kip",
        unknown_tags=((100000, b"z"), (2**31 - 1, b""), (50, b"f")),
    )
    expected = bytes.fromhex(
        "0000 01 00000000"
        "06"  # six tags
        "01 08 0000000000000005"  # FinalizedFeaturesEpoch
        "03 01 01"  # ZkMigrationReady
        "32 01 66"  # 50
        "97b405 04 04 6b6970"  # 88599, Dialect
        "a08d06 01 7a"  # 100000
        "ffffffff07 00"  # 2147483647
    )
    assert codec.encode(message) == expected
    assert codec.decode(expected) == message.replace(
        unknown_tags=((50, b"f"), (100000, b"z"), (2**31 - 1, b""))
    )


# Values that cannot be written


def write_error(codec: Codec, message: object) -> str:
    with pytest.raises(LocalProtocolError) as caught:
        codec.encode(message)  # type: ignore[arg-type]
    text = str(caught.value)
    assert text.startswith(f"{codec.name} version {codec.version} ({codec.dialect})")
    assert caught.value.hint
    return text


METADATA = RELEASED.message_class("MetadataResponse")
BROKER = METADATA.MetadataResponseBroker
TOPIC = METADATA.MetadataResponseTopic
PARTITION = METADATA.MetadataResponsePartition


def in_partition(**fields: object) -> Message:
    return METADATA(topics=[TOPIC(name="t", partitions=[PARTITION(), PARTITION(**fields)])])


@pytest.mark.parametrize(
    ("version", "message", "path"),
    [
        (9, METADATA(throttle_time_ms=2**31), "throttle_time_ms"),
        (9, METADATA(throttle_time_ms=-(2**31) - 1), "throttle_time_ms"),
        (9, METADATA(throttle_time_ms=2**100), "throttle_time_ms"),
        (9, METADATA(throttle_time_ms=1.0), "throttle_time_ms"),
        (9, METADATA(throttle_time_ms="1"), "throttle_time_ms"),
        (9, METADATA(throttle_time_ms=None), "throttle_time_ms"),
        (9, METADATA(cluster_id=b"id"), "cluster_id"),
        (9, METADATA(cluster_id=7), "cluster_id"),
        (9, METADATA(cluster_id="\ud800"), "cluster_id"),
        (2, METADATA(cluster_id="\ud800"), "cluster_id"),
        (2, METADATA(cluster_id="x" * 32768), "cluster_id"),
        (9, METADATA(cluster_id="x" * 32768), "cluster_id"),
        (9, METADATA(cluster_id="é" * 16384), "cluster_id"),
        (9, METADATA(brokers=None), "brokers"),
        (0, METADATA(brokers=None), "brokers"),
        (9, METADATA(brokers=7), "brokers"),
        (9, METADATA(brokers=[BROKER(host="a"), None]), "brokers[1].host"),
        (9, METADATA(brokers=[BROKER(host="a"), BROKER(host=None)]), "brokers[1].host"),
        (9, METADATA(brokers=[BROKER(host="a"), BROKER(port=2**40)]), "brokers[1].port"),
        (9, METADATA(brokers=[BROKER(start_time_ms=2**63)]), "brokers[0].start_time_ms"),
        (9, METADATA(brokers=[TOPIC()]), "brokers[0].host"),
        (11, METADATA(topics=[TOPIC(name=None)]), "topics[0].name"),
        (12, METADATA(topics=[TOPIC(topic_id="zero")]), "topics[0].topic_id"),
        (12, METADATA(topics=[TOPIC(topic_id=bytes(16))]), "topics[0].topic_id"),
        (9, in_partition(error_code=2**15), "topics[0].partitions[1].error_code"),
        (0, in_partition(error_code=2**15), "topics[0].partitions[1].error_code"),
        (9, in_partition(isr_nodes=[1, 2**31]), "topics[0].partitions[1].isr_nodes"),
        (0, in_partition(isr_nodes=[1, 2**31]), "topics[0].partitions[1].isr_nodes"),
        (9, in_partition(isr_nodes=[1] * 200 + ["2"]), "topics[0].partitions[1].isr_nodes"),
        (0, in_partition(isr_nodes=[1] * 200 + ["2"]), "topics[0].partitions[1].isr_nodes"),
        (9, in_partition(isr_nodes=None), "topics[0].partitions[1].isr_nodes"),
        (9, in_partition(leader_epoch=[]), "topics[0].partitions[1].leader_epoch"),
    ],
)
def test_the_error_for_a_bad_value_has_its_path(version: int, message: Message, path: str) -> None:
    assert f"cannot be written: {path}: " in write_error(
        RELEASED.codec("MetadataResponse", version), message
    )


SASL = RELEASED.message_class("SaslAuthenticateRequest")
FETCHED = RELEASED.message_class("FetchResponse")


@pytest.mark.parametrize("value", ["text", 7, None, [1, 2], (1, 2), 1.5])
@pytest.mark.parametrize("version", [0, 2])
def test_bytes_fields_reject_other_types(version: int, value: object) -> None:
    codec = RELEASED.codec("SaslAuthenticateRequest", version)
    assert ": auth_bytes: " in write_error(codec, SASL(auth_bytes=value))


@pytest.mark.parametrize("value", ["text", 7, [1, 2]])
@pytest.mark.parametrize("version", [4, 12])
def test_records_fields_reject_other_types(version: int, value: object) -> None:
    codec = RELEASED.codec("FetchResponse", version)
    partition = FETCHED.PartitionData(records=value)
    topic = FETCHED.FetchableTopicResponse(partitions=[partition])
    assert ": responses[0].partitions[0].records: " in write_error(
        codec, FETCHED(responses=[topic])
    )


@pytest.mark.parametrize("value", [b"bytes", bytearray(b"bytes"), memoryview(b"bytes")])
@pytest.mark.parametrize("version", [0, 2])
def test_bytes_fields_accept_bytes_like_objects(version: int, value: bytes) -> None:
    codec = RELEASED.codec("SaslAuthenticateRequest", version)
    assert codec.decode(codec.encode(SASL(auth_bytes=value))).auth_bytes == b"bytes"


@pytest.mark.parametrize("value", ["group", b"group", 7, None])
def test_an_array_of_strings_rejects_a_string(value: object) -> None:
    """A string is iterable: its characters would be written as an array that Kafka accepts."""
    codec = RELEASED.codec("FindCoordinatorRequest", 4)
    request = codec.message_class(coordinator_keys=value)
    assert ": coordinator_keys" in write_error(codec, request)


@pytest.mark.parametrize("version", [4, 5])
def test_the_error_for_a_bad_array_element_has_its_index(version: int) -> None:
    codec = RELEASED.codec("FindCoordinatorRequest", version)
    for bad in (7, None, b"c", "\ud800", "x" * 32768):
        request = codec.message_class(coordinator_keys=["a", "a", bad])
        assert ": coordinator_keys[2]: " in write_error(codec, request)


@pytest.mark.parametrize(
    "tags",
    [
        pytest.param(((-1, b""),), id="negative"),
        pytest.param(((2**31, b""),), id="over 31 bits"),
        pytest.param((("a", b""),), id="not a number"),
        pytest.param(((1, "text"),), id="text as payload"),
        pytest.param(((1, None),), id="null as payload"),
        pytest.param(((1,),), id="half a tag"),
        pytest.param((5,), id="not pairs"),
        pytest.param(((5, b"a"), (5, b"b")), id="duplicate"),
        pytest.param(((3, b"\x01"),), id="a tag of the schema"),
    ],
)
def test_invalid_unknown_tags_are_rejected(tags: object) -> None:
    codec = RELEASED.codec("ApiVersionsResponse", 3)
    assert "unknown_tags" in write_error(codec, codec.message_class(unknown_tags=tags))


def test_unknown_tags_need_a_flexible_version() -> None:
    codec = RELEASED.codec("ApiVersionsResponse", 2)
    assert ": unknown_tags: " in write_error(codec, codec.message_class(unknown_tags=((5, b""),)))
    nested = codec.message_class(
        api_keys=[codec.message_class.ApiVersion(unknown_tags=((5, b""),))]
    )
    assert ": api_keys[0].unknown_tags: " in write_error(codec, nested)


@pytest.mark.parametrize("version", [0, 3])
@pytest.mark.parametrize("message", [None, 7, b"bytes", METADATA()])
def test_a_message_of_another_class_is_rejected(message: object, version: int) -> None:
    assert "cannot write a" in write_error(RELEASED.codec("ApiVersionsRequest", version), message)


@pytest.mark.parametrize("value", [None, "no", "", [], 0.0])
@pytest.mark.parametrize("version", [4, 9])
def test_bool_fields_reject_other_types(version: int, value: object) -> None:
    """`struct` accepts any object as a bool: "no" would be true."""
    codec = RELEASED.codec("MetadataRequest", version)
    request = codec.message_class(allow_auto_topic_creation=value)
    assert ": allow_auto_topic_creation: " in write_error(codec, request)


# Fields that a version does not have


def absent_fields() -> list[tuple[Case, str, bool]]:
    """(case, top-level field, whether it is ignorable) for every field that a version lacks."""
    return [
        (case, field.attribute, field.ignorable)
        for case in CASES
        for field in dialect(case[0]).spec(case[1]).absent_fields(case[2])
    ]


OTHER = {"string": "x", "bytes": b"x", "records": b"x", "bool": None, "uuid": UUID(int=9)}


@pytest.mark.parametrize(("case", "attribute", "ignorable"), absent_fields(), ids=case_id)
def test_a_field_that_the_version_lacks_is_an_error_unless_ignorable(
    case: Case, attribute: str, ignorable: bool
) -> None:
    dialect_name, name, _ = case
    codec, cls = codec_of(case), dialect(dialect_name).message_class(name)
    field = next(f for f in dialect(dialect_name).spec(name).fields if f.attribute == attribute)
    default = cls.defaults[attribute]
    if field.is_array:
        inner = getattr(cls, field.element)() if field.struct else OTHER.get(field.element, 1)
        value: object = (inner,)
    elif field.type == "bool":
        value = not default
    elif field.type in OTHER:
        value = OTHER[field.type]
    elif field.struct:
        value = full_message_of(getattr(cls, field.element))
    else:
        value = 7
    assert value != default
    plain = codec.encode(cls(**{attribute: default}))
    if ignorable:
        assert codec.encode(cls(**{attribute: value})) == plain
    else:
        assert f": {attribute}: " in write_error(codec, cls(**{attribute: value}))


def full_message_of(cls: type[Message]) -> Message:
    numbers = {name: 7 for name, value in cls.defaults.items() if type(value) is int}
    return cls(**numbers)


def test_the_error_for_a_nested_field_that_the_version_lacks_has_its_path() -> None:
    codec = RELEASED.codec("MetadataResponse", 7)
    message = METADATA(topics=[TOPIC(name="a"), TOPIC(name="b", topic_authorized_operations=1)])
    assert ": topics[1].topic_authorized_operations: " in write_error(codec, message)


def test_700_4_cluster_operations_are_not_dropped_silently() -> None:
    request = KIP.message_class("MetadataRequest")(include_cluster_authorized_operations=True)
    assert KIP.codec("MetadataRequest", 10).encode(request)
    write_error(KIP.codec("MetadataRequest", 11), request)
    response = METADATA(cluster_authorized_operations=8096)
    assert KIP.codec("MetadataResponse", 10).encode(response)
    write_error(KIP.codec("MetadataResponse", 11), response)
