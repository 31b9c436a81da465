"""Request and response headers: versions, client id, unknown versions, truncation."""

import pytest

from rollcall.protocol.dialects import ApiSpec, dialect
from rollcall.protocol.errors import LocalProtocolError, RemoteProtocolError
from rollcall.protocol.headers import (
    read_correlation_id,
    read_request,
    request_header_version,
    response_body_offset,
    response_header_version,
    write_request,
    write_response,
)
from rollcall.protocol.schema import MessageSpec
from rollcall.protocol.versions import VersionRange

RELEASED = dialect("released")
KIP = dialect("kip")
METADATA = RELEASED.apis[3]
EVERY = [
    (dialect_, api, version)
    for dialect_ in (RELEASED, KIP)
    for api in dialect_.apis.values()
    for version in api.versions
]


def controlled_shutdown() -> ApiSpec:
    """ControlledShutdown as in Kafka, without its fields."""
    versions, flexible = VersionRange(0, 3), VersionRange(3, 3)
    request, response = (
        MessageSpec(f"ControlledShutdown{kind}", versions, (), kind.lower(), 7, flexible)
        for kind in ("Request", "Response")
    )
    return ApiSpec(7, "ControlledShutdown", request, response)


def test_controlled_shutdown_0_has_request_header_0() -> None:
    api = controlled_shutdown()
    assert [request_header_version(api, v) for v in range(4)] == [0, 1, 1, 2]
    assert [response_header_version(api, v) for v in range(4)] == [0, 0, 0, 1]


def test_request_header_0_has_no_client_id() -> None:
    codec = RELEASED.codec("RequestHeader", 0)
    header = codec.message_class(
        request_api_key=7, request_api_version=0, correlation_id=258, client_id="lost"
    )
    assert codec.encode(header) == bytes.fromhex("0007 0000 00000102")


@pytest.mark.parametrize(("version", "tags"), [(1, ""), (2, "00")])
def test_the_client_id_is_not_compact_in_any_header_version(version: int, tags: str) -> None:
    codec = RELEASED.codec("RequestHeader", version)
    header = codec.message_class(
        request_api_key=3, request_api_version=9, correlation_id=-2, client_id="me"
    )
    expected = bytes.fromhex("0003 0009 fffffffe 0002 6d65" + tags)
    assert codec.encode(header) == expected
    assert codec.decode(expected) == header
    nameless = bytes.fromhex("0003 0009 fffffffe ffff" + tags)
    assert codec.decode(nameless).client_id is None
    assert codec.encode(header.replace(client_id=None)) == nameless


@pytest.mark.parametrize(("dialect_", "api", "version"), EVERY, ids=str)
def test_headers_are_flexible_with_their_bodies_except_api_versions_responses(
    dialect_: object, api: ApiSpec, version: int
) -> None:
    flexible = version in api.request.flexible
    assert request_header_version(api, version) == (2 if flexible else 1)
    assert response_header_version(api, version) == (1 if flexible and api.key != 18 else 0)


@pytest.mark.parametrize("client_id", ["me", "", None, "é" * 100])
@pytest.mark.parametrize("version", [0, 8, 9, 13])
def test_a_request_survives_a_round_trip(version: int, client_id: str | None) -> None:
    body = RELEASED.message_class("MetadataRequest")(
        topics=[RELEASED.message_class("MetadataRequest").MetadataRequestTopic(name="t")]
    )
    data = b"".join(write_request(RELEASED, METADATA, version, 99, client_id, body))
    request = read_request(data, RELEASED)
    assert (request.api_key, request.api_version) == (3, version)
    assert (request.correlation_id, request.client_id) == (99, client_id)
    assert request.body(RELEASED) == body


def test_unknown_tags_of_a_header_are_skipped() -> None:
    data = bytes.fromhex("0003 0009 00000001 ffff 02 05 01 61 ac02 00") + b"\x00\x01\x00\x00\x00"
    request = read_request(data, RELEASED)
    assert request.body_offset == len(data) - 5
    assert request.body(RELEASED).topics is None


