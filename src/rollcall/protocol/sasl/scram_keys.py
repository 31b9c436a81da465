"""SCRAM credentials and the derivation of their keys (RFC 5802, section 3).

    salted password = PBKDF2(password, salt, iterations)
    client key      = HMAC(salted password, "Client Key")      stored key = H(client key)
    server key      = HMAC(salted password, "Server Key")

A broker stores salt, iterations, stored key and server key. They suffice to verify a client, but
not to log in elsewhere, which takes the client key.
"""

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Self

from rollcall.protocol.errors import LocalProtocolError
from rollcall.protocol.sasl.steps import check_text

SCRAM_SHA_256 = "SCRAM-SHA-256"
SCRAM_SHA_512 = "SCRAM-SHA-512"
HASHES: Final[Mapping[str, str]] = MappingProxyType(
    {SCRAM_SHA_256: "sha256", SCRAM_SHA_512: "sha512"}
)

# Kafka's limits.
MIN_ITERATIONS: Final = 4096
MAX_ITERATIONS: Final = 16_384

SALT_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class ScramCredential:
    """The stored credential of one user for one mechanism."""

    salt: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)
    iterations: int = MIN_ITERATIONS

    def __post_init__(self) -> None:
        if not MIN_ITERATIONS <= self.iterations <= MAX_ITERATIONS:
            raise LocalProtocolError(
                f"a SCRAM credential cannot have {self.iterations} iterations",
                hint=f"use {MIN_ITERATIONS} to {MAX_ITERATIONS}, as Kafka does",
            )
        if not self.salt:
            raise LocalProtocolError("a SCRAM credential has no salt", hint="use 16 random bytes")

    @classmethod
    def from_password(
        cls,
        password: str,
        mechanism: str,
        *,
        iterations: int = MIN_ITERATIONS,
        salt: bytes | None = None,
    ) -> Self:
        check_text("password", password)
        salt = salt or secrets.token_bytes(SALT_BYTES)
        hash_name = hash_of(mechanism)
        salted = salt_password(password, hash_name, salt, iterations)
        stored_key = hashlib.new(hash_name, client_key(salted, hash_name)).digest()
        return cls(salt, stored_key, server_key(salted, hash_name), iterations)

    @classmethod
    def for_unknown_user(
        cls, username: str, mechanism: str, *, secret: bytes, iterations: int
    ) -> Self:
        """A fake credential of an unknown user: always the same, and matched by no password.

        Without it, the reply to the first token would reveal which users exist. The brokers of a
        cluster share the secret, so that all of them send the same salt for a username.
        """

        def part(label: str) -> bytes:
            message = f"{label}\0{mechanism}\0{username}".encode()
            return hmac.digest(secret, message, hash_of(mechanism))

        return cls(part("salt")[:SALT_BYTES], part("stored"), part("server"), iterations)


def hash_of(mechanism: str) -> str:
    if mechanism not in HASHES:
        raise LocalProtocolError(
            f"unknown SCRAM mechanism {mechanism!r}", hint=f"use one of {', '.join(HASHES)}"
        )
    return HASHES[mechanism]


def salt_password(password: str, hash_name: str, salt: bytes, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac(hash_name, password.encode(), salt, iterations)


def client_key(salted_password: bytes, hash_name: str) -> bytes:
    return hmac.digest(salted_password, b"Client Key", hash_name)


def server_key(salted_password: bytes, hash_name: str) -> bytes:
    return hmac.digest(salted_password, b"Server Key", hash_name)
