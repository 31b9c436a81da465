"""Exchanges of all mechanisms: order of steps, and what happens after the end."""

import pytest

from rollcall.errors import RollcallError
from rollcall.protocol.sasl import MECHANISMS, AuthenticationFailed, Users, new_client, new_server

USERS = Users({"alice": "secret"})


def test_authentication_failed_is_a_rollcall_error() -> None:
    assert issubclass(AuthenticationFailed, RollcallError)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_failed_server_rejects_further_tokens(mechanism: str) -> None:
    server = new_server(mechanism, USERS)
    good = new_client(mechanism, "alice", "secret").step(None)
    assert good is not None
    with pytest.raises(AuthenticationFailed):
        server.step(b"nonsense")
    with pytest.raises(AuthenticationFailed, match="ended"):
        server.step(good)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_completed_exchange_rejects_further_tokens(mechanism: str) -> None:
    client, server = new_client(mechanism, "alice", "secret"), new_server(mechanism, USERS)
    token = client.step(None)
    while token is not None:
        reply = server.step(token)
        token = client.step(reply.token)
    assert client.done
    assert reply.principal_name == "alice"
    with pytest.raises(AuthenticationFailed, match="ended"):
        server.step(b"")
    with pytest.raises(AuthenticationFailed, match="ended"):
        client.step(b"")
    assert client.done


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_failed_client_is_not_done(mechanism: str) -> None:
    client = new_client(mechanism, "alice", "secret")
    client.step(None)
    for _ in range(3):
        with pytest.raises(AuthenticationFailed):
            client.step(b"nonsense")
    assert not client.done


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_client_rejects_a_token_before_its_first(mechanism: str) -> None:
    with pytest.raises(AuthenticationFailed, match="before"):
        new_client(mechanism, "alice", "secret").step(b"hello")
