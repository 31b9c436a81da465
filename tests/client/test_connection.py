"""A connection to brokers that are old, rude, slow or not brokers at all."""

import asyncio
import time
from dataclasses import dataclass

import pytest

from rollcall.catalog import Provenance, listed_ranges
from rollcall.client import (
    Address,
    ApiVersionsReply,
    ClientConfig,
    ConnectionLostError,
    ConnectionRefusedByBrokerError,
    InvalidResponseError,
    RequestTimeoutError,
    UnreachableError,
    UnsupportedError,
    open_connection,
)
from rollcall.protocol.conversation import ServerConversation
from rollcall.protocol.headers import Request
from tests.client.scripted import (
    API_VERSIONS,
    DESCRIBE_CLUSTER,
    HANG_UP,
    METADATA,
    RELEASED_RANGES,
    SILENCE,
    ScriptedBroker,
    running,
    until,
    unused_address,
)

QUICK = ClientConfig(request_timeout=1, connect_timeout=5, api_versions_timeout=1)
OLD = {METADATA: (0, 0)}


@dataclass
class Old(ScriptedBroker):
    """0.8 hangs up on ApiVersions, 0.9 says nothing."""

    to_api_versions: bytes | None = HANG_UP

    def api_versions(self, request: Request, talk: ServerConversation) -> bytes | None:
        return self.to_api_versions


@pytest.mark.parametrize(
    ("to_api_versions", "reply"),
    [(HANG_UP, ApiVersionsReply.CLOSED), (SILENCE, ApiVersionsReply.SILENT)],
)
async def test_35_10_a_broker_without_api_versions_is_tried_with_metadata_0(
    to_api_versions: bytes | None, reply: ApiVersionsReply
) -> None:
    broker = Old(ranges=OLD, to_api_versions=to_api_versions)
    async with running(broker) as [address]:
        connection = await open_connection(address, QUICK)
        assert connection.versions.reply is reply
        assert connection.versions.ranges == {METADATA: (0, 0)}
        assert connection.versions.provenance is Provenance.INFERRED
        assert connection.version_for(METADATA) == 0
        await connection.close()
    assert [(n, r.api_key) for n, r in broker.requests] == [(1, API_VERSIONS), (2, METADATA)]


async def test_35_10_the_table_of_the_configured_release_is_used() -> None:
    broker = Old(ranges={METADATA: (0, 1)})
    config = ClientConfig(request_timeout=1, release="0.10.0")
    async with running(broker) as [address]:
        connection = await open_connection(address, config)
        assert connection.versions.provenance is Provenance.CONFIGURED
        assert connection.versions.ranges == listed_ranges("0.10.0")
        assert connection.version_for(METADATA) == listed_ranges("0.10.0")[METADATA].high
        await connection.close()


async def test_35_10_one_that_answers_neither_is_unreachable_and_not_old() -> None:
    broker = Old(ranges={}, to_api_versions=HANG_UP)
    async with running(broker) as [address]:
        with pytest.raises(UnreachableError, match="neither ApiVersions nor Metadata 0"):
            await open_connection(address, QUICK)


async def test_35_10_one_that_never_says_anything_is_mute_and_not_asked_for_long() -> None:
    broker = Old(ranges={METADATA: (0, 0)}, to_api_versions=SILENCE, delay=9)
    async with running(broker) as [address]:
        began = time.monotonic()
        with pytest.raises(RequestTimeoutError, match="neither ApiVersions nor Metadata 0"):
            await open_connection(
                address, ClientConfig(api_versions_timeout=0.3, request_timeout=30)
            )
        assert time.monotonic() - began < 5.0


@dataclass
class Refusing(ScriptedBroker):
    """Refuses a version first, and is gone, or silent, when it is asked in another."""

    then: bytes | None = HANG_UP

    def api_versions(self, request: Request, talk: ServerConversation) -> bytes | None:
        if request.api_version == 0:
            return self.then
        return self.refuse_version(request, talk, {})


