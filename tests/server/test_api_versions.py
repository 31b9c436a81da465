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


def listing(answer) -> dict[int, tuple[int, int]]:
    return {key.api_key: (key.min_version, key.max_version) for key in answer.api_keys}


@pytest.mark.parametrize("spoken", DIALECTS)
async def test_35_1_the_list_is_derived_from_the_handlers_and_the_schemas(spoken: str) -> None:
    config = ListenerConfig(name="L", dialect=spoken)
    async with (
        served(None, config) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        answer = await peer.ask(API_VERSIONS, 0, request("ApiVersions"))
    apis = dialect(spoken).apis
    assert answer.error_code == Errors.NONE
    assert listing(answer) == {
        key: (apis[key].versions.lowest, apis[key].versions.highest)
        for key in (METADATA, API_VERSIONS, DESCRIBE_CLUSTER)
    }


async def test_35_1_an_api_without_a_handler_is_not_listed() -> None:
    async with (
        served(handlers={METADATA: metadata}) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        answer = await peer.ask(API_VERSIONS, 0, request("ApiVersions"))
    assert set(listing(answer)) == {METADATA, API_VERSIONS}


async def test_35_1_a_listener_can_be_told_to_have_fewer_versions() -> None:
    narrow = {METADATA: VersionRange(2, 7), API_VERSIONS: VersionRange(0, 2)}
    async with (
        served(None, ListenerConfig(name="OLD", versions=narrow)) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        peer.send(API_VERSIONS, 3, named())
        refused = await peer.next_answer()
        answer = await peer.ask(API_VERSIONS, 2, request("ApiVersions"))
    assert (refused.version, refused.message.error_code) == (0, Errors.UNSUPPORTED_VERSION)
    assert listing(answer)[METADATA] == (2, 7)
    assert listing(answer)[API_VERSIONS] == (0, 2)


async def test_35_1_sasl_is_listed_on_sasl_listeners_only() -> None:
    sasl = ListenerConfig(
        name="S",
        security_protocol=SecurityProtocol.SASL_PLAINTEXT,
        sasl=SaslConfig(users=Users({"alice": "secret"})),
    )
    async with served(None, ListenerConfig(name="P"), sasl) as server:
        keys = {}
        for name, listener in server.listeners.items():
            async with await Peer.connect(listener) as peer:
                keys[name] = set(listing(await peer.ask(API_VERSIONS, 0, request("ApiVersions"))))
    assert keys["S"] - keys["P"] == {SASL_HANDSHAKE, SASL_AUTHENTICATE}


@pytest.mark.parametrize("spoken", DIALECTS)
@pytest.mark.parametrize("version", [-32768, -1, 5, 99, 32767])
async def test_35_3_and_511_2_a_version_nobody_knows_is_answered_in_version_0(
    spoken: str, version: int
) -> None:
    async with (
        served(None, ListenerConfig(name="L", dialect=spoken)) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        for body in (b"", b"\xff\xff", b"\x00\x01x\x00\x17nobody knows this part"):
            peer.writer.write(frame([struct.pack(">hhi", API_VERSIONS, version, 7), body]))
            answer = await peer.frame()
            highest = dialect(spoken).apis[API_VERSIONS].versions.highest
            # 511.2: one entry, key 18 with its range; the error is the first int16
            assert answer == struct.pack(">ihihhh", 7, 35, 1, API_VERSIONS, 0, highest)
        still_open = await peer.ask(API_VERSIONS, 0, request("ApiVersions"))
    assert still_open.error_code == Errors.NONE


@pytest.mark.parametrize("version", range(5))
async def test_35_3_the_error_is_the_first_int16_of_every_version(version: int) -> None:
    async with served() as server, await Peer.connect(only_listener(server)) as peer:
        body = named("not a name") if version >= 3 else request("ApiVersions")
        peer.send(API_VERSIONS, version, body)
        answer = await peer.frame()
    expected = Errors.INVALID_REQUEST if version >= 3 else Errors.NONE
    assert struct.unpack(">h", answer[4:6]) == (expected,)


async def test_511_1_version_3_is_flexible_but_its_response_header_is_not() -> None:
    async with served(handlers={}) as server, await Peer.connect(only_listener(server)) as peer:
        peer.send(API_VERSIONS, 3, named())
        answer = await peer.frame()
        (info,) = server.registry
        assert (info.software_name, info.software_version) == ("tester", "1.0")
    # correlation id, error, one key (compact: 2) with its tags, throttle time, tags
    assert answer == struct.pack(">ih b hhhb ib", 0, 0, 2, API_VERSIONS, 0, 4, 0, 0, 0)


async def test_a_kip_listener_says_so_in_a_tag_of_version_3_and_a_released_one_does_not() -> None:
    listeners = [ListenerConfig(name=name, dialect=name) for name in DIALECTS]
    async with served(None, *listeners) as server:
        told = {}
        for name, listener in server.listeners.items():
            async with await Peer.connect(listener) as peer:
                for version in (2, 3):
                    body = named() if version == 3 else request("ApiVersions")
                    told[name, version] = (await peer.ask(API_VERSIONS, version, body)).dialect
    assert told == {(RELEASED, 2): None, (RELEASED, 3): None, (KIP, 2): None, (KIP, 3): "kip"}


GOOD = ["a", "0", "librdkafka", "apache-kafka-java", "1.2.3-rc1", "v1.0--x", "A.b"]
BAD = ["", "-a", "a-", ".", "a b", "a\n", "\na", "ä", "a_b", "a/b", "'; drop", "a\0"]


@pytest.mark.parametrize("spoken", DIALECTS)
@pytest.mark.parametrize("name", GOOD)
async def test_511_5_names_as_kafka_accepts_them(spoken: str, name: str) -> None:
    async with (
        served(None, ListenerConfig(name="L", dialect=spoken)) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        answer = await peer.ask(API_VERSIONS, 3, named(name, name))
        (info,) = server.registry
    assert answer.error_code == Errors.NONE
    assert (info.software_name, info.software_version) == (name, name)


@pytest.mark.parametrize("spoken", DIALECTS)
@pytest.mark.parametrize("name", BAD)
async def test_511_5_bad_names_are_an_invalid_request_and_the_identity_before_stays(
    spoken: str, name: str
) -> None:
    async with (
        served(None, ListenerConfig(name="L", dialect=spoken)) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        await peer.ask(API_VERSIONS, 3, named("before", "1"))
        for body in (named(name, "1"), named("good", name)):
            answer = await peer.ask(API_VERSIONS, 3, body)
            assert answer.error_code == Errors.INVALID_REQUEST
            assert answer.api_keys == ()
        (info,) = server.registry
        assert (info.software_name, info.software_version) == ("before", "1")
        # the connection stays open, and a later name replaces the earlier one
        await peer.ask(API_VERSIONS, 3, named("after", "2"))
        assert (info.software_name, info.software_version) == ("after", "2")
        for version in range(3):
            await peer.ask(API_VERSIONS, version, request("ApiVersions"))
        assert (info.software_name, info.software_version) == ("after", "2")


async def test_511_7_a_very_long_name_is_accepted_but_not_kept() -> None:
    async with served() as server, await Peer.connect(only_listener(server)) as peer:
        answer = await peer.ask(API_VERSIONS, 3, named("x" * 30_000))
        (info,) = server.registry
        assert answer.error_code == Errors.NONE
        assert (info.software_name, info.software_version) == ("other", "other")


async def test_a_body_that_does_not_fit_its_version_ends_the_connection() -> None:
    async with served() as server, await Peer.connect(only_listener(server)) as peer:
        peer.writer.write(frame([struct.pack(">hhihb", API_VERSIONS, 3, 1, -1, 0), b"\x05ab"]))
        assert await peer.until_closed() == b""
