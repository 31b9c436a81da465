"""TLS as a plain object that is fed bytes, so that a connection is the same with and without it.

asyncio's own TLS hides a connection until its handshake is over. Here the registry, the limits and
the log see it from accept on, and the first bytes can be looked at when they are no TLS at all.
"""

from __future__ import annotations

import contextlib
import ssl
from typing import Final

from rollcall.errors import ConfigError
from rollcall.server.config import ClientAuth, TlsConfig
from rollcall.server.distinguished_name import subject_of

HANDSHAKE_RECORD: Final = 0x16
_VERIFY = {
    ClientAuth.NONE: ssl.CERT_NONE,
    ClientAuth.REQUESTED: ssl.CERT_OPTIONAL,
    ClientAuth.REQUIRED: ssl.CERT_REQUIRED,
}
_CHUNK: Final = 64 * 1024


def tls_context(config: TlsConfig) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        # without a password OpenSSL would ask at the terminal, and everybody would wait
        context.load_cert_chain(config.certificate, config.key, password="")
        if config.authorities is not None:
            context.load_verify_locations(config.authorities)
    except (ssl.SSLError, OSError) as error:
        raise ConfigError(
            f"the TLS files of {config.certificate} cannot be used: {error}",
            hint="they must be PEM, the key without a passphrase and of that certificate",
        ) from error
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.verify_mode = _VERIFY[config.client_auth]
    return context


class TlsFailedError(Exception):
    """The peer broke TLS, or did not speak it."""


class TlsSession:
    """The server's side of TLS on one connection."""

    __slots__ = ("_begun", "_incoming", "_object", "_outgoing", "ended", "established")

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._begun = False
        self.established = False
        self.ended = False
        """The peer said goodbye, and waits to hear the same."""

    def receive(self, data: bytes) -> bytes:
        """What the bytes of the peer say; `outgoing` may have something to send afterwards."""
        self._incoming.write(data)
        try:
            if not self.established:
                if not self._begun and data[0] != HANDSHAKE_RECORD:
                    raise TlsFailedError("the first bytes are no TLS: is the client set to use it?")
                self._begun = True
                self._object.do_handshake()
                self.established = True
            return self._read()
        except ssl.SSLWantReadError:
            return b""
        except ssl.SSLError as error:
            raise TlsFailedError(f"TLS failed: {error.reason or error}") from None

    def _read(self) -> bytes:
        parts = []
        with contextlib.suppress(ssl.SSLWantReadError):
            while part := self._object.read(_CHUNK):
                parts.append(part)
            self.ended = True
        return b"".join(parts)

    def outgoing(self) -> bytes:
        return self._outgoing.read()

    def send(self, data: bytes) -> bytes:
        """The data as records."""
        view = memoryview(data)
        while view:
            view = view[self._object.write(view) :]
        return self._outgoing.read()

    def close(self) -> bytes:
        """The record that says goodbye."""
        with contextlib.suppress(ssl.SSLError):  # it would wait for the peer's goodbye
            self._object.unwrap()
        return self._outgoing.read()

    def principal(self) -> str | None:
        """`User:` and the distinguished name of the client's certificate, if it showed one."""
        certificate = self._object.getpeercert(binary_form=True)
        return f"User:{subject_of(certificate)}" if certificate else None