@pytest.mark.parametrize("version", [0, 9])
def test_a_truncated_request_is_an_error(version: int) -> None:
    body = RELEASED.message_class("MetadataRequest")(topics=[])
    data = b"".join(write_request(RELEASED, METADATA, version, 99, "me", body))
    for cut in range(len(data)):
        with pytest.raises(RemoteProtocolError) as caught:
            read_request(data[:cut], RELEASED).body(RELEASED)
        assert caught.value.hint


def test_bytes_after_the_body_of_a_request_are_ignored_as_in_kafka() -> None:
    """librdkafka 2.16 sends three bytes too many when it requests all topics."""
    body = RELEASED.message_class("MetadataRequest")(topics=None, allow_auto_topic_creation=False)
    data = b"".join(write_request(RELEASED, METADATA, 13, 3, "rdkafka", body))
    assert read_request(data + bytes(3), RELEASED).body(RELEASED) == body


@pytest.mark.parametrize(
    ("key", "version"), [(18, 5), (18, 32767), (18, -1), (3, 99), (999, 0), (-1, 0)]
)
@pytest.mark.parametrize(
    ("rest", "client_id"),
    [
        (b"\0\2me", "me"),
        (b"\0\2me\0and something newer", "me"),
        (b"\xff\xff", None),
        (b"", None),
        (b"\xff\xf0", None),
        (b"\x7f\xffme", None),
    ],
)
def test_35_3_the_header_of_an_unknown_api_or_version_is_read(
    key: int, version: int, rest: bytes, client_id: str | None
) -> None:
    head = key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True)
    request = read_request(head + b"\0\0\0\7" + rest, RELEASED)
    assert (request.api_key, request.api_version) == (key, version)
    assert (request.correlation_id, request.client_id) == (7, client_id)


@pytest.mark.parametrize("size", range(8))
def test_a_request_too_short_for_a_header_is_an_error(size: int) -> None:
    with pytest.raises(RemoteProtocolError, match=f"{size} bytes"):
        read_request(bytes(size), RELEASED)


@pytest.mark.parametrize("size", range(4))
def test_a_response_too_short_for_a_header_is_an_error(size: int) -> None:
    with pytest.raises(RemoteProtocolError, match=f"{size} bytes"):
        read_correlation_id(bytes(size))


@pytest.mark.parametrize("version", [8, 9])
def test_a_response_begins_with_its_correlation_id(version: int) -> None:
    body = RELEASED.message_class("MetadataResponse")(cluster_id="c")
    data = b"".join(write_response(RELEASED, METADATA, version, -5, body))
    assert read_correlation_id(data) == -5
    offset = response_body_offset(RELEASED, METADATA, version, data)
    assert offset == (5 if version == 9 else 4)
    assert RELEASED.codec("MetadataResponse", version).decode(data, offset) == body


def test_a_response_header_can_have_tags() -> None:
    data = bytes.fromhex("00000001 01 07 02 6162") + b"body"
    assert response_body_offset(RELEASED, METADATA, 9, data) == len(data) - 4


def test_a_client_id_that_is_too_long_is_a_local_error() -> None:
    body = RELEASED.message_class("MetadataRequest")()
    with pytest.raises(LocalProtocolError, match="client_id"):
        write_request(RELEASED, METADATA, 9, 0, "x" * 32768, body)


@pytest.mark.parametrize("correlation_id", [2**31, -(2**31) - 1])
def test_a_correlation_id_outside_int32_is_a_local_error(correlation_id: int) -> None:
    body = RELEASED.message_class("MetadataRequest")()
    with pytest.raises(LocalProtocolError, match="correlation_id"):
        write_request(RELEASED, METADATA, 9, correlation_id, None, body)
