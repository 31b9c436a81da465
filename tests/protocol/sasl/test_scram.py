"""SCRAM exchanges: recorded transcripts, and everything that either side rejects."""

import json
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path

import pytest

from rollcall.protocol.errors import LocalProtocolError
from rollcall.protocol.sasl import (
    AuthenticationFailed,
    SaslReply,
    ScramClient,
    ScramCredential,
    ScramServer,
    scram_keys,
)

SECRET = b"the same on all brokers"


@dataclass(frozen=True)
class Transcript:
    """A recorded exchange of other software, or of an RFC."""

    origin: str
    mechanism: str
    username: str
    password: str
    messages: list[str]

    @property
    def client_nonce(self) -> str:
        return self.messages[0].rpartition(",r=")[2]

    @property
    def server_nonce(self) -> str:
        return self.messages[1].split(",")[0].removeprefix(f"r={self.client_nonce}")

    @property
    def salt(self) -> bytes:
        return b64decode(self.messages[1].split(",")[1].removeprefix("s="))


# Passwords with a no-break space and umlauts show that Kafka hashes UTF-8 without SASLprep.
TRANSCRIPTS = [
    Transcript(**row)
    for row in json.loads(Path(__file__).with_name("transcripts.json").read_text())
]
every_transcript = pytest.mark.parametrize(
    "recorded", TRANSCRIPTS, ids=lambda recorded: f"{recorded.mechanism} from {recorded.origin}"
)


@every_transcript
def test_scram_client_matches_recorded_exchanges(recorded: Transcript) -> None:
    client = ScramClient(
        recorded.mechanism, recorded.username, recorded.password, nonce=recorded.client_nonce
    )
    client_first, server_first, client_final, server_final = (m.encode() for m in recorded.messages)
    assert client.step(None) == client_first
    assert client.step(server_first) == client_final
    assert not client.done
    assert client.step(server_final) is None
    assert client.done


@every_transcript
def test_scram_server_matches_recorded_exchanges(recorded: Transcript) -> None:
    credential = ScramCredential.from_password(
        recorded.password, recorded.mechanism, salt=recorded.salt
    )
    server = ScramServer(
        recorded.mechanism,
        {recorded.username: credential}.get,
        secret=SECRET,
        nonce=recorded.server_nonce,
    )
    client_first, server_first, client_final, server_final = (m.encode() for m in recorded.messages)
    assert server.step(client_first) == SaslReply(server_first)
    assert server.step(client_final) == SaslReply(server_final, principal_name=recorded.username)


CREDENTIAL = ScramCredential.from_password("pencil", "SCRAM-SHA-256")


def server_for_user(**options: str) -> ScramServer:
    return ScramServer("SCRAM-SHA-256", {"user": CREDENTIAL}.get, secret=SECRET, **options)


@pytest.mark.parametrize("extension", ["tokenauth=true", "tokenauth=TRUE", "x=1,tokenauth=true"])
def test_scram_server_rejects_delegation_tokens(extension: str) -> None:
    with pytest.raises(AuthenticationFailed, match="delegation token"):
        server_for_user().step(f"n,,n=user,r=abc,{extension}".encode())


@pytest.mark.parametrize("extension", ["tokenauth=false", "trace=yes"])
def test_scram_server_ignores_other_extensions(extension: str) -> None:
    assert not server_for_user().step(f"n,,n=user,r=abc,{extension}".encode()).done


def test_scram_server_rejects_another_authorization_id() -> None:
    assert server_for_user().step(b"n,a=user,n=user,r=abc").token
    with pytest.raises(AuthenticationFailed, match="authorization id differs"):
        server_for_user().step(b"n,a=root,n=user,r=abc")


def test_scram_server_rejects_a_changed_channel_binding() -> None:
    server = server_for_user(nonce="server")
    server.step(b"y,,n=user,r=client")
    with pytest.raises(AuthenticationFailed, match="channel binding"):
        server.step(b"c=biws,r=clientserver,p=cHJvb2Y=")


