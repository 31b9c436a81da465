"""Credential stores of SASL servers: the interface, and one in memory."""

import hmac
import secrets
from collections.abc import Mapping
from typing import Protocol

from rollcall.protocol.sasl.scram_keys import HASHES, ScramCredential
from rollcall.protocol.sasl.steps import check_text


class CredentialStore(Protocol):
    """Users of a SASL server. Lookups should take the same time for unknown users."""

    @property
    def secret(self) -> bytes:
        """Key of the fake credentials of unknown users; the same on all brokers of a cluster."""

    def verify_password(self, username: str, password: str) -> bool: ...

    def scram_credential(self, mechanism: str, username: str) -> ScramCredential | None: ...


class Users:
    """Users in memory, for all mechanisms. Passwords are not kept in clear text."""

    def __init__(self, passwords: Mapping[str, str], *, secret: bytes | None = None) -> None:
        for username, password in passwords.items():
            check_text("username", username)
            check_text("password", password)
        self.secret = secret or secrets.token_bytes(32)
        self._no_digest = secrets.token_bytes(32)  # of unknown users; no password has it
        self._digests = {name: self._digest(password) for name, password in passwords.items()}
        self._scram = {
            (mechanism, name): ScramCredential.from_password(password, mechanism)
            for mechanism in HASHES
            for name, password in passwords.items()
        }

    def verify_password(self, username: str, password: str) -> bool:
        expected = self._digests.get(username, self._no_digest)
        return hmac.compare_digest(expected, self._digest(password))

    def scram_credential(self, mechanism: str, username: str) -> ScramCredential | None:
        return self._scram.get((mechanism, username))

    def _digest(self, password: str) -> bytes:
        return hmac.digest(self.secret, password.encode(), "sha256")

    def __repr__(self) -> str:
        return f"Users({', '.join(map(repr, self._digests))})"
