import struct

import pytest

from rollcall.protocol.dialects import KIP, RELEASED, dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.framing import frame
from rollcall.protocol.sasl import Users
from rollcall.protocol.versions import VersionRange
from rollcall.server import ListenerConfig, SaslConfig, SecurityProtocol
from tests.server.wire import (
    API_VERSIONS,
    DESCRIBE_CLUSTER,
    METADATA,
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
    Peer,
    metadata,
    named,
    only_listener,
    request,
    served,
)

DIALECTS = [RELEASED, KIP]


def ranges(message) -> dict[int, tuple[int, int]]:
    return {key.api_key: (key.min_version, key.max_version) for key in message.api_keys}


@pytest.mark.parametrize("dialect_name", DIALECTS)
async def test_35_1_advertised_ranges_follow_from_handlers_and_schemas(dialect_name: str) -> None:
    config = ListenerConfig(name="L", dialect=dialect_name)
    async with (
        served(None, config) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        message = await peer.call(API_VERSIONS, 0, request("ApiVersions"))
    apis = dialect(dialect_name).apis
    assert message.error_code == Errors.NONE
    assert ranges(message) == {
        key: (apis[key].versions.lowest, apis[key].versions.highest)
        for key in (METADATA, API_VERSIONS, DESCRIBE_CLUSTER)
    }


async def test_35_1_api_without_a_handler_is_not_advertised() -> None:
    async with (
        served(handlers={METADATA: metadata}) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        message = await peer.call(API_VERSIONS, 0, request("ApiVersions"))
    assert set(ranges(message)) == {METADATA, API_VERSIONS}


async def test_35_1_versions_of_a_listener_can_be_restricted() -> None:
    narrow = {METADATA: VersionRange(2, 7), API_VERSIONS: VersionRange(0, 2)}
    async with (
        served(None, ListenerConfig(name="OLD", versions=narrow)) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        peer.send(API_VERSIONS, 3, named())
        refused = await peer.next_response()
        message = await peer.call(API_VERSIONS, 2, request("ApiVersions"))
    assert (refused.version, refused.message.error_code) == (0, Errors.UNSUPPORTED_VERSION)
    assert ranges(message)[METADATA] == (2, 7)
    assert ranges(message)[API_VERSIONS] == (0, 2)


async def test_35_1_sasl_apis_are_advertised_on_sasl_listeners_only() -> None:
    sasl = ListenerConfig(
        name="S",
        security_protocol=SecurityProtocol.SASL_PLAINTEXT,
        sasl=SaslConfig(users=Users({"alice": "secret"})),
    )
    async with served(None, ListenerConfig(name="P"), sasl) as server:
        keys = {}
        for name, listener in server.listeners.items():
            async with await Peer.connect(listener) as peer:
                keys[name] = set(ranges(await peer.call(API_VERSIONS, 0, request("ApiVersions"))))
    assert keys["S"] - keys["P"] == {SASL_HANDSHAKE, SASL_AUTHENTICATE}


@pytest.mark.parametrize("dialect_name", DIALECTS)
@pytest.mark.parametrize("version", [-32768, -1, 5, 99, 32767])
async def test_35_3_and_511_2_unknown_api_versions_version_gets_a_version_0_response(
    dialect_name: str, version: int
) -> None:
    async with (
        served(None, ListenerConfig(name="L", dialect=dialect_name)) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        for body in (b"", b"\xff\xff", b"\x00\x01x\x00\x17this part is unknown"):
            peer.writer.write(frame([struct.pack(">hhi", API_VERSIONS, version, 7), body]))
            message = await peer.next_frame()
            highest = dialect(dialect_name).apis[API_VERSIONS].versions.highest
            # 511.2: one entry, key 18 with its range; the error is the first int16
            assert message == struct.pack(">ihihhh", 7, 35, 1, API_VERSIONS, 0, highest)
        still_open = await peer.call(API_VERSIONS, 0, request("ApiVersions"))
    assert still_open.error_code == Errors.NONE


@pytest.mark.parametrize("version", range(5))
async def test_35_3_error_code_is_the_first_int16_of_every_version(version: int) -> None:
    async with served() as server, await Peer.connect(only_listener(server)) as peer:
        body = named("not a name") if version >= 3 else request("ApiVersions")
        peer.send(API_VERSIONS, version, body)
        message = await peer.next_frame()
    expected = Errors.INVALID_REQUEST if version >= 3 else Errors.NONE
    assert struct.unpack(">h", message[4:6]) == (expected,)


async def test_511_1_version_3_is_flexible_and_its_response_header_is_version_0() -> None:
    async with served(handlers={}) as server, await Peer.connect(only_listener(server)) as peer:
        peer.send(API_VERSIONS, 3, named())
        message = await peer.next_frame()
        (info,) = server.registry
        assert (info.software_name, info.software_version) == ("tester", "1.0")
    # correlation id, error, one key (compact: 2) with its tags, throttle time, tags
    assert message == struct.pack(">ih b hhhb ib", 0, 0, 2, API_VERSIONS, 0, 4, 0, 0, 0)


async def test_kip_listener_sends_its_dialect_in_a_tagged_field_of_version_3() -> None:
    listeners = [ListenerConfig(name=name, dialect=name) for name in DIALECTS]
    async with served(None, *listeners) as server:
        received = {}
        for name, listener in server.listeners.items():
            async with await Peer.connect(listener) as peer:
                for version in (2, 3):
                    body = named() if version == 3 else request("ApiVersions")
                    received[name, version] = (await peer.call(API_VERSIONS, version, body)).dialect
    assert received == {(RELEASED, 2): None, (RELEASED, 3): None, (KIP, 2): None, (KIP, 3): "kip"}


VALID = ["a", "0", "librdkafka", "apache-kafka-java", "1.2.3-rc1", "v1.0--x", "A.b"]
INVALID = ["", "-a", "a-", ".", "a b", "a\n", "\na", "ä", "a_b", "a/b", "'; drop", "a\0"]


@pytest.mark.parametrize("dialect_name", DIALECTS)
@pytest.mark.parametrize("name", VALID)
async def test_511_5_software_name_that_kafka_accepts_is_registered(
    dialect_name: str, name: str
) -> None:
    async with (
        served(None, ListenerConfig(name="L", dialect=dialect_name)) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        message = await peer.call(API_VERSIONS, 3, named(name, name))
        (info,) = server.registry
    assert message.error_code == Errors.NONE
    assert (info.software_name, info.software_version) == (name, name)


@pytest.mark.parametrize("dialect_name", DIALECTS)
@pytest.mark.parametrize("name", INVALID)
async def test_511_5_invalid_software_name_gets_invalid_request_and_keeps_the_previous_identity(
    dialect_name: str, name: str
) -> None:
    async with (
        served(None, ListenerConfig(name="L", dialect=dialect_name)) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        await peer.call(API_VERSIONS, 3, named("before", "1"))
        for body in (named(name, "1"), named("good", name)):
            message = await peer.call(API_VERSIONS, 3, body)
            assert message.error_code == Errors.INVALID_REQUEST
            assert message.api_keys == ()
        (info,) = server.registry
        assert (info.software_name, info.software_version) == ("before", "1")
        # the connection stays open, and a later name replaces the earlier one
        await peer.call(API_VERSIONS, 3, named("after", "2"))
        assert (info.software_name, info.software_version) == ("after", "2")
        for version in range(3):
            await peer.call(API_VERSIONS, version, request("ApiVersions"))
        assert (info.software_name, info.software_version) == ("after", "2")


async def test_511_7_long_software_name_is_accepted_and_stored_as_other() -> None:
    async with served() as server, await Peer.connect(only_listener(server)) as peer:
        message = await peer.call(API_VERSIONS, 3, named("x" * 30_000))
        (info,) = server.registry
        assert message.error_code == Errors.NONE
        assert (info.software_name, info.software_version) == ("other", "other")


async def test_malformed_body_closes_the_connection() -> None:
    async with served() as server, await Peer.connect(only_listener(server)) as peer:
        peer.writer.write(frame([struct.pack(">hhihb", API_VERSIONS, 3, 1, -1, 0), b"\x05ab"]))
        assert await peer.until_closed() == b""
