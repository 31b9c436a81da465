"""No error or repr contains a password, token, key or nonce."""

import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollcall.errors import RollcallError
from rollcall.protocol.errors import LocalProtocolError
from rollcall.protocol.sasl import (
    MECHANISMS,
    AuthenticationFailed,
    PlainServer,
    ScramClient,
    ScramCredential,
    ScramServer,
    Users,
    new_client,
    new_server,
)
from rollcall.protocol.sasl.scram_messages import (
    ClientFinal,
    ClientFirst,
    ServerFirst,
    write_base64,
)

PASSWORD = "correct-horse-battery-staple"
USERS = Users({"alice": PASSWORD}, secret=b"the-secret-of-the-brokers")


def texts_of(value: object) -> str:
    return f"{value!s} {value!r}"


def texts_of_error(error: RollcallError) -> str:
    assert error.__cause__ is None
    assert error.__context__ is None, "the context would contain the token"
    return f"{texts_of(error)} {error.hint} {error.args} {traceback.format_exception(error)}"


def secrets_in(*tokens: bytes) -> Iterator[str]:
    """Each token and, for SCRAM, the values in it except the username."""
    for token in tokens:
        if token:
            yield token.decode(errors="replace")
        for part in token.decode(errors="replace").split(","):
            value = part.partition("=")[2]
            if len(value) > 6:
                yield value


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_repr_of_an_exchange_never_shows_a_secret(mechanism: str) -> None:
    client, server = new_client(mechanism, "alice", PASSWORD), new_server(mechanism, USERS)
    seen, tokens = [texts_of(USERS), texts_of(client), texts_of(server)], []
    token = client.step(None)
    while token is not None:
        reply = server.step(token)
        tokens += [token, reply.token]
        seen += map(texts_of, (client, server, reply))
        token = client.step(reply.token)
    seen.append(texts_of(client))
    for secret in [PASSWORD, "the-secret", *secrets_in(*tokens)]:
        assert not any(secret in text for text in seen)
    assert any("alice" in text for text in seen)


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_the_repr_of_credentials_and_messages_hides_their_values(mechanism: str) -> None:
    credential = ScramCredential.from_password(PASSWORD, mechanism, salt=b"pinch-of-salt")
    assert repr(credential) == "ScramCredential(iterations=4096)"
    messages: list[Any] = [
        ClientFirst.parse(b"n,,n=alice,r=once-only,token=gold"),
        ServerFirst.parse(b"r=once-only,s=c2FsdGVk,i=4096"),
        ClientFinal.parse(b"c=biws,r=once-only,p=cHJvb2Y="),
    ]
    for secret in ("once-only", "gold", "c2FsdGVk", "salted", "biws", "cHJvb2Y=", "proof"):
        assert not any(secret in texts_of(message) for message in messages)


HOSTILE = [
    b"\0alice\0" + PASSWORD.encode() + b"x",
    b"\0alice\0" + PASSWORD.encode() + b"\0",
    b"bob\0alice\0" + PASSWORD.encode(),
    b"\0" + PASSWORD.encode(),
    PASSWORD.encode() + b"\xff",
    PASSWORD.encode(),
    b"n,,n=alice,r=" + PASSWORD.encode() + b"\xff",
    b"n,,n=alice,r= " + PASSWORD.encode(),
    b"n,,n=alice,r=abc," + PASSWORD.encode(),
    b"p=" + PASSWORD.encode() + b",,n=alice,r=abc",
    b"n,a=" + PASSWORD.encode() + b",n=alice,r=abc",
    b"n,,n=alice,r=abc,tokenauth=true,x=" + PASSWORD.encode(),
    b"e=" + PASSWORD.encode(),
    b"r=" + PASSWORD.encode() + b",s=c2FsdA==,i=4096",
    b"r=abc,s=" + PASSWORD.encode() + b",i=4096",
    b"c=biws,r=abc,p=" + PASSWORD.encode(),
    b"c=biws,r=" + PASSWORD.encode() + b",p=cHJvb2Y=",
    b"v=" + PASSWORD.encode(),
]


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("token", HOSTILE)
def test_errors_do_not_repeat_tokens_of_the_peer(mechanism: str, token: bytes) -> None:
    server, late_server = new_server(mechanism, USERS), new_server(mechanism, USERS)
    client = new_client(mechanism, "alice", PASSWORD)
    first = client.step(None) or b""
    if mechanism != "PLAIN":
        late_server.step(first)
    for side in (server, late_server, client):
        with pytest.raises(AuthenticationFailed) as failure:
            side.step(token)
        assert PASSWORD not in texts_of_error(failure.value)


@settings(max_examples=200, deadline=None)
@given(st.text("abcdef=,\0nr\ud800", min_size=8, max_size=30))
def test_errors_about_our_own_values_do_not_repeat_them(value: str) -> None:
    def attempts() -> Iterator[RollcallError]:
        for make in (
            lambda: new_client("PLAIN", "alice", value),
            lambda: new_client("PLAIN", value, "x"),
            lambda: ScramClient("SCRAM-SHA-256", "alice", "x", nonce=value),
            lambda: ScramServer("SCRAM-SHA-256", {}.get, secret=b"", nonce=value),
            lambda: PlainServer(lambda *_: False).step(value.encode(errors="replace")),
        ):
            try:
                make()
            except (AuthenticationFailed, LocalProtocolError) as error:
                yield error

    for error in attempts():
        assert value not in texts_of_error(error)


def test_the_error_for_a_wrong_signature_does_not_show_it() -> None:
    client = ScramClient("SCRAM-SHA-256", "alice", PASSWORD, nonce="client-nonce")
    client.step(None)
    client.step(b"r=client-nonce-and-server-nonce,s=c2FsdA==,i=4096")
    signature = write_base64(b"x" * 32)
    with pytest.raises(AuthenticationFailed) as failure:
        client.step(f"v={signature}".encode())
    shown = texts_of_error(failure.value)
    assert not any(secret in shown for secret in (signature, "client-nonce", PASSWORD))
