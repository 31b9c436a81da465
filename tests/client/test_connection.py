"""Connections to brokers that are old, slow, misbehaving, or not brokers."""

import asyncio
import time
from dataclasses import dataclass, replace

import pytest

from rollcall.catalog import Provenance, listed_ranges
from rollcall.client import (
    Address,
    ApiVersionsOutcome,
    ClientConfig,
    ConnectionLostError,
    ConnectionRefusedByBrokerError,
    InvalidResponseError,
    RequestTimeoutError,
    UnreachableError,
    UnsupportedError,
    open_connection,
)
from rollcall.protocol import Request
from tests.client.scripted import (
    API_VERSIONS,
    CLOSE,
    DESCRIBE_CLUSTER,
    METADATA,
    NO_RESPONSE,
    PATIENT,
    RELEASED_RANGES,
    ScriptedBroker,
    running,
    unused_address,
    wait_until,
)
from tests.protocol.server_conversation import ServerConversation

IMPATIENT = ClientConfig(request_timeout=1, connect_timeout=60, api_versions_timeout=3)
OLD = {METADATA: (0, 0)}


@dataclass
class OldBroker(ScriptedBroker):
    """A broker without ApiVersions: 0.8 closes the connection, 0.9 does not respond."""

    to_api_versions: bytes | None = CLOSE

    def api_versions(self, request: Request, conversation: ServerConversation) -> bytes | None:
        return self.to_api_versions


@pytest.mark.parametrize(
    ("to_api_versions", "outcome"),
    [(CLOSE, ApiVersionsOutcome.CLOSED), (NO_RESPONSE, ApiVersionsOutcome.TIMED_OUT)],
)
async def test_35_10_broker_without_api_versions_is_tried_with_metadata_0(
    to_api_versions: bytes | None, outcome: ApiVersionsOutcome
) -> None:
    broker = OldBroker(ranges=OLD, to_api_versions=to_api_versions)
    async with running(broker) as [address]:
        connection = await open_connection(address, IMPATIENT)
        assert connection.versions.outcome is outcome
        assert connection.versions.ranges == {METADATA: (0, 0)}
        assert connection.versions.provenance is Provenance.INFERRED
        assert connection.version_for(METADATA) == 0
        await connection.close()
    assert [(n, r.api_key) for n, r in broker.requests] == [(1, API_VERSIONS), (2, METADATA)]


async def test_35_10_ranges_of_the_configured_release_are_used_for_an_old_broker() -> None:
    broker = OldBroker(ranges={METADATA: (0, 1)})
    config = replace(PATIENT, release="0.10.0")
    async with running(broker) as [address]:
        connection = await open_connection(address, config)
        assert connection.versions.provenance is Provenance.CONFIGURED
        assert connection.versions.ranges == listed_ranges("0.10.0")
        assert connection.version_for(METADATA) == listed_ranges("0.10.0")[METADATA].high
        await connection.close()


async def test_35_10_broker_that_closes_on_both_requests_is_unreachable_and_not_old() -> None:
    broker = OldBroker(ranges={}, to_api_versions=CLOSE)
    async with running(broker) as [address]:
        with pytest.raises(UnreachableError, match="neither to ApiVersions nor to Metadata 0"):
            await open_connection(address, PATIENT)


async def test_35_10_broker_that_never_responds_fails_after_the_api_versions_timeout() -> None:
    broker = OldBroker(ranges={METADATA: (0, 0)}, to_api_versions=NO_RESPONSE, delay=600)
    async with running(broker) as [address]:
        began = time.monotonic()
        with pytest.raises(RequestTimeoutError, match="neither to ApiVersions nor to Metadata 0"):
            await open_connection(
                address, ClientConfig(api_versions_timeout=0.3, request_timeout=600)
            )
        assert time.monotonic() - began < 60


@dataclass
class RefusesVersion(ScriptedBroker):
    """Refuses the first ApiVersions version, then closes or does not respond."""

    then: bytes | None = CLOSE

    def api_versions(self, request: Request, conversation: ServerConversation) -> bytes | None:
        if request.api_version == 0:
            return self.then
        return self.refuse_version(request, conversation, {})


