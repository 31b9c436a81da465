import asyncio
import ssl
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import trustme
import uvloop

from rollcall.client import (
    AdminClient,
    AuthenticationError,
    ClientConfig,
    ClientError,
    FailureKind,
    SaslConfig,
    TlsConfig,
    UnreachableError,
    open_connection,
)
from rollcall.protocol.framing import FrameReader, frame
from rollcall.protocol.sasl import Users, new_server
from tests.client.scripted import RELEASED_RANGES, SASL_RANGES, ScriptedBroker, running


def broker() -> ScriptedBroker:
    return ScriptedBroker(
        ranges={**RELEASED_RANGES, **SASL_RANGES}, users=Users({"alice": "sesame"})
    )


def config(mechanism: str = "SCRAM-SHA-256", password: str = "sesame") -> ClientConfig:
    return ClientConfig(
        request_timeout=10,
        api_versions_timeout=5,
        sasl=SaslConfig(mechanism=mechanism, username="alice", password=password),
    )


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
async def test_a_right_password_opens_the_door(mechanism: str) -> None:
    async with running(broker()) as [address], AdminClient([address], config(mechanism)) as client:
        assert (await client.describe_cluster()).cluster_id == "scripted"


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
async def test_a_wrong_password_is_denied_and_not_in_the_error(mechanism: str) -> None:
    async with running(broker()) as [address]:
        with pytest.raises(AuthenticationError, match="refused 'alice'") as caught:
            await open_connection(address, config(mechanism, "open-sesame"))
    assert "open-sesame" not in f"{caught.value!r} {caught.value.hint}"
    assert caught.value.failure is FailureKind.AUTHENTICATION_FAILED


async def test_a_mechanism_that_is_not_offered_is_told_with_those_that_are() -> None:
    async with running(broker()) as [address]:
        with pytest.raises(AuthenticationError, match="UNSUPPORTED_SASL_MECHANISM") as caught:
            await open_connection(address, config("SCRAM-SHA-512"))
    assert caught.value.hint == "mechanisms that it offers: PLAIN"


async def test_without_sasl_a_sasl_listener_is_no_old_broker() -> None:
    async with running(broker()) as [address]:
        connection = await open_connection(address, ClientConfig(request_timeout=1))
        with pytest.raises(ClientError):
            await connection.ask(3, 13)
        await connection.close()


async def test_deriving_the_key_does_not_hold_up_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rollcall.protocol.sasl import scram_keys

    slow = scram_keys.salt_password

    def slower(*arguments: object) -> bytes:
        time.sleep(1.0)
        return slow(*arguments)  # type: ignore[arg-type]

    async with running(broker()) as [address]:
        monkeypatch.setattr(scram_keys, "salt_password", slower)
        task = asyncio.create_task(open_connection(address, config()))
        longest, last = 0.0, time.monotonic()
        while not task.done():
            await asyncio.sleep(0.005)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
        await (await task).close()
    assert longest < 0.8


