"""Properties of all mechanisms: logins, wrong passwords, modified and random tokens."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rollcall.protocol.errors import LocalProtocolError
from rollcall.protocol.sasl import MECHANISMS, AuthenticationFailed, Users, new_client, new_server

every_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS)

TEXT = st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=40)
NAMES = TEXT | st.text("a=,2C3D", min_size=1, max_size=20)

Wire = Callable[[int, bytes], bytes]


def exchange(
    mechanism: str, users: Users, username: str, password: str, wire: Wire | None = None
) -> tuple[bool, str | None]:
    """Whether the client completed the exchange, and the accepted principal name."""
    client, server = new_client(mechanism, username, password), new_server(mechanism, users)
    principal_name, index = None, 0
    token = client.step(None)
    with suppress(AuthenticationFailed):
        while token is not None:
            reply = server.step(wire(index, token) if wire else token)
            principal_name = reply.principal_name
            token = client.step(wire(index + 1, reply.token) if wire else reply.token)
            index += 2
    return client.done, principal_name


@cache
def alice() -> Users:
    return Users({"alice": "wonder"})


def test_the_strongest_mechanism_is_listed_first() -> None:
    assert list(MECHANISMS) == ["SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"]
    assert all(name == mechanism.name for name, mechanism in MECHANISMS.items())


@every_mechanism
def test_both_sides_have_the_name_of_their_mechanism(mechanism: str) -> None:
    assert new_client(mechanism, "alice", "wonder").mechanism == mechanism
    assert new_server(mechanism, alice()).mechanism == mechanism


def test_the_error_for_an_unknown_mechanism_lists_the_known_ones() -> None:
    with pytest.raises(LocalProtocolError, match="GSSAPI") as failure:
        new_client("GSSAPI", "alice", "wonder")
    assert failure.value.hint == "use one of SCRAM-SHA-512, SCRAM-SHA-256, PLAIN"
    with pytest.raises(LocalProtocolError, match="plain"):
        new_server("plain", alice())


@every_mechanism
@settings(max_examples=60, deadline=None)
@given(username=NAMES, password=TEXT)
def test_a_user_logs_in_with_the_right_password(
    mechanism: str, username: str, password: str
) -> None:
    users = Users({username: password})
    assert exchange(mechanism, users, username, password) == (True, username)


@every_mechanism
@settings(max_examples=60, deadline=None)
@given(username=NAMES, right=TEXT, wrong=TEXT)
def test_a_user_is_rejected_with_a_wrong_password(
    mechanism: str, username: str, right: str, wrong: str
) -> None:
    assume(right != wrong)
    assert exchange(mechanism, Users({username: right}), username, wrong) == (False, None)


@every_mechanism
@settings(max_examples=40, deadline=None)
@given(username=NAMES.filter(lambda name: name != "alice"), password=TEXT | st.just("wonder"))
def test_an_unknown_user_is_rejected(mechanism: str, username: str, password: str) -> None:
    assert exchange(mechanism, alice(), username, password) == (False, None)


def changed_at(message: int, position: int, flip: int) -> Wire:
    def wire(index: int, token: bytes) -> bytes:
        if index != message:
            return token
        if not token:
            return bytes([flip])
        at = position % len(token)
        return token[:at] + bytes([token[at] ^ flip]) + token[at + 1 :]

    return wire


@every_mechanism
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_an_exchange_with_a_modified_byte_fails(mechanism: str, data: st.DataObject) -> None:
    last = 1 if mechanism == "PLAIN" else 3
    message = data.draw(st.integers(0, last))
    wire = changed_at(message, data.draw(st.integers(0, 250)), data.draw(st.integers(1, 255)))
    trusted, principal_name = exchange(mechanism, alice(), "alice", "wonder", wire)
    assert not trusted
    assert principal_name == ("alice" if message == last else None)


@pytest.mark.parametrize("message", range(4))
def test_a_scram_exchange_with_any_lowest_bit_flipped_fails(message: int) -> None:
    lengths: list[int] = []
    exchange("SCRAM-SHA-256", alice(), "alice", "wonder", lambda _, t: lengths.append(len(t)) or t)
    for position in range(lengths[message]):
        wire = changed_at(message, position, 1)
        trusted, _ = exchange("SCRAM-SHA-256", alice(), "alice", "wonder", wire)
        assert not trusted


PIECES = st.sampled_from(
    [
        *("", "n", "y", "p=x", "a=alice", "n=alice", "n=eve", "n=", "r=client", "r=clientserver"),
        *("s=c2FsdA==", "i=4096", "i=0", "x=1", "c=biws", "p=cHJvb2Y=", "v=c2ln", "e=other-error"),
        *("m=1", "tokenauth=true", "=", "==", "=2C", "\0", "\0alice\0wonder", "\x7f"),
    ]
)
TOKENS = st.binary(max_size=200) | st.lists(PIECES, max_size=8).map(lambda p: ",".join(p).encode())


@every_mechanism
@settings(max_examples=300, deadline=None)
@given(tokens=st.lists(TOKENS, min_size=1, max_size=3), valid_start=st.booleans())
def test_a_server_rejects_random_tokens(
    mechanism: str, tokens: list[bytes], valid_start: bool
) -> None:
    assume(b"\0alice\0wonder" not in tokens)
    server = new_server(mechanism, alice())
    if valid_start:
        tokens = [new_client(mechanism, "alice", "nothing").step(None) or b"", *tokens]
    with suppress(AuthenticationFailed):
        for token in tokens:
            assert not server.step(token).done


@every_mechanism
@settings(max_examples=300, deadline=None)
@given(tokens=st.lists(TOKENS.filter(bool), min_size=1, max_size=3), valid_start=st.booleans())
def test_a_client_rejects_random_tokens(
    mechanism: str, tokens: list[bytes], valid_start: bool
) -> None:
    client = new_client(mechanism, "alice", "wonder")
    first = client.step(None)
    assert first is not None
    if valid_start and mechanism != "PLAIN":
        client.step(new_server(mechanism, alice()).step(first).token)
    with suppress(AuthenticationFailed):
        for token in tokens:
            client.step(token)
    assert not client.done
