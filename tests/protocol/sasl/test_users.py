"""Users in memory: passwords, credentials, invalid names."""

import pytest

from rollcall.protocol.errors import LocalProtocolError
from rollcall.protocol.sasl import Users
from rollcall.protocol.sasl.scram_keys import HASHES


def test_users_accept_only_the_right_password() -> None:
    users = Users({"alice": "wonder", "bob": "builder"})
    assert users.verify_password("alice", "wonder")
    assert not users.verify_password("alice", "builder")
    assert not users.verify_password("alice", "")
    assert not users.verify_password("nobody", "wonder")
    assert not users.verify_password("nobody", "")


@pytest.mark.parametrize("mechanism", HASHES)
def test_users_have_a_credential_for_every_scram_mechanism(mechanism: str) -> None:
    users = Users({"alice": "wonder"})
    assert users.scram_credential(mechanism, "alice") is not None
    assert users.scram_credential(mechanism, "nobody") is None


def test_the_secret_is_random_unless_given() -> None:
    assert Users({}).secret != Users({}).secret
    assert Users({}, secret=b"shared").secret == b"shared"


@pytest.mark.parametrize("passwords", [{"": "x"}, {"alice": ""}, {"a\0b": "x"}, {"alice": "\0"}])
def test_users_reject_names_and_passwords_that_cannot_be_sent(passwords: dict[str, str]) -> None:
    with pytest.raises(LocalProtocolError):
        Users(passwords)