@pytest.mark.parametrize("then", [CLOSE, NO_RESPONSE])
async def test_35_10_broker_that_refused_a_version_is_not_taken_for_an_old_one(
    then: bytes | None,
) -> None:
    broker = RefusesVersion(then=then)
    async with running(broker) as [address]:
        with pytest.raises(ConnectionLostError if then is CLOSE else RequestTimeoutError):
            await open_connection(address, IMPATIENT)
    assert broker.versions_of(METADATA) == []


@pytest.mark.parametrize("stays", [False, True])
async def test_35_10_broker_that_sent_half_a_response_is_not_taken_for_an_old_one(
    stays: bool,
) -> None:
    class HalfResponse(ScriptedBroker):
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

    broker = HalfResponse()
    async with running(broker) as [address]:
        with pytest.raises(RequestTimeoutError if stays else ConnectionLostError):
            await open_connection(address, IMPATIENT)
    assert broker.connections == 1


async def test_35_10_configured_release_is_ignored_for_a_broker_with_api_versions() -> None:
    async with running(ScriptedBroker()) as [address]:
        connection = await open_connection(address, replace(PATIENT, release="0.9.0"))
        await connection.close()
    assert connection.versions.provenance is Provenance.REPORTED
    assert connection.versions.ranges == RELEASED_RANGES


async def test_35_9_request_without_a_common_version_fails_and_is_not_sent() -> None:
    broker = ScriptedBroker(ranges={**RELEASED_RANGES, METADATA: (14, 15)})
    async with running(broker) as [address]:
        connection = await open_connection(address, PATIENT)
        with pytest.raises(UnsupportedError, match="versions 14 to 15, rollcall 0 to 13"):
            connection.version_for(METADATA)
        await connection.close()
    assert broker.versions_of(METADATA) == []


async def test_35_8_configured_versions_are_avoided() -> None:
    async with running(ScriptedBroker()) as [address]:
        connection = await open_connection(
            address, replace(PATIENT, avoid={"Metadata": frozenset({13, 12})})
        )
        assert connection.version_for(METADATA) == 11
        await connection.close()


@dataclass
class Misbehaving(ScriptedBroker):
    """Responds well to ApiVersions only."""

    behaviour: str = "no response"

    async def respond(
        self, request: Request, conversation: ServerConversation, number: int
    ) -> bytes | None:
        good = await super().respond(request, conversation, number)
        if request.api_key == API_VERSIONS or good is None:
            return good
        return {
            "no response": NO_RESPONSE,
            "closes": CLOSE,
            "empty": conversation.respond_empty(request),
            "other id": good[:4] + (77).to_bytes(4, "big") + good[8:],
            "cut short": (len(good) - 14).to_bytes(4, "big") + good[4:-10],
            "left over": (len(good) - 1).to_bytes(4, "big") + good[4:] + b"abc",
            "http": b"HTTP/1.1 400 Bad Request\r\n\r\n",
            "negative": b"\xff\xff\xff\xff",
            "half": good[:-5],
        }[self.behaviour]


@pytest.mark.parametrize(
    ("behaviour", "error", "text"),
    [
        (
            "no response",
            RequestTimeoutError,
            "did not respond to DescribeCluster version 2 within 1 s",
        ),
        ("closes", ConnectionLostError, "closed the connection"),
        ("empty", UnsupportedError, "not supported by the broker: DescribeCluster version 2"),
        ("other id", InvalidResponseError, "correlation id 77, expected 1"),
        ("cut short", InvalidResponseError, "cannot be read"),
        ("left over", InvalidResponseError, "more bytes follow"),
        ("http", InvalidResponseError, "frame length"),
        ("negative", InvalidResponseError, "frame length -1 is not between"),
        ("half", RequestTimeoutError, "did not respond"),
    ],
)
async def test_invalid_response_is_an_error_with_the_reason(
    behaviour: str, error: type[Exception], text: str
) -> None:
    async with running(Misbehaving(behaviour=behaviour)) as [address]:
        connection = await open_connection(address, IMPATIENT)
        with pytest.raises(error, match=text):
            await connection.request(DESCRIBE_CLUSTER, 2)
        assert connection.is_open == (behaviour == "empty")
        await connection.close()


