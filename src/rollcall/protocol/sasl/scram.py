"""SCRAM (RFC 5802, RFC 7677): both sides prove that they know the password without sending it.

    client first ->   username, client nonce
                 <-   server first: both nonces, salt, iterations
    client final ->   both nonces, proof     = client key XOR HMAC(stored key, all of the above)
                 <-   server final: signature = HMAC(server key, all of the above)

The server recovers the client key from the proof and checks that its hash is the stored key. The
client checks the signature, and so rejects a server that does not have the credential.
"""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from functools import partial
from typing import Final

from rollcall.protocol.errors import LocalProtocolError
from rollcall.protocol.sasl import scram_keys
from rollcall.protocol.sasl.scram_keys import MIN_ITERATIONS, ScramCredential
from rollcall.protocol.sasl.scram_messages import (
    NONCE,
    ClientFinal,
    ClientFirst,
    ServerFirst,
    parse_server_final,
    write_base64,
    write_name,
)
from rollcall.protocol.sasl.steps import (
    AuthenticationFailed,
    SaslClient,
    SaslReply,
    SaslServer,
    wrong_authorization_id,
    wrong_credentials,
)

# Kafka's maximum is 16,384, but its clients do not check it. 100,000 take well under a second.
MAX_ACCEPTED_ITERATIONS: Final = 100_000

GS2_HEADER: Final = "n,,"
"""No channel binding, and no authorization id other than the username."""


class ScramClient(SaslClient):
    def __init__(
        self, mechanism: str, username: str, password: str, *, nonce: str | None = None
    ) -> None:
        super().__init__(mechanism, username, password)
        self._hash = scram_keys.hash_of(mechanism)
        self._nonce = _checked_nonce(nonce)

    def _first(self) -> bytes:
        bare = f"n={write_name(self.username)},r={self._nonce}"
        self._next = partial(self._send_proof, bare)
        return (GS2_HEADER + bare).encode()

    def _send_proof(self, bare: str, challenge: bytes) -> bytes:
        server = ServerFirst.parse(challenge)
        if not server.nonce.startswith(self._nonce) or server.nonce == self._nonce:
            raise AuthenticationFailed("the server did not add its nonce to the client's")
        _check_iterations(server.iterations)
        without_proof = f"c={write_base64(GS2_HEADER.encode())},r={server.nonce}"
        signed = _signed(bare, server.text, without_proof)
        salted = scram_keys.salt_password(
            self._password, self._hash, server.salt, server.iterations
        )
        client_key = scram_keys.client_key(salted, self._hash)
        stored_key = hashlib.new(self._hash, client_key).digest()
        proof = _xor(client_key, hmac.digest(stored_key, signed, self._hash))
        server_key = scram_keys.server_key(salted, self._hash)
        self._next = partial(self._check_signature, hmac.digest(server_key, signed, self._hash))
        return f"{without_proof},p={write_base64(proof)}".encode()

    def _check_signature(self, expected: bytes, challenge: bytes) -> None:
        if not hmac.compare_digest(parse_server_final(challenge), expected):
            raise AuthenticationFailed(
                "the server could not prove that it knows the password",
                hint="check the address and use TLS: this may not be the real broker",
            )


class ScramServer(SaslServer):
    """`lookup` returns the credential of a username.

    Fake credentials of unknown users are derived from `secret`. They have `iterations`, which
    should be the number of the real credentials, because clients see it.
    """

    def __init__(
        self,
        mechanism: str,
        lookup: Callable[[str], ScramCredential | None],
        *,
        secret: bytes,
        iterations: int = MIN_ITERATIONS,
        nonce: str | None = None,
    ) -> None:
        super().__init__(mechanism)
        self._hash = scram_keys.hash_of(mechanism)
        self._lookup = lookup
        self._secret = secret
        self._iterations = iterations
        self._nonce = _checked_nonce(nonce)

    def _first(self, token: bytes) -> SaslReply:
        client = ClientFirst.parse(token)
        if client.extensions.get("tokenauth", "").lower() == "true":
            raise AuthenticationFailed(
                "delegation tokens are not supported",
                hint="log in with a username and a password",
            )
        if client.authorization_id not in ("", client.username):
            raise wrong_authorization_id()
        known = self._lookup(client.username)
        fake = ScramCredential.for_unknown_user(
            client.username, self.mechanism, secret=self._secret, iterations=self._iterations
        )
        credential = known or fake
        salt, iterations = write_base64(credential.salt), credential.iterations
        reply = f"r={client.nonce}{self._nonce},s={salt},i={iterations}"
        self._next = partial(self._verify, client, reply, credential, known is not None)
        return SaslReply(reply.encode())

    def _verify(
        self,
        client: ClientFirst,
        server_first: str,
        credential: ScramCredential,
        known: bool,
        token: bytes,
    ) -> SaslReply:
        final = ClientFinal.parse(token)
        if final.channel_binding != client.gs2_header.encode():
            raise AuthenticationFailed("the channel binding differs from the first message")
        if not hmac.compare_digest(final.nonce, client.nonce + self._nonce):
            raise AuthenticationFailed("the nonce does not belong to this exchange")
        signed = _signed(client.bare, server_first, final.without_proof)
        signature = hmac.digest(credential.stored_key, signed, self._hash)
        if len(final.proof) != len(signature):
            raise AuthenticationFailed("the proof has the wrong length")
        proven = hashlib.new(self._hash, _xor(final.proof, signature)).digest()
        if not (hmac.compare_digest(proven, credential.stored_key) & known):
            raise wrong_credentials()
        server_signature = hmac.digest(credential.server_key, signed, self._hash)
        return SaslReply(f"v={write_base64(server_signature)}".encode(), client.username)


def _checked_nonce(nonce: str | None) -> str:
    if nonce is None:
        return secrets.token_urlsafe(24)
    if not NONCE.fullmatch(nonce):
        raise LocalProtocolError(
            "the SCRAM nonce is not printable ASCII without commas",
            hint="omit it to get a random one",
        )
    return nonce


def _check_iterations(iterations: int) -> None:
    if not MIN_ITERATIONS <= iterations <= MAX_ACCEPTED_ITERATIONS:
        raise AuthenticationFailed(
            f"the server requires {iterations} iterations",
            hint=f"configure {MIN_ITERATIONS} to {MAX_ACCEPTED_ITERATIONS} on the server",
        )


def _signed(client_first_bare: str, server_first: str, without_proof: str) -> bytes:
    return f"{client_first_bare},{server_first},{without_proof}".encode()


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))
