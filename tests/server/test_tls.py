import asyncio
import logging
import socket
import ssl
from pathlib import Path

import pytest
import trustme

from rollcall.errors import ConfigError
from rollcall.protocol.sasl import Users
from rollcall.server import (
    ClientAuth,
    ConnectionLimits,
    ListenerConfig,
    SaslConfig,
    SecurityProtocol,
    TlsConfig,
)
from tests.server.test_authentication import PASSWORD, log_in_alice
from tests.server.wire import (
    API_VERSIONS,
    DESCRIBE_CLUSTER,
    METADATA,
    Peer,
    eventually,
    expire_all,
    metric,
    named,
    only_listener,
    request,
    response,
    served,
)

AUTHORITY = trustme.CA()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("tls")
    certificate = AUTHORITY.issue_cert("127.0.0.1")
    paths = {name: directory / f"{name}.pem" for name in ("certificate", "key", "authorities")}
    paths["certificate"].write_bytes(b"".join(c.bytes() for c in certificate.cert_chain_pems))
    certificate.private_key_pem.write_to_path(str(paths["key"]))
    AUTHORITY.cert_pem.write_to_path(str(paths["authorities"]))
    return paths


def tls_listener(
    files: dict[str, Path], client_auth: ClientAuth = ClientAuth.NONE, **more: object
) -> ListenerConfig:
    more.setdefault("security_protocol", SecurityProtocol.SSL)
    return ListenerConfig(name="TLS", tls=TlsConfig(**files, client_auth=client_auth), **more)


