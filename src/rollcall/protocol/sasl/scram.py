"""SCRAM (RFC 5802, RFC 7677): both sides prove that they know the password, and neither sends it.

    client first ->   who I am, my nonce
                 <-   server first: both nonces, salt and iterations
    client final ->   both nonces, proof     = client key XOR HMAC(stored key, all of the above)
                 <-   server final: signature = HMAC(server key, all of the above)

The server undoes the XOR with the stored key, and what it gets must hash to the stored key again.
The client is done only after the signature: a server without the credential is refused.
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
    foreign_authorization_id,
    wrong_credentials,
)

# Kafka's own maximum is lower, but its clients do not check it; this is still well under a second.
MAX_ITERATIONS_ASKED: Final = 100_000

GS2_HEADER: Final = "n,,"
"""The client's way to say: no channel binding, and no authorization id but my username."""


class ScramClient(SaslClient):
    def __init__(
        self, mechanism: str, username: str, password: str, *, nonce: str | None = None
    ) -> None:
        super().__init__(mechanism, username, password)
        self._hash = scram_keys.hash_of(mechanism)
        self._nonce = _checked_nonce(nonce)

    def _first(self) -> bytes:
        bare = f"n={write_name(self.username)},r={self._nonce}"
        self._turn = partial(self._prove, bare)
        return (GS2_HEADER + bare).encode()

    def _prove(self, bare: str, challenge: bytes) -> bytes:
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
        self._turn = partial(self._trust, hmac.digest(server_key, signed, self._hash))
        return f"{without_proof},p={write_base64(proof)}".encode()

    def _trust(self, expected: bytes, challenge: bytes) -> None:
        if not hmac.compare_digest(parse_server_final(challenge), expected):
            raise AuthenticationFailed(
                "the server could not prove that it knows the password",
                hint="somebody may be posing as the broker: check the address, and use TLS",
            )


class ScramServer(SaslServer):
    """`lookup` finds the credential of a username; `secret` makes up those that are not there.

    `iterations` should be what the real credentials have, as a client gets to see the number.
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
                "the client logs in with a delegation token, which is not supported here",
                hint="log in with a username and a password",
            )
        if client.authorization_id not in ("", client.username):
            raise foreign_authorization_id()
        known = self._lookup(client.username)
        for_unknown_user = ScramCredential.for_unknown_user(
            client.username, self.mechanism, secret=self._secret, iterations=self._iterations
        )
        credential = known or for_unknown_user
        salt, iterations = write_base64(credential.salt), credential.iterations
        reply = f"r={client.nonce}{self._nonce},s={salt},i={iterations}"
        self._turn = partial(self._verify, client, reply, credential, known is not None)
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
            raise AuthenticationFailed("the channel binding is not the one the client began with")
        if not hmac.compare_digest(final.nonce, client.nonce + self._nonce):
            raise AuthenticationFailed("the nonce is not the one of this exchange")
        signed = _signed(client.bare, server_first, final.without_proof)
        signature = hmac.digest(credential.stored_key, signed, self._hash)
        if len(final.proof) != len(signature):
            raise AuthenticationFailed(f"the proof has {len(final.proof)} bytes")
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
            "a SCRAM nonce is printable ASCII without commas", hint="or leave it to rollcall"
        )
    return nonce


def _check_iterations(iterations: int) -> None:
    if not MIN_ITERATIONS <= iterations <= MAX_ITERATIONS_ASKED:
        raise AuthenticationFailed(
            f"the server asks for {iterations} iterations",
            hint=f"{MIN_ITERATIONS} to {MAX_ITERATIONS_ASKED} are accepted: fewer are too weak, "
            "more would keep this client busy",
        )


def _signed(client_first_bare: str, server_first: str, without_proof: str) -> bytes:
    return f"{client_first_bare},{server_first},{without_proof}".encode()


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))