@pytest.mark.parametrize("then", [HANG_UP, SILENCE])
async def test_35_10_a_broker_that_knows_api_versions_is_not_old_when_it_breaks_off(
    then: bytes | None,
) -> None:
    broker = Refusing(then=then)
    async with running(broker) as [address]:
        with pytest.raises(ConnectionLostError if then is HANG_UP else RequestTimeoutError):
            await open_connection(address, QUICK)
    assert broker.asked(METADATA) == []


@pytest.mark.parametrize("stays", [False, True])
async def test_35_10_half_an_answer_does_not_make_a_broker_old(stays: bool) -> None:
    class Half(ScriptedBroker):
        async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if self.connections:
                await super().serve(reader, writer)
                return
            self.connections += 1
            await reader.read(100)
            writer.write(bytes.fromhex("0000010000000000"))
            if stays:
                await reader.read()
            writer.close()

    broker = Half()
    async with running(broker) as [address]:
        with pytest.raises(RequestTimeoutError if stays else ConnectionLostError):
            await open_connection(address, QUICK)
    assert broker.connections == 1


async def test_35_10_a_release_is_not_assumed_for_a_broker_that_answers() -> None:
    async with running(ScriptedBroker()) as [address]:
        connection = await open_connection(address, ClientConfig(release="0.9.0"))
        await connection.close()
    assert connection.versions.provenance is Provenance.REPORTED
    assert connection.versions.ranges == RELEASED_RANGES


async def test_35_9_what_the_broker_lacks_fails_at_once_and_is_not_sent() -> None:
    broker = ScriptedBroker(ranges={**RELEASED_RANGES, METADATA: (14, 15)})
    async with running(broker) as [address]:
        connection = await open_connection(address, QUICK)
        began = time.monotonic()
        with pytest.raises(UnsupportedError, match="14 to 15, rollcall has 0 to 13"):
            connection.version_for(METADATA)
        assert time.monotonic() - began < 1.0
        await connection.close()
    assert broker.asked(METADATA) == []


async def test_35_8_versions_named_in_the_settings_are_avoided() -> None:
    async with running(ScriptedBroker()) as [address]:
        connection = await open_connection(
            address, ClientConfig(avoid={"Metadata": frozenset({13, 12})})
        )
        assert connection.version_for(METADATA) == 11
        await connection.close()


@dataclass
class Odd(ScriptedBroker):
    """Does something else than answering, once its versions were asked."""

    how: str = "mute"

    async def answer(self, request: Request, talk: ServerConversation, number: int) -> bytes | None:
        good = await super().answer(request, talk, number)
        if request.api_key == API_VERSIONS or good is None:
            return good
        return {
            "mute": SILENCE,
            "closes": HANG_UP,
            "empty": talk.respond_empty(request),
            "other id": good[:4] + (77).to_bytes(4, "big") + good[8:],
            "cut short": (len(good) - 14).to_bytes(4, "big") + good[4:-10],
            "left over": (len(good) - 1).to_bytes(4, "big") + good[4:] + b"abc",
            "http": b"HTTP/1.1 400 Bad Request\r\n\r\n",
            "negative": b"\xff\xff\xff\xff",
            "half": good[:-5],
        }[self.how]


@pytest.mark.parametrize(
    ("how", "error", "text"),
    [
        ("mute", RequestTimeoutError, "did not answer DescribeCluster version 2 within 1 s"),
        ("closes", ConnectionLostError, "closed the connection"),
        ("empty", UnsupportedError, "not supported by the broker: DescribeCluster version 2"),
        ("other id", InvalidResponseError, "correlation id 77, expected 1"),
        ("cut short", InvalidResponseError, "cannot be read"),
        ("left over", InvalidResponseError, "more bytes follow"),
        ("http", InvalidResponseError, "announced a frame"),
        ("negative", InvalidResponseError, "announced a frame of -1 bytes"),
        ("half", RequestTimeoutError, "did not answer"),
    ],
)
async def test_a_bad_answer_is_an_error_that_says_what_is_wrong(
    how: str, error: type[Exception], text: str
) -> None:
    async with running(Odd(how=how)) as [address]:
        connection = await open_connection(address, QUICK)
        with pytest.raises(error, match=text):
            await connection.ask(DESCRIBE_CLUSTER, 2)
        assert connection.is_open == (how == "empty")
        await connection.close()


