import asyncio
import struct
import time

import pytest

from rollcall.protocol.error_codes import Errors
from rollcall.protocol.framing import frame
from rollcall.protocol.sasl import MECHANISMS, Users, new_client
from rollcall.server import ConnectionLimits, ListenerConfig, SaslConfig, SecurityProtocol
from tests.server.wire import (
    API_VERSIONS,
    DESCRIBE_CLUSTER,
    METADATA,
    SASL_AUTHENTICATE,
    SASL_HANDSHAKE,
    Peer,
    expire_all,
    metric,
    named,
    only_listener,
    request,
    served,
)

PASSWORD = "correct horse"
USERS = Users({"alice": PASSWORD})


def sasl_listener(
    mechanisms: tuple[str, ...] = tuple(MECHANISMS), delay: float = 0.01, **more: object
) -> ListenerConfig:
    return ListenerConfig(
        name="SASL",
        security_protocol=SecurityProtocol.SASL_PLAINTEXT,
        sasl=SaslConfig(users=USERS, mechanisms=mechanisms, failure_delay=delay),
        **more,
    )


async def log_in_alice(peer: Peer, mechanism: str, password: str = PASSWORD, version: int = 2):
    """The last SaslAuthenticate response."""
    handshake = request("SaslHandshake", mechanism=mechanism)
    assert (await peer.call(SASL_HANDSHAKE, 1, handshake)).error_code == Errors.NONE
    client = new_client(mechanism, "alice", password)
    token = client.step(None)
    received = None
    while token is not None:
        step = request("SaslAuthenticate", auth_bytes=token)
        received = await peer.call(SASL_AUTHENTICATE, version, step)
        if received.error_code:
            break
        token = client.step(received.auth_bytes)
    return received


