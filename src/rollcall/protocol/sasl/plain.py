"""PLAIN (RFC 4616): one token, `authorization id NUL username NUL password`.

Kafka replies with an empty token if the password is correct. The password is sent in clear text, so
a listener should offer PLAIN over TLS only.
"""

from collections.abc import Callable

from rollcall.protocol.sasl.steps import (
    AuthenticationFailed,
    SaslClient,
    SaslReply,
    SaslServer,
    decode_text,
    wrong_authorization_id,
    wrong_credentials,
)

PLAIN = "PLAIN"


class PlainClient(SaslClient):
    def __init__(self, username: str, password: str) -> None:
        super().__init__(PLAIN, username, password)

    def _first(self) -> bytes:
        self._next = self._outcome
        return f"\0{self.username}\0{self._password}".encode()

    def _outcome(self, reply: bytes) -> None:
        if reply:
            raise AuthenticationFailed("the server sent a token in reply to PLAIN, expected none")


class PlainServer(SaslServer):
    """`verify` takes username and password, and should take the same time for all users."""

    def __init__(self, verify: Callable[[str, str], bool]) -> None:
        super().__init__(PLAIN)
        self._verify = verify

    def _first(self, token: bytes) -> SaslReply:
        parts = decode_text(token).split("\0")
        if len(parts) != 3:
            raise AuthenticationFailed(
                f"the PLAIN token has {len(parts)} parts separated by NUL, expected 3"
            )
        authorization_id, username, password = parts
        if not username:
            raise AuthenticationFailed("the username is empty")
        if not password:
            raise AuthenticationFailed("the password is empty")
        if authorization_id not in ("", username):
            raise wrong_authorization_id()
        if not self._verify(username, password):
            raise wrong_credentials()
        return SaslReply(b"", principal_name=username)