class ClosesInTheMiddle(ScriptedBroker):
    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"\x00\x00\x01\x00\x00\x00")
        writer.close()


async def test_connection_closed_within_a_response_is_an_error_with_the_bytes_received() -> None:
    async with running(ClosesInTheMiddle()) as [address]:
        with pytest.raises(ConnectionLostError, match="after 6 bytes of a response"):
            await open_connection(address, PATIENT)


async def test_connection_closed_after_api_versions_gives_a_hint_about_sasl() -> None:
    async with running(Misbehaving(behaviour="closes")) as [address]:
        connection = await open_connection(address, PATIENT)
        with pytest.raises(ConnectionLostError) as caught:
            await connection.request(DESCRIBE_CLUSTER, 2)
        await connection.close()
    assert "SASL" in str(caught.value.hint)


@dataclass
class SlowMetadata(ScriptedBroker):
    async def respond(
        self, request: Request, conversation: ServerConversation, number: int
    ) -> bytes | None:
        if request.api_key == METADATA:
            await asyncio.sleep(0.1)
        return await super().respond(request, conversation, number)


async def test_responses_are_matched_with_many_requests_in_flight() -> None:
    async with running(ScriptedBroker(delay=0.001)) as [address]:
        connection = await open_connection(address, PATIENT)
        responses = await asyncio.gather(
            *(
                connection.request(key, version)
                for key in (METADATA, DESCRIBE_CLUSTER) * 20
                for version in (0, 1)
            )
        )
        names = [type(response).__name__ for response in responses]
        assert names == (["MetadataResponse"] * 2 + ["DescribeClusterResponse"] * 2) * 20
        await connection.close()


async def test_cancelled_request_does_not_affect_the_others() -> None:
    broker = SlowMetadata()
    async with running(broker) as [address]:
        connection = await open_connection(address, PATIENT)
        cancelled = asyncio.create_task(connection.request(METADATA, 13))
        kept = asyncio.create_task(connection.request(METADATA, 12))
        await wait_until(lambda: len(broker.requests) >= 2)
        cancelled.cancel()
        assert (await kept).brokers[0].node_id == 1
        assert (await connection.request(DESCRIBE_CLUSTER, 0)).cluster_id == "scripted"
        assert cancelled.cancelled()
        await connection.close()


async def test_closing_a_connection_fails_pending_requests_and_closes_the_socket() -> None:
    broker = Misbehaving(behaviour="no response")
    async with running(broker) as [address]:
        connection = await open_connection(address, PATIENT)
        waiting = asyncio.create_task(connection.request(METADATA, 13))
        await wait_until(lambda: len(broker.requests) >= 2)
        await connection.close()
        with pytest.raises(ConnectionLostError, match="closed here"):
            await waiting
        with pytest.raises(ConnectionLostError):
            await connection.request(METADATA, 13)
        await connection.close()
        await wait_until(lambda: broker.open_connections == 0)


async def test_port_without_a_listener_refuses_the_connection() -> None:
    with pytest.raises(ConnectionRefusedByBrokerError, match="refused the connection"):
        await open_connection(await unused_address(), PATIENT)


@pytest.mark.parametrize("host", ["no-such-host.invalid", "a..b", "x" * 300, "\ud800", "a\nb"])
async def test_invalid_host_name_is_unreachable(host: str) -> None:
    with pytest.raises(UnreachableError, match="cannot be resolved"):
        await open_connection(Address(host, 9092), PATIENT)


@pytest.mark.parametrize(
    "address", [("", 1), ("a\0b", 1), ("h", 0), ("h", -1), ("127.0.0.1", 99999)]
)
async def test_invalid_advertised_address_is_unreachable(address: tuple[str, int]) -> None:
    with pytest.raises(UnreachableError, match="is not an address"):
        await open_connection(Address(*address), PATIENT)


async def test_cancelled_open_connection_closes_the_socket() -> None:
    broker = OldBroker(to_api_versions=NO_RESPONSE)
    async with running(broker) as [address]:
        task = asyncio.create_task(open_connection(address, ClientConfig(api_versions_timeout=600)))
        await wait_until(lambda: bool(broker.requests))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await wait_until(lambda: broker.open_connections == 0)
