import pytest

from rollcall.errors import RollcallError
from rollcall.protocol.sasl import MECHANISMS, AuthenticationFailed, Users, new_client, new_server

USERS = Users({"alice": "secret"})


def test_a_failure_is_an_error_for_people() -> None:
    assert issubclass(AuthenticationFailed, RollcallError)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_after_a_failure_the_server_takes_nothing_more(mechanism: str) -> None:
    server = new_server(mechanism, USERS)
    good = new_client(mechanism, "alice", "secret").step(None)
    assert good is not None
    with pytest.raises(AuthenticationFailed):
        server.step(b"nonsense")
    with pytest.raises(AuthenticationFailed, match="over"):
        server.step(good)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_after_the_end_neither_side_takes_anything_more(mechanism: str) -> None:
    client, server = new_client(mechanism, "alice", "secret"), new_server(mechanism, USERS)
    token = client.step(None)
    while token is not None:
        step = server.step(token)
        token = client.step(step.token)
    assert client.done
    assert step.principal_name == "alice"
    with pytest.raises(AuthenticationFailed, match="over"):
        server.step(b"")
    with pytest.raises(AuthenticationFailed, match="over"):
        client.step(b"")
    assert client.done


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_failed_client_never_counts_as_done(mechanism: str) -> None:
    client = new_client(mechanism, "alice", "secret")
    client.step(None)
    for _ in range(3):
        with pytest.raises(AuthenticationFailed):
            client.step(b"nonsense")
    assert not client.done


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_client_speaks_first(mechanism: str) -> None:
    with pytest.raises(AuthenticationFailed, match="before"):
        new_client(mechanism, "alice", "secret").step(b"hello")
