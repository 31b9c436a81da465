import asyncio
import ssl
import threading
from collections.abc import Callable, Coroutine
from dataclasses import replace
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
from rollcall.protocol import FrameReader, dialect, frame, read_request
from rollcall.protocol.sasl import Users, new_server, scram_keys
from tests.client.scripted import PATIENT, RELEASED_RANGES, SASL_RANGES, ScriptedBroker, running
from tests.protocol.server_conversation import ServerConversation


def broker() -> ScriptedBroker:
    return ScriptedBroker(
        ranges={**RELEASED_RANGES, **SASL_RANGES}, users=Users({"alice": "sesame"})
    )


def config(mechanism: str = "SCRAM-SHA-256", password: str = "sesame") -> ClientConfig:
    sasl = SaslConfig(mechanism=mechanism, username="alice", password=password)
    return replace(PATIENT, sasl=sasl)


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
async def test_sasl_with_the_correct_password_succeeds(mechanism: str) -> None:
    async with running(broker()) as [address], AdminClient([address], config(mechanism)) as client:
        assert (await client.describe_cluster()).cluster_id == "scripted"


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
async def test_sasl_with_a_wrong_password_fails_without_showing_it(mechanism: str) -> None:
    async with running(broker()) as [address]:
        with pytest.raises(AuthenticationError, match="refused 'alice'") as caught:
            await open_connection(address, config(mechanism, "open-sesame"))
    assert "open-sesame" not in f"{caught.value!r} {caught.value.hint}"
    assert caught.value.failure is FailureKind.AUTHENTICATION_FAILED


async def test_sasl_error_lists_the_mechanisms_that_the_broker_offers() -> None:
    async with running(broker()) as [address]:
        with pytest.raises(AuthenticationError, match="UNSUPPORTED_SASL_MECHANISM") as caught:
            await open_connection(address, config("SCRAM-SHA-512"))
    assert caught.value.hint == "use a mechanism that the broker offers: PLAIN"


async def test_sasl_listener_without_sasl_settings_is_not_taken_for_an_old_broker() -> None:
    async with running(broker()) as [address]:
        connection = await open_connection(address, PATIENT)
        with pytest.raises(ClientError):
            await connection.request(3, 13)
        await connection.close()


async def test_scram_key_is_derived_outside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    salt_password = scram_keys.salt_password
    threads = []

    def recording(*arguments: object) -> bytes:
        threads.append(threading.get_ident())
        return salt_password(*arguments)  # type: ignore[arg-type]

    async with running(broker()) as [address]:
        monkeypatch.setattr(scram_keys, "salt_password", recording)
        await (await open_connection(address, config())).close()
    assert threads
    assert threading.get_ident() not in threads


class BareTokens(ScriptedBroker):
    """SASL as in 0.10 and 0.11: after SaslHandshake 0 tokens are sent without headers."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert self.users is not None
        frames, server, users = FrameReader(), None, self.users
        conversation = ServerConversation(dialect("released"))
        done = False
        while data := await reader.read(65536):
            for data_frame in frames.feed(data):
                if server is not None and not done:
                    step = server.step(data_frame)
                    done = step.done
                    writer.write(frame([step.token]))
                    continue
                request = read_request(data_frame, conversation.dialect)
                if request.api_key == 17:
                    cls = conversation.dialect.message_class("SaslHandshakeResponse")
                    server = new_server(request.body(conversation.dialect).mechanism, users)
                    writer.write(conversation.respond(request, cls(mechanisms=["PLAIN"])))
                else:
                    response = await self.respond(request, conversation, 1)
                    assert response is not None
                    writer.write(response)
        writer.close()


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
async def test_sasl_tokens_have_no_headers_before_kafka_1_0(mechanism: str) -> None:
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


async def test_tls_with_the_cluster_ca_connects(server_tls: ssl.SSLContext, ca_file: Path) -> None:
    tls = TlsConfig(ca_file=ca_file)
    async with (
        running(ScriptedBroker(), tls=server_tls) as [address],
        AdminClient([address], replace(PATIENT, tls=tls)) as client,
    ):
        assert (await client.describe_cluster()).cluster_id == "scripted"


async def test_tls_with_another_ca_fails_as_not_trusted(server_tls: ssl.SSLContext) -> None:
    async with running(ScriptedBroker(), tls=server_tls) as [address]:
        context = TlsConfig(ca_pem=trustme.CA().cert_pem.bytes().decode()).context()
        with pytest.raises(AuthenticationError, match="is not trusted"):
            await open_connection(address, PATIENT, context)


async def test_tls_to_a_plaintext_listener_fails_with_the_reason() -> None:
    async with running(ScriptedBroker()) as [address]:
        with pytest.raises(UnreachableError, match=r"TLS handshake with .* failed: \S"):
            await open_connection(address, PATIENT, TlsConfig().context())


async def test_plaintext_to_a_tls_listener_gives_a_hint_about_tls(
    server_tls: ssl.SSLContext,
) -> None:
    async with running(ScriptedBroker(), tls=server_tls) as [address]:
        with pytest.raises(ClientError) as caught:
            await open_connection(
                address, ClientConfig(api_versions_timeout=0.5, request_timeout=0.5)
            )
    assert "TLS" in str(caught.value.hint)


@pytest.mark.parametrize("as_text", [True, False])
async def test_tls_client_certificate_is_sent(
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
        AdminClient([address], replace(PATIENT, tls=tls)) as client,
    ):
        assert (await client.describe_cluster()).cluster_id == "scripted"


@pytest.mark.parametrize("loop", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_missing_client_certificate_gives_a_hint(
    server_tls: ssl.SSLContext,
    ca_file: Path,
    version: ssl.TLSVersion,
    loop: Callable[[Coroutine[Any, Any, None]], None],
) -> None:
    server_tls.verify_mode = ssl.CERT_REQUIRED
    server_tls.maximum_version = version

    async def check() -> None:
        async with running(ScriptedBroker(), tls=server_tls) as [address]:
            with pytest.raises(UnreachableError) as caught:
                await open_connection(address, PATIENT, TlsConfig(ca_file=ca_file).context())
        assert "requires a client certificate" in str(caught.value.hint)

    loop(check())