@pytest.mark.parametrize("version", range(3))
@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_authenticated_client_has_its_principal(mechanism: str, version: int) -> None:
    async with (
        served(None, sasl_listener()) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        received = await log_in_alice(peer, mechanism, version=version)
        assert received.error_code == Errors.NONE
        described = await peer.call(DESCRIBE_CLUSTER, 0, request("DescribeCluster"))
        assert described.cluster_id == "User:alice"
        (info,) = server.registry
        assert info.principal == "User:alice"
        labels = {"listener": "SASL", "mechanism": mechanism, "result": "succeeded"}
        assert metric(server, "rollcall_authentications_total", **labels) == 1


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_handshake_0_is_followed_by_raw_tokens(mechanism: str) -> None:
    async with (
        served(None, sasl_listener()) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        await peer.call(SASL_HANDSHAKE, 0, request("SaslHandshake", mechanism=mechanism))
        client = new_client(mechanism, "alice", PASSWORD)
        token = client.step(None)
        while token is not None:
            peer.writer.write(frame([token]))
            token = client.step(await peer.next_frame())
        described = await peer.call(DESCRIBE_CLUSTER, 0, request("DescribeCluster"))
    assert described.cluster_id == "User:alice"


async def test_wrong_raw_token_closes_the_connection_without_a_response() -> None:
    async with (
        served(None, sasl_listener()) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        await peer.call(SASL_HANDSHAKE, 0, request("SaslHandshake", mechanism="PLAIN"))
        peer.writer.write(frame([b"\0alice\0wrong"]))
        assert await peer.until_closed() == b""


async def test_35_5_and_511_3_api_versions_response_is_the_same_before_and_after_sasl() -> None:
    async with (
        served(None, sasl_listener()) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        before = await peer.call(API_VERSIONS, 0, request("ApiVersions"))
        named_before = await peer.call(API_VERSIONS, 3, named("early", "1"))
        peer.writer.write(frame([struct.pack(">hhih", API_VERSIONS, 99, 3, -1)]))
        assert struct.unpack_from(">h", await peer.next_frame(), 4) == (Errors.UNSUPPORTED_VERSION,)
        invalid = await peer.call(API_VERSIONS, 3, named("bad name"))
        assert invalid.error_code == Errors.INVALID_REQUEST
        (info,) = server.registry
        assert (info.software_name, info.principal) == ("early", "User:ANONYMOUS")
        await log_in_alice(peer, "SCRAM-SHA-256")
        assert await peer.call(API_VERSIONS, 0, request("ApiVersions")) == before
        assert await peer.call(API_VERSIONS, 3, named("late", "2")) == named_before
        assert (info.software_name, info.principal) == ("late", "User:alice")


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_wrong_password_gets_an_error_after_a_delay_and_closes_the_connection(
    mechanism: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(None, sasl_listener(delay=0.2)) as server:
        async with await Peer.connect(only_listener(server)) as peer:
            began = time.monotonic()
            received = await log_in_alice(peer, mechanism, password="wrong horse")
            assert time.monotonic() - began > 0.19  # a loop counts in whole milliseconds
            assert received.error_code == Errors.SASL_AUTHENTICATION_FAILED
            assert received.error_message == ("Authentication failed: wrong username or password")
            assert await peer.until_closed() == b""
        labels = {"listener": "SASL", "mechanism": mechanism, "result": "failed"}
        assert metric(server, "rollcall_authentications_total", **labels) == 1
        assert "wrong horse" not in caplog.text + server.metrics.text().decode()
    assert "SASL authentication failed" in caplog.text


async def test_mechanism_that_is_not_enabled_is_refused_with_the_enabled_ones() -> None:
    async with (
        served(None, sasl_listener(("SCRAM-SHA-512",))) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        received = await peer.call(SASL_HANDSHAKE, 1, request("SaslHandshake", mechanism="PLAIN"))
        assert received.error_code == Errors.UNSUPPORTED_SASL_MECHANISM
        assert received.mechanisms == ("SCRAM-SHA-512",)
        assert await peer.until_closed() == b""


async def test_authenticate_before_handshake_gets_illegal_sasl_state() -> None:
    async with (
        served(None, sasl_listener()) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        step = request("SaslAuthenticate", auth_bytes=b"\0alice\0" + PASSWORD.encode())
        received = await peer.call(SASL_AUTHENTICATE, 1, step)
        assert received.error_code == Errors.ILLEGAL_SASL_STATE
        assert await peer.until_closed() == b""


async def test_sasl_request_after_authentication_does_not_change_the_principal() -> None:
    async with (
        served(None, sasl_listener()) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        await log_in_alice(peer, "PLAIN")
        handshake = request("SaslHandshake", mechanism="PLAIN")
        step = request("SaslAuthenticate", auth_bytes=b"\0mallory\0x")
        for version in range(2):
            received = await peer.call(SASL_HANDSHAKE, version, handshake)
            assert received.error_code == Errors.ILLEGAL_SASL_STATE
        for version in range(3):
            received = await peer.call(SASL_AUTHENTICATE, version, step)
            assert received.error_code == Errors.ILLEGAL_SASL_STATE
        described = await peer.call(DESCRIBE_CLUSTER, 0, request("DescribeCluster"))
        assert described.cluster_id == "User:alice"


@pytest.mark.parametrize("stage", ["at once", "after the handshake"])
async def test_other_requests_before_authentication_close_the_connection(stage: str) -> None:
    async with served(None, sasl_listener()) as server:
        async with await Peer.connect(only_listener(server)) as peer:
            if stage == "after the handshake":
                await peer.call(SASL_HANDSHAKE, 1, request("SaslHandshake", mechanism="PLAIN"))
            peer.send(METADATA, 9, request("Metadata"))
            assert await peer.until_closed() == b""
        labels = {"listener": "SASL", "reason": "not_authenticated"}
        assert metric(server, "rollcall_refused_total", **labels) == 1


async def test_token_without_handshake_closes_the_connection() -> None:
    # clients before 0.10 sent the raw token first
    async with (
        served(None, sasl_listener()) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        peer.writer.write(frame([b"\0alice\0" + PASSWORD.encode()]))
        assert await peer.until_closed() == b""


async def test_frames_before_authentication_have_a_smaller_limit() -> None:
    limits = ConnectionLimits(max_frame_bytes=100_000, max_frame_bytes_before_login=1000)
    large = request("Metadata", topics=[request("Metadata").MetadataRequestTopic(name="t" * 5000)])
    async with served(None, sasl_listener(limits=limits)) as server:
        async with await Peer.connect(only_listener(server)) as peer:
            await log_in_alice(peer, "PLAIN")
            assert (await peer.call(METADATA, 9, large)).controller_id == 1
        async with await Peer.connect(only_listener(server)) as peer:
            peer.writer.write((1001).to_bytes(4, "big"))
            assert await peer.until_closed() == b""


async def test_large_request_received_together_with_authentication_is_served() -> None:
    limits = ConnectionLimits(max_frame_bytes_before_login=100, max_frame_bytes=10_000)
    async with (
        served(None, sasl_listener(limits=limits)) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        topic = request("Metadata").MetadataRequestTopic(name="t" * 249)
        large = request("Metadata", topics=[topic] * 4)
        login = request("SaslAuthenticate", auth_bytes=b"\0alice\0" + PASSWORD.encode())
        sent = [
            peer.encode(SASL_HANDSHAKE, 1, request("SaslHandshake", mechanism="PLAIN")),
            peer.encode(SASL_AUTHENTICATE, 1, login),
            peer.encode(METADATA, 9, large),
        ]
        peer.writer.write(b"".join(sent))
        keys = [(await peer.next_response()).request.api.key for _ in sent]
        assert keys == [SASL_HANDSHAKE, SASL_AUTHENTICATE, METADATA]


async def test_each_reason_of_failed_authentication_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served(None, sasl_listener(("PLAIN",))) as server:
        for token in (b"\0alice\0wrong", b"\0alice\0wrong", b"bob\0alice\0x", b"\0\0x"):
            async with await Peer.connect(only_listener(server)) as peer:
                shake = request("SaslHandshake", mechanism="PLAIN")
                await peer.call(SASL_HANDSHAKE, 1, shake)
                await peer.call(SASL_AUTHENTICATE, 1, request("SaslAuthenticate", auth_bytes=token))
    lines = [
        r.getMessage() for r in caplog.records if "SASL authentication failed" in r.getMessage()
    ]
    assert [line.partition("failed: ")[2] for line in lines] == [
        "wrong username or password",
        "the SASL authorization id differs from the username",
        "the username is empty",
    ]


async def test_handshake_deadline_is_not_extended_by_requests_or_back_pressure() -> None:
    async with (
        served(None, sasl_listener()) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        await peer.call(API_VERSIONS, 0, request("ApiVersions"))
        (transport,) = server._processor.transports
        deadline = transport.deadline
        transport.pause_writing()  # as asyncio does while the peer does not read
        transport.resume_writing()
        assert transport.deadline == deadline
        expire_all(server)
        assert await peer.until_closed() == b""
        labels = {"listener": "SASL", "reason": "handshake_timeout"}
        assert metric(server, "rollcall_refused_total", **labels) == 1


async def test_principal_that_the_listener_does_not_admit_is_disconnected() -> None:
    config = sasl_listener(admits=lambda info: info.principal == "User:cluster")
    async with served(None, config) as server:
        async with await Peer.connect(only_listener(server)) as peer:
            assert (await log_in_alice(peer, "PLAIN")).error_code == Errors.NONE
            assert await peer.until_closed() == b""
        labels = {"listener": "SASL", "reason": "not_admitted"}
        assert metric(server, "rollcall_refused_total", **labels) == 1


async def test_concurrent_authentications_of_100_clients_succeed() -> None:
    async with served(None, sasl_listener()) as server:

        async def authenticate() -> int:
            async with await Peer.connect(only_listener(server)) as peer:
                return (await log_in_alice(peer, "PLAIN")).error_code

        assert set(await asyncio.gather(*(authenticate() for _ in range(100)))) == {Errors.NONE}
