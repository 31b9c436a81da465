"""PLAIN (RFC 4616): one token, `authorization id NUL username NUL password`.

Kafka answers it with an empty token when the password is right. The password crosses the wire as it
is, so a listener should offer PLAIN over TLS only.
"""

from collections.abc import Callable

from rollcall.protocol.sasl.steps import (
    AuthenticationFailed,
    SaslClient,
    SaslReply,
    SaslServer,
    decode_text,
    foreign_authorization_id,
    wrong_credentials,
)

PLAIN = "PLAIN"


class PlainClient(SaslClient):
    def __init__(self, username: str, password: str) -> None:
        super().__init__(PLAIN, username, password)

    def _first(self) -> bytes:
        self._turn = self._outcome
        return f"\0{self.username}\0{self._password}".encode()

    def _outcome(self, reply: bytes) -> None:
        if reply:
            raise AuthenticationFailed("the server answered PLAIN with a token, it has none")


class PlainServer(SaslServer):
    """`verify` gets username and password, and should take the same time for all of them."""

    def __init__(self, verify: Callable[[str, str], bool]) -> None:
        super().__init__(PLAIN)
        self._verify = verify

    def _first(self, token: bytes) -> SaslReply:
        parts = decode_text(token).split("\0")
        if len(parts) != 3:
            raise AuthenticationFailed(
                f"a PLAIN token has 3 parts separated by NUL, this one has {len(parts)}"
            )
        authorization_id, username, password = parts
        if not username:
            raise AuthenticationFailed("the username is empty")
        if not password:
            raise AuthenticationFailed("the password is empty")
        if authorization_id not in ("", username):
            raise foreign_authorization_id()
        if not self._verify(username, password):
            raise wrong_credentials()
        return SaslReply(b"", principal_name=username)
