"""Where a server side finds its users: the interface, and one that keeps them in memory."""

import hmac
import secrets
from collections.abc import Mapping
from typing import Protocol

from rollcall.protocol.sasl.scram_keys import HASHES, ScramCredential
from rollcall.protocol.sasl.steps import check_text


class CredentialStore(Protocol):
    """What the server sides ask; the answer should take the same time if there is no such user."""

    @property
    def secret(self) -> bytes:
        """For the made-up credentials of unknown users; the same on all brokers of a cluster."""

    def verify_password(self, username: str, password: str) -> bool: ...

    def scram_credential(self, mechanism: str, username: str) -> ScramCredential | None: ...


class Users:
    """Users and passwords, for all mechanisms. The passwords themselves are not kept."""

    def __init__(self, passwords: Mapping[str, str], *, secret: bytes | None = None) -> None:
        for username, password in passwords.items():
            check_text("username", username)
            check_text("password", password)
        self.secret = secret or secrets.token_bytes(32)
        self._nobody = secrets.token_bytes(32)  # the digest of no password
        self._digests = {name: self._digest(password) for name, password in passwords.items()}
        self._scram = {
            (mechanism, name): ScramCredential.from_password(password, mechanism)
            for mechanism in HASHES
            for name, password in passwords.items()
        }

    def verify_password(self, username: str, password: str) -> bool:
        expected = self._digests.get(username, self._nobody)
        return hmac.compare_digest(expected, self._digest(password))

    def scram_credential(self, mechanism: str, username: str) -> ScramCredential | None:
        return self._scram.get((mechanism, username))

    def _digest(self, password: str) -> bytes:
        return hmac.digest(self.secret, password.encode(), "sha256")

    def __repr__(self) -> str:
        return f"Users({', '.join(map(repr, self._digests))})"