def client_context(certificate: trustme.LeafCert | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    AUTHORITY.configure_trust(context)
    if certificate is not None:
        certificate.configure_cert(context)
    return context


async def test_requests_are_served_over_tls(files: dict[str, Path]) -> None:
    async with (
        served(None, tls_listener(files)) as server,
        await Peer.connect(only_listener(server), ssl=client_context()) as peer,
    ):
        await peer.call(API_VERSIONS, 3, named())
        described = await peer.call(DESCRIBE_CLUSTER, 0, request("DescribeCluster"))
        assert described.cluster_id == "User:ANONYMOUS"
        (info,) = server.registry
        assert info.security_protocol == "SSL"


async def test_requests_and_responses_of_1_mb_are_served_over_tls(files: dict[str, Path]) -> None:
    topic = request("Metadata").MetadataRequestTopic(name="t" * 1000)
    broker = response("Metadata").MetadataResponseBroker(host="h" * 1000)

    def large(_: object) -> object:
        return response("Metadata", brokers=[broker] * 1000)

    listener = tls_listener(files, limits=ConnectionLimits(max_frame_bytes=2_000_000))
    async with (
        served(None, listener, handlers={METADATA: large}) as server,
        await Peer.connect(only_listener(server), ssl=client_context()) as peer,
    ):
        for _ in range(3):
            received = await peer.call(METADATA, 9, request("Metadata", topics=[topic] * 1000))
            assert len(received.brokers) == 1000


@pytest.mark.parametrize("wanted", [ClientAuth.REQUESTED, ClientAuth.REQUIRED])
async def test_principal_is_the_distinguished_name_of_the_client_certificate(
    files: dict[str, Path], wanted: ClientAuth
) -> None:
    certificate = AUTHORITY.issue_cert(
        "client.example", organization_name="Example", organization_unit_name="data, and more"
    )
    async with served(None, tls_listener(files, wanted)) as server:
        context = client_context(certificate)
        async with await Peer.connect(only_listener(server), ssl=context) as peer:
            described = await peer.call(DESCRIBE_CLUSTER, 0, request("DescribeCluster"))
    assert described.cluster_id == "User:OU=data\\, and more,O=Example"


async def test_client_without_a_requested_certificate_is_anonymous(files: dict[str, Path]) -> None:
    async with (
        served(None, tls_listener(files, ClientAuth.REQUESTED)) as server,
        await Peer.connect(only_listener(server), ssl=client_context()) as peer,
    ):
        described = await peer.call(DESCRIBE_CLUSTER, 0, request("DescribeCluster"))
    assert described.cluster_id == "User:ANONYMOUS"


@pytest.mark.parametrize("untrusted", [False, True])
async def test_35_5_required_client_certificate_hides_api_versions(
    files: dict[str, Path], untrusted: bool
) -> None:
    certificate = trustme.CA().issue_cert("client.example") if untrusted else None
    async with served(None, tls_listener(files, ClientAuth.REQUIRED)) as server:
        with pytest.raises((ssl.SSLError, ConnectionError, AssertionError)):
            async with await Peer.connect(
                only_listener(server), ssl=client_context(certificate)
            ) as peer:
                await peer.call(API_VERSIONS, 0, request("ApiVersions"))
        labels = {"listener": "TLS", "reason": "tls_failed"}
        await eventually(lambda: metric(server, "rollcall_refused_total", **labels) == 1)
        assert metric(server, "rollcall_requests_total", listener="TLS") is None


async def test_35_5_tls_listener_does_not_respond_without_tls(
    files: dict[str, Path], caplog: pytest.LogCaptureFixture
) -> None:
    async with served(None, tls_listener(files)) as server:
        for _ in range(3):
            async with await Peer.connect(only_listener(server)) as peer:
                peer.send(API_VERSIONS, 0, request("ApiVersions"))
                received = await peer.until_closed()
                assert b"\0\x12" not in received
        lines = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert len(lines) == 1
    assert "first bytes are not TLS" in lines[0]


async def test_511_4_connection_is_registered_before_its_tls_handshake(
    files: dict[str, Path],
) -> None:
    async with served(None, tls_listener(files)) as server:
        async with await Peer.connect(only_listener(server)) as peer:
            await eventually(lambda: len(server.registry) == 1)
            expire_all(server)
            assert await peer.until_closed() == b""
        assert len(server.registry) == 0
        labels = {"listener": "TLS", "reason": "handshake_timeout"}
        assert metric(server, "rollcall_refused_total", **labels) == 1


@pytest.mark.parametrize(
    ("first_bytes", "hint"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "begin a TLS handshake"),
        (b"GET /metrics HTTP/1.1\r\n\r\n", "these bytes are an HTTP request"),
    ],
)
async def test_tls_and_http_on_a_plaintext_listener_are_logged_once_with_a_hint(
    first_bytes: bytes, hint: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with served() as server:
        for _ in range(3):
            async with await Peer.connect(only_listener(server)) as peer:
                peer.writer.write(first_bytes)
                assert await peer.until_closed() == b""
        lines = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert len(lines) == 1
    assert hint in lines[0]


async def test_each_kind_of_invalid_first_bytes_of_a_peer_is_logged_with_its_hint(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with served() as server:
        for first_bytes in (b"\xff\xff\xff\xff", b"GET /metrics", b"\x16\x03\x01\x02\x00"):
            async with await Peer.connect(only_listener(server)) as peer:
                peer.writer.write(first_bytes)
                assert await peer.until_closed() == b""
    lines = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert len(lines) == 3
    assert "these bytes are an HTTP request" in lines[1]
    assert "begin a TLS handshake" in lines[2]


async def test_client_authenticates_with_sasl_over_tls(files: dict[str, Path]) -> None:
    config = tls_listener(
        files,
        security_protocol=SecurityProtocol.SASL_SSL,
        sasl=SaslConfig(users=Users({"alice": PASSWORD})),
    )
    async with (
        served(None, config) as server,
        await Peer.connect(only_listener(server), ssl=client_context()) as peer,
    ):
        before = await peer.call(API_VERSIONS, 0, request("ApiVersions"))
        await log_in_alice(peer, "SCRAM-SHA-512")
        described = await peer.call(DESCRIBE_CLUSTER, 0, request("DescribeCluster"))
        assert await peer.call(API_VERSIONS, 0, request("ApiVersions")) == before
    assert described.cluster_id == "User:alice"


async def test_tls_records_received_byte_by_byte_are_decrypted(files: dict[str, Path]) -> None:
    async with served(None, tls_listener(files)) as server:
        port = only_listener(server).port

        def slow_client() -> bytes:
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = client_context().wrap_bio(incoming, outgoing, server_hostname="127.0.0.1")
            with socket.create_connection(("127.0.0.1", port), timeout=60) as plain:
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

                def until(step):
                    while True:
                        try:
                            return step()
                        except ssl.SSLWantReadError:
                            flush()
                            incoming.write(plain.recv(65536))

                def flush() -> None:
                    for byte in outgoing.read():
                        plain.sendall(bytes([byte]))

                until(tls.do_handshake)
                tls.write(b"\0\0\0\x0a\0\x12\0\0\0\0\0\1\xff\xff")
                return until(lambda: tls.read(1000))

        received = await asyncio.to_thread(slow_client)
    assert received[4:10] == b"\0\0\0\1\0\0"


def test_invalid_certificate_file_is_rejected_with_a_hint(
    files: dict[str, Path], tmp_path: Path
) -> None:
    from rollcall.server.tls import tls_context

    junk = tmp_path / "junk.pem"
    junk.write_text("not a certificate")
    with pytest.raises(ConfigError) as raised:
        tls_context(TlsConfig(certificate=junk, key=files["key"]))
    assert "PEM" in str(raised.value.hint)


def test_key_with_a_passphrase_is_rejected_without_a_prompt(
    files: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from cryptography.hazmat.primitives import serialization as pem

    from rollcall.server.tls import tls_context

    key = pem.load_pem_private_key(files["key"].read_bytes(), None)
    locked = tmp_path / "locked.key"
    locked.write_bytes(
        key.private_bytes(
            pem.Encoding.PEM, pem.PrivateFormat.PKCS8, pem.BestAvailableEncryption(b"sesame")
        )
    )
    with pytest.raises(ConfigError) as raised:
        tls_context(TlsConfig(certificate=files["certificate"], key=locked))
    assert "without a passphrase" in str(raised.value.hint)
    assert capfd.readouterr() == ("", "")


async def test_close_notify_gets_a_close_notify_back(
    files: dict[str, Path],
) -> None:
    async with (
        served(None, tls_listener(files)) as server,
        await Peer.connect(
            only_listener(server), ssl=client_context(), ssl_shutdown_timeout=120
        ) as peer,
    ):
        await peer.call(API_VERSIONS, 0, request("ApiVersions"))
        async with asyncio.timeout(60):  # half of the client's own timeout
            peer.writer.close()
            await peer.writer.wait_closed()
        await eventually(lambda: len(server.registry) == 0)
