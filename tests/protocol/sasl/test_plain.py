"""PLAIN: the token of RFC 4616, and why a server rejects one."""

import pytest

from rollcall.protocol.errors import LocalProtocolError
from rollcall.protocol.sasl import AuthenticationFailed, PlainClient, PlainServer, SaslReply


def knows_tim(username: str, password: str) -> bool:
    return (username, password) == ("tim", "tanstaaftanstaaf")


def test_plain_client_sends_the_token_of_rfc_4616() -> None:
    assert PlainClient("tim", "tanstaaftanstaaf").step(None) == b"\0tim\0tanstaaftanstaaf"


def test_plain_client_is_done_after_an_empty_reply() -> None:
    client = PlainClient("tim", "tanstaaftanstaaf")
    client.step(None)
    assert not client.done
    assert client.step(b"") is None
    assert client.done


def test_plain_client_rejects_a_reply_that_is_not_empty() -> None:
    client = PlainClient("tim", "tanstaaftanstaaf")
    client.step(None)
    with pytest.raises(AuthenticationFailed, match="expected none"):
        client.step(b"welcome")
    assert not client.done


@pytest.mark.parametrize("token", [b"\0tim\0tanstaaftanstaaf", b"tim\0tim\0tanstaaftanstaaf"])
def test_plain_server_accepts_the_right_password(token: bytes) -> None:
    reply = PlainServer(knows_tim).step(token)
    assert reply == SaslReply(b"", principal_name="tim")
    assert reply.done


@pytest.mark.parametrize(
    ("token", "cause"),
    [
        (b"", "expected 3"),
        (b"tim", "expected 3"),
        (b"tim\0tanstaaftanstaaf", "expected 3"),
        (b"\0tim\0tanstaaftanstaaf\0", "expected 3"),
        (b"\0tim\0tanstaaf\0tanstaaf", "expected 3"),
        (b"\0\0tanstaaftanstaaf", "username is empty"),
        (b"\0tim\0", "password is empty"),
        (b"Ursel\0tim\0tanstaaftanstaaf", "authorization id differs"),
        (b"\0tim\0tanstaaf", "wrong"),
        (b"\0tom\0tanstaaftanstaaf", "wrong"),
        (b"\0tim\0\xff\xfe", "not UTF-8"),
    ],
)
def test_plain_server_rejects_a_token_with_the_cause(token: bytes, cause: str) -> None:
    with pytest.raises(AuthenticationFailed, match=cause):
        PlainServer(knows_tim).step(token)


def test_plain_server_does_not_verify_an_incomplete_token() -> None:
    def fail_if_called(username: str, password: str) -> bool:
        pytest.fail("called")

    for token in (b"\0\0x", b"\0x\0", b"y\0x\0x", b"x\0x"):
        with pytest.raises(AuthenticationFailed):
            PlainServer(fail_if_called).step(token)


@pytest.mark.parametrize("wrong", ["", "a\0b", "\ud800"])
def test_plain_client_rejects_text_that_cannot_be_sent(wrong: str) -> None:
    with pytest.raises(LocalProtocolError, match="username"):
        PlainClient(wrong, "secret")
    with pytest.raises(LocalProtocolError, match="password"):
        PlainClient("tim", wrong)
