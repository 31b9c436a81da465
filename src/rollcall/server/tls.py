"""Server-side TLS of one connection as a sans-IO object, and the SSL context of a listener.

asyncio's TLS reports a connection only after the handshake. With this object the registry, the
limits and the log have it from accept on, and a peer that does not use TLS gets its own log line.
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
        # without a password OpenSSL prompts on the terminal and blocks the event loop
        context.load_cert_chain(config.certificate, config.key, password="")
        if config.authorities is not None:
            context.load_verify_locations(config.authorities)
    except (ssl.SSLError, OSError) as error:
        raise ConfigError(
            f"cannot load the TLS certificate {config.certificate} and its key: {error}",
            hint="use PEM files, and the key of that certificate without a passphrase",
        ) from error
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.verify_mode = _VERIFY[config.client_auth]
    return context


class TlsError(Exception):
    """The peer violated TLS or does not use it."""


class TlsSession:
    """The server's side of TLS on one connection: encrypted bytes in, plain bytes out."""

    __slots__ = ("_incoming", "_object", "_outgoing", "_started", "ended", "established")

    def __init__(self, context: ssl.SSLContext) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._started = False
        self.established = False
        self.ended = False
        """The peer sent close_notify and waits for ours."""

    def receive(self, data: bytes) -> bytes:
        """Decrypt received bytes. Send `outgoing()` afterwards, also after an error."""
        self._incoming.write(data)
        try:
            if not self.established:
                if not self._started and data[0] != HANDSHAKE_RECORD:
                    raise TlsError("first bytes are not TLS; check the client's security.protocol")
                self._started = True
                self._object.do_handshake()
                self.established = True
            return self._read()
        except ssl.SSLWantReadError:
            return b""
        except ssl.SSLError as error:
            raise TlsError(f"TLS failed: {error.reason or error}") from None

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
        """Encrypt data."""
        view = memoryview(data)
        while view:
            view = view[self._object.write(view) :]
        return self._outgoing.read()

    def close(self) -> bytes:
        """The close_notify alert, encrypted."""
        with contextlib.suppress(ssl.SSLError):  # raised because the peer's close_notify is missing
            self._object.unwrap()
        return self._outgoing.read()

    def principal(self) -> str | None:
        """`User:` and the distinguished name of the client certificate, if there is one."""
        certificate = self._object.getpeercert(binary_form=True)
        return f"User:{subject_of(certificate)}" if certificate else None
