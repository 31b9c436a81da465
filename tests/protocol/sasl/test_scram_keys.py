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
def test_iterations_within_the_bounds_of_kafka_are_taken(iterations: int) -> None:
    credential = ScramCredential.from_password("x", "SCRAM-SHA-256", iterations=iterations)
    assert credential.iterations == iterations


@pytest.mark.parametrize("iterations", [-1, 0, 4095, 16_385])
def test_iterations_outside_the_bounds_of_kafka_are_refused(iterations: int) -> None:
    with pytest.raises(LocalProtocolError, match=str(iterations)) as failure:
        ScramCredential(b"salt", b"stored", b"server", iterations)
    assert "4096 to 16384" in (failure.value.hint or "")


def test_a_credential_without_salt_is_refused() -> None:
    with pytest.raises(LocalProtocolError, match="no salt"):
        ScramCredential(b"", b"stored", b"server")


@pytest.mark.parametrize("password", ["", "pen\0cil", "\udcff"])
def test_a_password_that_no_client_could_use_is_refused(password: str) -> None:
    with pytest.raises(LocalProtocolError, match="password"):
        ScramCredential.from_password(password, "SCRAM-SHA-256")


def test_an_unknown_mechanism_is_refused() -> None:
    with pytest.raises(LocalProtocolError, match="SCRAM-SHA-1"):
        ScramCredential.from_password("pencil", "SCRAM-SHA-1")


@pytest.mark.parametrize("mechanism", HASHES)
def test_a_made_up_credential_looks_like_a_real_one_and_stays_the_same(mechanism: str) -> None:
    def for_unknown_user(username: str, secret: bytes = b"s3cret") -> ScramCredential:
        return ScramCredential.for_unknown_user(username, mechanism, secret=secret, iterations=4096)

    real = ScramCredential.from_password("pencil", mechanism)
    for part in ("salt", "stored_key", "server_key"):
        assert len(getattr(for_unknown_user("eve"), part)) == len(getattr(real, part))
    assert for_unknown_user("eve") == for_unknown_user("eve")
    assert for_unknown_user("eve").salt != for_unknown_user("mallory").salt
    assert for_unknown_user("eve").salt != for_unknown_user("eve", b"another").salt
