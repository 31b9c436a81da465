"""Parses the four SCRAM messages (RFC 5802, section 7).

    client first    n,[a=authorization id],n=username,r=client nonce[,extensions]
    server first    r=client nonce + server nonce,s=salt,i=iterations[,extensions]
    client final    c=base64 of the part before n=,r=both nonces[,extensions],p=proof
    server final    v=signature[,extensions]   or   e=error

The order is fixed. Base64 must be canonical: with unused bits set, different text would decode to
the same bytes, and a modified message would be accepted.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from rollcall.protocol.sasl.steps import AuthenticationFailed, decode_text

NAME: Final = re.compile(r"(?:[^=,\0]|=2C|=3D)+")
NONCE: Final = re.compile(r"[\x21-\x2b\x2d-\x7e]+")
NUMBER: Final = re.compile(r"[1-9][0-9]{0,9}", re.ASCII)
VALUE: Final = re.compile(r"[^,\0]+")
EXTENSION: Final = re.compile(r"([A-Za-z]+)=([^,\0]+)")

# The reasons of RFC 5802. Other text of a server is not copied into errors.
SERVER_ERRORS: Final = frozenset(
    {
        "channel-binding-not-supported",
        "channel-bindings-dont-match",
        "extensions-not-supported",
        "invalid-encoding",
        "invalid-proof",
        "invalid-username-encoding",
        "no-resources",
        "other-error",
        "server-does-support-channel-binding",
        "unknown-user",
        "unsupported-channel-binding-type",
    }
)


def write_name(name: str) -> str:
    return name.replace("=", "=3D").replace(",", "=2C")


def read_name(name: str) -> str:
    return name.replace("=2C", ",").replace("=3D", "=")


def write_base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")


class _Fields:
    """The `key=value` pairs of one message, in the order of the RFC."""

    def __init__(self, message: str, text: str) -> None:
        self._message = message
        self._rest = text.split(",")
        if self._rest[0].startswith("m="):
            raise self._failure("requires an unknown extension")

    def take(self, key: str, meaning: str, shape: re.Pattern[str]) -> str:
        found, _, value = (self._rest.pop(0) if self._rest else "").partition("=")
        if found != key:
            raise self._failure(f"has no {meaning} ({key}=) at its place")
        if not shape.fullmatch(value):
            raise self._failure(f"has a malformed {meaning} ({key}=)")
        return value

    def take_base64(self, key: str, meaning: str) -> bytes:
        value = self.take(key, meaning, VALUE)
        try:
            data = b64decode(value, validate=True)
        except (Base64Error, ValueError):
            data = b""
        if write_base64(data) != value:
            raise self._failure(f"has a {meaning} ({key}=) that is not canonical base64")
        return data

    def take_extensions(self) -> dict[str, str]:
        matches = [EXTENSION.fullmatch(part) for part in self._rest]
        if not all(matches):
            raise self._failure("ends with text that is not an extension")
        return {match[1]: match[2] for match in matches if match}

    def _failure(self, what: str) -> AuthenticationFailed:
        return AuthenticationFailed(f"the {self._message} message {what}")


@dataclass(frozen=True, slots=True, repr=False)
class ClientFirst:
    username: str
    authorization_id: str
    nonce: str
    gs2_header: str
    """The part before `n=`: channel binding flag and authorization id."""
    bare: str
    """The part from `n=` on, which is signed."""
    extensions: Mapping[str, str]

    @classmethod
    def parse(cls, token: bytes) -> Self:
        flag, *rest = decode_text(token).split(",", 2)
        if flag.startswith("p="):
            raise AuthenticationFailed(
                "the client requires channel binding, which Kafka does not support",
                hint="use SCRAM-SHA-256 or SCRAM-SHA-512 without -PLUS",
            )
        if flag not in ("n", "y") or len(rest) != 2:
            raise AuthenticationFailed("the client-first message has no valid GS2 header")
        authorization, bare = rest
        authorization_id = ""
        if authorization:
            authorization_id = _Fields("client-first", authorization).take(
                "a", "authorization id", NAME
            )
        fields = _Fields("client-first", bare)
        return cls(
            username=read_name(fields.take("n", "username", NAME)),
            authorization_id=read_name(authorization_id),
            nonce=fields.take("r", "nonce", NONCE),
            gs2_header=f"{flag},{authorization},",
            bare=bare,
            extensions=fields.take_extensions(),
        )


@dataclass(frozen=True, slots=True, repr=False)
class ServerFirst:
    nonce: str
    salt: bytes
    iterations: int
    text: str

    @classmethod
    def parse(cls, token: bytes) -> Self:
        text = decode_text(token)
        fields = _Fields("server-first", text)
        nonce = fields.take("r", "nonce", NONCE)
        salt = fields.take_base64("s", "salt")
        iterations = int(fields.take("i", "iteration count", NUMBER))
        fields.take_extensions()
        return cls(nonce, salt, iterations, text)


@dataclass(frozen=True, slots=True, repr=False)
class ClientFinal:
    channel_binding: bytes
    nonce: str
    proof: bytes
    without_proof: str

    @classmethod
    def parse(cls, token: bytes) -> Self:
        without_proof, _, last = decode_text(token).rpartition(",")
        fields = _Fields("client-final", without_proof)
        channel_binding = fields.take_base64("c", "channel binding")
        nonce = fields.take("r", "nonce", NONCE)
        fields.take_extensions()
        proof = _Fields("client-final", last).take_base64("p", "proof")
        return cls(channel_binding, nonce, proof, without_proof)


def parse_server_final(token: bytes) -> bytes:
    """The server's signature."""
    text = decode_text(token)
    if text.startswith("e="):
        reason = text[2:] if text[2:] in SERVER_ERRORS else "unknown reason"
        raise AuthenticationFailed(
            f"the server rejected the login: {reason}", hint="check the username and the password"
        )
    fields = _Fields("server-final", text)
    signature = fields.take_base64("v", "signature")
    fields.take_extensions()
    return signature
