"""SCRAM credentials: derivation, limits, and fake ones of unknown users."""

from base64 import b64decode

import pytest

from rollcall.protocol.errors import LocalProtocolError
from rollcall.protocol.sasl import ScramCredential
from rollcall.protocol.sasl.scram_keys import HASHES, SALT_BYTES


def test_the_same_password_and_salt_give_the_same_credential() -> None:
    salt = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    one, two = (ScramCredential.from_password("pencil", "SCRAM-SHA-256", salt=salt) for _ in "ab")
    assert one == two
    assert one != ScramCredential.from_password("pencil", "SCRAM-SHA-256", salt=salt * 2)


def test_a_salt_is_random_unless_given() -> None:
    salts = {ScramCredential.from_password("pencil", "SCRAM-SHA-256").salt for _ in range(4)}
    assert len(salts) == 4
    assert {len(salt) for salt in salts} == {SALT_BYTES}


@pytest.mark.parametrize(("mechanism", "size"), [("SCRAM-SHA-256", 32), ("SCRAM-SHA-512", 64)])
def test_keys_are_as_long_as_the_hash(mechanism: str, size: int) -> None:
    credential = ScramCredential.from_password("pencil", mechanism)
    assert len(credential.stored_key) == len(credential.server_key) == size


@pytest.mark.parametrize("iterations", [4096, 16_384])
def test_a_credential_accepts_iterations_within_kafkas_limits(iterations: int) -> None:
    credential = ScramCredential.from_password("x", "SCRAM-SHA-256", iterations=iterations)
    assert credential.iterations == iterations


@pytest.mark.parametrize("iterations", [-1, 0, 4095, 16_385])
def test_a_credential_rejects_iterations_outside_kafkas_limits(iterations: int) -> None:
    with pytest.raises(LocalProtocolError, match=str(iterations)) as failure:
        ScramCredential(b"salt", b"stored", b"server", iterations)
    assert "4096 to 16384" in (failure.value.hint or "")


def test_a_credential_without_salt_is_rejected() -> None:
    with pytest.raises(LocalProtocolError, match="no salt"):
        ScramCredential(b"", b"stored", b"server")


@pytest.mark.parametrize("password", ["", "pen\0cil", "\udcff"])
def test_a_password_that_cannot_be_sent_is_rejected(password: str) -> None:
    with pytest.raises(LocalProtocolError, match="password"):
        ScramCredential.from_password(password, "SCRAM-SHA-256")


def test_an_unknown_scram_mechanism_is_rejected() -> None:
    with pytest.raises(LocalProtocolError, match="SCRAM-SHA-1"):
        ScramCredential.from_password("pencil", "SCRAM-SHA-1")


@pytest.mark.parametrize("mechanism", HASHES)
def test_the_credential_of_an_unknown_user_looks_real_and_is_stable(mechanism: str) -> None:
    def fake(username: str, secret: bytes = b"s3cret") -> ScramCredential:
        return ScramCredential.for_unknown_user(username, mechanism, secret=secret, iterations=4096)

    real = ScramCredential.from_password("pencil", mechanism)
    for part in ("salt", "stored_key", "server_key"):
        assert len(getattr(fake("eve"), part)) == len(getattr(real, part))
    assert fake("eve") == fake("eve")
    assert fake("eve").salt != fake("mallory").salt
    assert fake("eve").salt != fake("eve", b"another").salt
