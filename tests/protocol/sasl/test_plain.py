import pytest

from rollcall.protocol.errors import LocalProtocolError
from rollcall.protocol.sasl import AuthenticationFailed, PlainClient, PlainServer, SaslReply


def knows_tim(username: str, password: str) -> bool:
    return (username, password) == ("tim", "tanstaaftanstaaf")


def test_the_client_writes_the_token_of_rfc_4616() -> None:
    assert PlainClient("tim", "tanstaaftanstaaf").step(None) == b"\0tim\0tanstaaftanstaaf"


def test_the_client_is_done_when_the_server_answers_with_nothing() -> None:
    client = PlainClient("tim", "tanstaaftanstaaf")
    client.step(None)
    assert not client.done
    assert client.step(b"") is None
    assert client.done


def test_the_client_refuses_a_server_that_has_something_to_say() -> None:
    client = PlainClient("tim", "tanstaaftanstaaf")
    client.step(None)
    with pytest.raises(AuthenticationFailed, match="it has none"):
        client.step(b"welcome")
    assert not client.done


@pytest.mark.parametrize("token", [b"\0tim\0tanstaaftanstaaf", b"tim\0tim\0tanstaaftanstaaf"])
def test_the_server_takes_the_right_password(token: bytes) -> None:
    step = PlainServer(knows_tim).step(token)
    assert step == SaslReply(b"", principal_name="tim")
    assert step.done


@pytest.mark.parametrize(
    ("token", "cause"),
    [
        (b"", "3 parts"),
        (b"tim", "3 parts"),
        (b"tim\0tanstaaftanstaaf", "3 parts"),
        (b"\0tim\0tanstaaftanstaaf\0", "3 parts"),
        (b"\0tim\0tanstaaf\0tanstaaf", "3 parts"),
        (b"\0\0tanstaaftanstaaf", "username is empty"),
        (b"\0tim\0", "password is empty"),
        (b"Ursel\0tim\0tanstaaftanstaaf", "somebody else"),
        (b"\0tim\0tanstaaf", "wrong"),
        (b"\0tom\0tanstaaftanstaaf", "wrong"),
        (b"\0tim\0\xff\xfe", "not UTF-8"),
    ],
)
def test_the_server_refuses_and_says_why(token: bytes, cause: str) -> None:
    with pytest.raises(AuthenticationFailed, match=cause):
        PlainServer(knows_tim).step(token)


def test_an_incomplete_token_never_reaches_the_users() -> None:
    def nobody_asks(username: str, password: str) -> bool:
        pytest.fail("asked")

    for token in (b"\0\0x", b"\0x\0", b"y\0x\0x", b"x\0x"):
        with pytest.raises(AuthenticationFailed):
            PlainServer(nobody_asks).step(token)


@pytest.mark.parametrize("wrong", ["", "a\0b", "\ud800"])
def test_a_username_or_password_that_cannot_be_written_fails_at_once(wrong: str) -> None:
    with pytest.raises(LocalProtocolError, match="username"):
        PlainClient(wrong, "secret")
    with pytest.raises(LocalProtocolError, match="password"):
        PlainClient("tim", wrong)