class HangsUpInTheMiddle(ScriptedBroker):
    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"\x00\x00\x01\x00\x00\x00")
        writer.close()


async def test_half_an_answer_is_told_as_such() -> None:
    async with running(HangsUpInTheMiddle()) as [address]:
        with pytest.raises(ConnectionLostError, match="in the middle of an answer, 6 bytes"):
            await open_connection(address, QUICK)


async def test_a_connection_that_is_closed_behind_api_versions_hints_at_sasl() -> None:
    async with running(Odd(how="closes")) as [address]:
        connection = await open_connection(address, QUICK)
        with pytest.raises(ConnectionLostError) as caught:
            await connection.ask(DESCRIBE_CLUSTER, 2)
        await connection.close()
    assert "SASL" in str(caught.value.hint)


@dataclass
class Slow(ScriptedBroker):
    async def answer(self, request: Request, talk: ServerConversation, number: int) -> bytes | None:
        if request.api_key == METADATA:
            await asyncio.sleep(0.1)
        return await super().answer(request, talk, number)


async def test_many_requests_are_in_flight_and_each_gets_its_own_answer() -> None:
    async with running(ScriptedBroker(delay=0.001)) as [address]:
        connection = await open_connection(address, ClientConfig(request_timeout=20))
        answers = await asyncio.gather(
            *(
                connection.ask(key, version)
                for key in (METADATA, DESCRIBE_CLUSTER) * 20
                for version in (0, 1)
            )
        )
        names = [type(answer).__name__ for answer in answers]
        assert names == (["MetadataResponse"] * 2 + ["DescribeClusterResponse"] * 2) * 20
        await connection.close()


async def test_a_caller_that_is_cancelled_does_not_disturb_the_others() -> None:
    async with running(Slow()) as [address]:
        connection = await open_connection(address, QUICK)
        leaving = asyncio.create_task(connection.ask(METADATA, 13))
        staying = asyncio.create_task(connection.ask(METADATA, 12))
        await asyncio.sleep(0.02)
        leaving.cancel()
        assert (await staying).brokers[0].node_id == 1
        assert (await connection.ask(DESCRIBE_CLUSTER, 0)).cluster_id == "scripted"
        assert leaving.cancelled()
        await connection.close()


async def test_closing_fails_who_still_waits_and_closes_the_socket() -> None:
    broker = Odd(how="mute")
    async with running(broker) as [address]:
        connection = await open_connection(address, ClientConfig(request_timeout=30))
        waiting = asyncio.create_task(connection.ask(METADATA, 13))
        await asyncio.sleep(0.02)
        await connection.close()
        with pytest.raises(ConnectionLostError, match="closed here"):
            await waiting
        with pytest.raises(ConnectionLostError):
            await connection.ask(METADATA, 13)
        await connection.close()
        await until(lambda: broker.open_now == 0)


async def test_a_port_without_a_listener_refuses() -> None:
    with pytest.raises(ConnectionRefusedByBrokerError, match="refused the connection"):
        await open_connection(await unused_address(), QUICK)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "x" * 300, "\ud800", "a\nb"])
async def test_a_host_name_that_is_none_is_unreachable(host: str) -> None:
    with pytest.raises(UnreachableError, match="has no address"):
        await open_connection(Address(host, 9092), QUICK)


@pytest.mark.parametrize(
    "address", [("", 1), ("a\0b", 1), ("h", 0), ("h", -1), ("127.0.0.1", 99999)]
)
async def test_what_brokers_advertise_may_be_no_address(address: tuple[str, int]) -> None:
    with pytest.raises(UnreachableError, match="is no address"):
        await open_connection(Address(*address), QUICK)


async def test_cancelling_while_connecting_leaves_no_socket_behind() -> None:
    broker = Old(to_api_versions=SILENCE)
    async with running(broker) as [address]:
        task = asyncio.create_task(open_connection(address, ClientConfig(api_versions_timeout=30)))
        await until(lambda: bool(broker.requests))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: broker.open_now == 0)
