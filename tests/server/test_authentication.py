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


async def log_in(peer: Peer, mechanism: str, password: str = PASSWORD, version: int = 2):
    """The last SaslAuthenticate answer."""
    handshake = request("SaslHandshake", mechanism=mechanism)
    assert (await peer.ask(SASL_HANDSHAKE, 1, handshake)).error_code == Errors.NONE
    client = new_client(mechanism, "alice", password)
    token = client.step(None)
    answer = None
    while token is not None:
        step = request("SaslAuthenticate", auth_bytes=token)
        answer = await peer.ask(SASL_AUTHENTICATE, version, step)
        if answer.error_code:
            break
        token = client.step(answer.auth_bytes)
    return answer


@pytest.mark.parametrize("version", range(3))
@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_a_client_logs_in_and_is_known_by_its_principal(mechanism: str, version: int) -> None:
    async with (
        served(None, sasl_listener()) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        answer = await log_in(peer, mechanism, version=version)
        assert answer.error_code == Errors.NONE
        whom = await peer.ask(DESCRIBE_CLUSTER, 0, request("DescribeCluster"))
        assert whom.cluster_id == "User:alice"
        (info,) = server.registry
        assert info.principal == "User:alice"
        labels = {"listener": "SASL", "mechanism": mechanism, "result": "succeeded"}
        assert metric(server, "rollcall_authentications_total", **labels) == 1


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_handshake_0_is_followed_by_bare_tokens(mechanism: str) -> None:
    async with (
        served(None, sasl_listener()) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        await peer.ask(SASL_HANDSHAKE, 0, request("SaslHandshake", mechanism=mechanism))
        client = new_client(mechanism, "alice", PASSWORD)
        token = client.step(None)
        while token is not None:
            peer.writer.write(frame([token]))
            token = client.step(await peer.frame())
        whom = await peer.ask(DESCRIBE_CLUSTER, 0, request("DescribeCluster"))
    assert whom.cluster_id == "User:alice"


async def test_a_bare_token_that_is_wrong_gets_no_answer() -> None:
    async with (
        served(None, sasl_listener()) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        await peer.ask(SASL_HANDSHAKE, 0, request("SaslHandshake", mechanism="PLAIN"))
        peer.writer.write(frame([b"\0alice\0wrong"]))
        assert await peer.until_closed() == b""


async def test_35_5_and_511_3_api_versions_is_answered_before_and_after_sasl_alike() -> None:
    async with (
        served(None, sasl_listener()) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        before = await peer.ask(API_VERSIONS, 0, request("ApiVersions"))
        named_before = await peer.ask(API_VERSIONS, 3, named("early", "1"))
        peer.writer.write(frame([struct.pack(">hhih", API_VERSIONS, 99, 3, -1)]))
        assert struct.unpack_from(">h", await peer.frame(), 4) == (Errors.UNSUPPORTED_VERSION,)
        invalid = await peer.ask(API_VERSIONS, 3, named("bad name"))
        assert invalid.error_code == Errors.INVALID_REQUEST
        (info,) = server.registry
        assert (info.software_name, info.principal) == ("early", "User:ANONYMOUS")
        await log_in(peer, "SCRAM-SHA-256")
        assert await peer.ask(API_VERSIONS, 0, request("ApiVersions")) == before
        assert await peer.ask(API_VERSIONS, 3, named("late", "2")) == named_before
        assert (info.software_name, info.principal) == ("late", "User:alice")


@pytest.mark.parametrize("mechanism", MECHANISMS)
async def test_a_wrong_password_is_told_after_a_pause_and_then_the_connection_closed(
    mechanism: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with served(None, sasl_listener(delay=0.2)) as server:
        async with await Peer.connect(only_listener(server)) as peer:
            began = time.monotonic()
            answer = await log_in(peer, mechanism, password="wrong horse")
            assert time.monotonic() - began > 0.19  # a loop counts in whole milliseconds
            assert answer.error_code == Errors.SASL_AUTHENTICATION_FAILED
            assert answer.error_message == (
                "Authentication failed: the username or the password is wrong"
            )
            assert await peer.until_closed() == b""
        labels = {"listener": "SASL", "mechanism": mechanism, "result": "failed"}
        assert metric(server, "rollcall_authentications_total", **labels) == 1
        assert "wrong horse" not in caplog.text + server.metrics.text().decode()
    assert "could not log in" in caplog.text


async def test_a_mechanism_that_is_not_enabled_is_refused_with_those_that_are() -> None:
    async with (
        served(None, sasl_listener(("SCRAM-SHA-512",))) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        answer = await peer.ask(SASL_HANDSHAKE, 1, request("SaslHandshake", mechanism="PLAIN"))
        assert answer.error_code == Errors.UNSUPPORTED_SASL_MECHANISM
        assert answer.mechanisms == ("SCRAM-SHA-512",)
        assert await peer.until_closed() == b""


async def test_authenticate_before_handshake_is_an_illegal_state() -> None:
    async with (
        served(None, sasl_listener()) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        step = request("SaslAuthenticate", auth_bytes=b"\0alice\0" + PASSWORD.encode())
        answer = await peer.ask(SASL_AUTHENTICATE, 1, step)
        assert answer.error_code == Errors.ILLEGAL_SASL_STATE
        assert await peer.until_closed() == b""


async def test_sasl_requests_after_the_login_are_an_illegal_state_and_change_nothing() -> None:
    async with (
        served(None, sasl_listener()) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        await log_in(peer, "PLAIN")
        handshake = request("SaslHandshake", mechanism="PLAIN")
        step = request("SaslAuthenticate", auth_bytes=b"\0mallory\0x")
        for version in range(2):
            answer = await peer.ask(SASL_HANDSHAKE, version, handshake)
            assert answer.error_code == Errors.ILLEGAL_SASL_STATE
        for version in range(3):
            answer = await peer.ask(SASL_AUTHENTICATE, version, step)
            assert answer.error_code == Errors.ILLEGAL_SASL_STATE
        whom = await peer.ask(DESCRIBE_CLUSTER, 0, request("DescribeCluster"))
        assert whom.cluster_id == "User:alice"


@pytest.mark.parametrize("stage", ["at once", "after the handshake"])
async def test_nothing_but_api_versions_and_sasl_is_answered_before_the_login(stage: str) -> None:
    async with served(None, sasl_listener()) as server:
        async with await Peer.connect(only_listener(server)) as peer:
            if stage == "after the handshake":
                await peer.ask(SASL_HANDSHAKE, 1, request("SaslHandshake", mechanism="PLAIN"))
            peer.send(METADATA, 9, request("Metadata"))
            assert await peer.until_closed() == b""
        labels = {"listener": "SASL", "reason": "not_logged_in"}
        assert metric(server, "rollcall_refused_total", **labels) == 1


async def test_a_token_without_handshake_is_closed_cleanly() -> None:
    # clients before 0.10 began with the bare token
    async with (
        served(None, sasl_listener()) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        peer.writer.write(frame([b"\0alice\0" + PASSWORD.encode()]))
        assert await peer.until_closed() == b""


async def test_before_the_login_frames_are_small_and_after_it_they_may_be_large() -> None:
    limits = ConnectionLimits(max_frame_bytes=100_000, max_frame_bytes_before_login=1000)
    large = request("Metadata", topics=[request("Metadata").MetadataRequestTopic(name="t" * 5000)])
    async with served(None, sasl_listener(limits=limits)) as server:
        async with await Peer.connect(only_listener(server)) as peer:
            await log_in(peer, "PLAIN")
            assert (await peer.ask(METADATA, 9, large)).controller_id == 1
        async with await Peer.connect(only_listener(server)) as peer:
            peer.writer.write((1001).to_bytes(4, "big"))
            assert await peer.until_closed() == b""


async def test_a_large_request_may_come_in_one_piece_with_the_login_before_it() -> None:
    limits = ConnectionLimits(max_frame_bytes_before_login=100, max_frame_bytes=10_000)
    async with (
        served(None, sasl_listener(limits=limits)) as server,
        await Peer.connect(only_listener(server)) as peer,
    ):
        topic = request("Metadata").MetadataRequestTopic(name="t" * 249)
        large = request("Metadata", topics=[topic] * 4)
        login = request("SaslAuthenticate", auth_bytes=b"\0alice\0" + PASSWORD.encode())
        sent = [
            peer.talk.send(SASL_HANDSHAKE, 1, request("SaslHandshake", mechanism="PLAIN"))[1],
            peer.talk.send(SASL_AUTHENTICATE, 1, login)[1],
            peer.talk.send(METADATA, 9, large)[1],
        ]
        peer.writer.write(b"".join(sent))
        keys = [(await peer.next_answer()).request.api.key for _ in sent]
        assert keys == [SASL_HANDSHAKE, SASL_AUTHENTICATE, METADATA]


async def test_each_way_to_fail_a_login_has_a_line_of_its_own(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served(None, sasl_listener(("PLAIN",))) as server:
        for token in (b"\0alice\0wrong", b"\0alice\0wrong", b"bob\0alice\0x", b"\0\0x"):
            async with await Peer.connect(only_listener(server)) as peer:
                shake = request("SaslHandshake", mechanism="PLAIN")
                await peer.ask(SASL_HANDSHAKE, 1, shake)
                await peer.ask(SASL_AUTHENTICATE, 1, request("SaslAuthenticate", auth_bytes=token))
    lines = [r.getMessage() for r in caplog.records if "could not log in" in r.getMessage()]
    assert [line.partition("log in: ")[2] for line in lines] == [
        "the username or the password is wrong",
        "the client wants to act as somebody else than it logs in as",
        "the username is empty",
    ]


async def test_the_time_for_a_login_ends_also_for_a_peer_that_does_other_things_meanwhile() -> None:
    config = sasl_listener(limits=ConnectionLimits(handshake_seconds=0.5))
    async with served(None, config) as server, await Peer.connect(only_listener(server)) as peer:
        await peer.ask(API_VERSIONS, 0, request("ApiVersions"))
        (connection,) = server._processor.connections
        connection.pause_writing()  # as asyncio does while the peer does not take its answers
        connection.resume_writing()
        async with asyncio.timeout(2):
            assert await peer.until_closed() == b""
        labels = {"listener": "SASL", "reason": "handshake_timeout"}
        assert metric(server, "rollcall_refused_total", **labels) == 1


async def test_a_listener_may_admit_some_principals_only() -> None:
    config = sasl_listener(admits=lambda info: info.principal == "User:cluster")
    async with served(None, config) as server:
        async with await Peer.connect(only_listener(server)) as peer:
            assert (await log_in(peer, "PLAIN")).error_code == Errors.NONE
            assert await peer.until_closed() == b""
        labels = {"listener": "SASL", "reason": "not_admitted"}
        assert metric(server, "rollcall_refused_total", **labels) == 1


async def test_many_logins_at_once_do_not_hold_up_the_loop() -> None:
    async with served(None, sasl_listener()) as server:

        async def one() -> int:
            async with await Peer.connect(only_listener(server)) as peer:
                return (await log_in(peer, "PLAIN")).error_code

        assert set(await asyncio.gather(*(one() for _ in range(100)))) == {Errors.NONE}