@pytest.mark.parametrize("nonce", ["client", "clientserve", "clientserverr", "replayed"])
def test_scram_server_rejects_a_nonce_of_another_exchange(nonce: str) -> None:
    server = server_for_user(nonce="server")
    server.step(b"n,,n=user,r=client")
    with pytest.raises(AuthenticationFailed, match="nonce"):
        server.step(f"c=biws,r={nonce},p=cHJvb2Y=".encode())


def test_scram_server_rejects_a_proof_of_the_wrong_length() -> None:
    server = server_for_user(nonce="server")
    server.step(b"n,,n=user,r=client")
    with pytest.raises(AuthenticationFailed, match="wrong length"):
        server.step(b"c=biws,r=clientserver,p=cHJvb2Y=")


def test_scram_server_reacts_the_same_to_an_unknown_user_and_a_wrong_password() -> None:
    def attempt(username: str) -> tuple[str, list[str]]:
        server = server_for_user(nonce="server")
        client = ScramClient("SCRAM-SHA-256", username, "wrong", nonce="client")
        first = server.step(client.step(None) or b"").token
        with pytest.raises(AuthenticationFailed) as failure:
            server.step(client.step(first) or b"")
        nonce, salt, iterations = first.decode().split(",")
        return salt, [
            nonce,
            str(len(salt)),
            iterations,
            str(failure.value),
            str(failure.value.hint),
        ]

    unknown_salt, unknown = attempt("nobody")
    known_salt, known = attempt("user")
    assert unknown == known
    assert attempt("nobody")[0] == unknown_salt
    assert attempt("somebody")[0] != unknown_salt
    assert attempt("user")[0] == known_salt


def test_scram_server_rejects_an_unknown_user_whose_fake_keys_leaked() -> None:
    leaked = ScramCredential.from_password("pencil", "SCRAM-SHA-256")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScramCredential, "for_unknown_user", lambda *_, **__: leaked)
        server = ScramServer("SCRAM-SHA-256", {}.get, secret=SECRET)
        client = ScramClient("SCRAM-SHA-256", "nobody", "pencil")
        first = server.step(client.step(None) or b"")
        with pytest.raises(AuthenticationFailed, match="wrong"):
            server.step(client.step(first.token) or b"")


@pytest.mark.parametrize("iterations", [1, 4095, 100_001, 2_147_483_647, 9_999_999_999])
def test_scram_client_rejects_iterations_out_of_range_before_hashing(
    iterations: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scram_keys, "salt_password", lambda *_: pytest.fail("hashed"))
    client = ScramClient("SCRAM-SHA-256", "user", "pencil", nonce="client")
    client.step(None)
    with pytest.raises(AuthenticationFailed, match=f"{iterations} iterations"):
        client.step(f"r=clientserver,s=c2FsdA==,i={iterations}".encode())


@pytest.mark.parametrize("nonce", ["client", "clien", "server", "servclient", "Clientserver"])
def test_scram_client_rejects_a_server_that_did_not_add_a_nonce(nonce: str) -> None:
    client = ScramClient("SCRAM-SHA-256", "user", "pencil", nonce="client")
    client.step(None)
    with pytest.raises(AuthenticationFailed, match="nonce"):
        client.step(f"r={nonce},s=c2FsdA==,i=4096".encode())


def test_scram_client_rejects_a_server_without_the_credential() -> None:
    client = ScramClient("SCRAM-SHA-256", "user", "pencil", nonce="client")
    client.step(None)
    client.step(b"r=clientserver,s=c2FsdA==,i=4096")
    with pytest.raises(AuthenticationFailed, match="could not prove"):
        client.step(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")
    assert not client.done


def test_nonces_differ_between_exchanges() -> None:
    firsts = {ScramClient("SCRAM-SHA-256", "user", "pencil").step(None) for _ in range(5)}
    assert len(firsts) == 5
    replies = {server_for_user().step(b"n,,n=user,r=abc").token for _ in range(5)}
    assert len(replies) == 5


@pytest.mark.parametrize("nonce", ["", "a,b", "a b", "ä"])
def test_an_invalid_nonce_is_a_local_error(nonce: str) -> None:
    with pytest.raises(LocalProtocolError, match="nonce"):
        ScramClient("SCRAM-SHA-256", "user", "pencil", nonce=nonce)
    with pytest.raises(LocalProtocolError, match="nonce"):
        server_for_user(nonce=nonce)