class BareTokens(ScriptedBroker):
    """As 0.10 and 0.11: after SaslHandshake 0 tokens come without any header."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert self.users is not None
        frames, server, users = FrameReader(), None, self.users
        from rollcall.protocol.conversation import ServerConversation
        from rollcall.protocol.dialects import dialect
        from rollcall.protocol.headers import read_request

        talk = ServerConversation(dialect("released"))
        done = False
        while data := await reader.read(65536):
            for one in frames.feed(data):
                if server is not None and not done:
                    step = server.step(one)
                    done = step.done
                    writer.write(frame([step.token]))
                    continue
                request = read_request(one, talk.dialect)
                if request.api_key == 17:
                    cls = talk.dialect.message_class("SaslHandshakeResponse")
                    server = new_server(request.body(talk.dialect).mechanism, users)
                    writer.write(talk.respond(request, cls(mechanisms=["PLAIN"])))
                else:
                    answer = await self.answer(request, talk, 1)
                    assert answer is not None
                    writer.write(answer)
        writer.close()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
async def test_before_kafka_1_tokens_go_without_headers(mechanism: str) -> None:
    old = BareTokens(ranges={3: (0, 2), 17: (0, 0), 18: (0, 0)}, users=Users({"alice": "sesame"}))
    async with running(old) as [address], AdminClient([address], config(mechanism)) as client:
        assert (await client.describe_cluster()).via.version == 2


@pytest.fixture(scope="module")
def ca() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def server_tls(ca: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("127.0.0.1").configure_cert(context)
    ca.configure_trust(context)
    return context


@pytest.fixture
def ca_file(ca: trustme.CA, tmp_path: Path) -> Path:
    path = tmp_path / "ca.pem"
    ca.cert_pem.write_to_path(str(path))
    return path


async def test_tls_with_the_right_ca(server_tls: ssl.SSLContext, ca_file: Path) -> None:
    tls = TlsConfig(ca_file=ca_file)
    async with (
        running(ScriptedBroker(), tls=server_tls) as [address],
        AdminClient([address], ClientConfig(tls=tls)) as client,
    ):
        assert (await client.describe_cluster()).cluster_id == "scripted"


async def test_tls_with_another_ca_is_not_trusted(server_tls: ssl.SSLContext) -> None:
    async with running(ScriptedBroker(), tls=server_tls) as [address]:
        context = TlsConfig(ca_pem=trustme.CA().cert_pem.bytes().decode()).context()
        with pytest.raises(AuthenticationError, match="is not trusted"):
            await open_connection(address, ClientConfig(), context)


async def test_tls_to_a_plaintext_listener_says_so() -> None:
    async with running(ScriptedBroker()) as [address]:
        with pytest.raises(UnreachableError, match=r"no way to speak TLS: \S"):
            await open_connection(address, ClientConfig(connect_timeout=2), TlsConfig().context())


async def test_plaintext_to_a_tls_listener_is_no_old_broker(server_tls: ssl.SSLContext) -> None:
    async with running(ScriptedBroker(), tls=server_tls) as [address]:
        with pytest.raises(ClientError) as caught:
            await open_connection(
                address, ClientConfig(api_versions_timeout=0.5, request_timeout=0.5)
            )
    assert "TLS" in str(caught.value.hint)


@pytest.mark.parametrize("as_text", [True, False])
async def test_a_client_certificate_is_shown(
    ca: trustme.CA, server_tls: ssl.SSLContext, ca_file: Path, tmp_path: Path, as_text: bool
) -> None:
    server_tls.verify_mode = ssl.CERT_REQUIRED
    ours = ca.issue_cert("client.example").private_key_and_cert_chain_pem
    path = tmp_path / "client.pem"
    ours.write_to_path(str(path))
    tls = (
        TlsConfig(ca_file=ca_file, identity_pem=ours.bytes().decode())
        if as_text
        else TlsConfig(ca_file=ca_file, certificate_file=path)
    )
    async with (
        running(ScriptedBroker(), tls=server_tls) as [address],
        AdminClient([address], ClientConfig(tls=tls)) as client,
    ):
        assert (await client.describe_cluster()).cluster_id == "scripted"


@pytest.mark.parametrize("loop", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_client_certificate_that_is_missed_is_hinted_at_in_every_tls(
    server_tls: ssl.SSLContext,
    ca_file: Path,
    version: ssl.TLSVersion,
    loop: Callable[[Coroutine[Any, Any, None]], None],
) -> None:
    server_tls.verify_mode = ssl.CERT_REQUIRED
    server_tls.maximum_version = version

    async def knock() -> None:
        async with running(ScriptedBroker(), tls=server_tls) as [address]:
            with pytest.raises(UnreachableError) as caught:
                await open_connection(address, ClientConfig(), TlsConfig(ca_file=ca_file).context())
        assert "wants a client certificate" in str(caught.value.hint)

    loop(knock())
