"""Client configuration: frozen, validated when constructed, secrets left out of `repr`."""

from __future__ import annotations

import os
import ssl
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path

from rollcall.catalog import release_line
from rollcall.errors import ConfigError
from rollcall.protocol import DEFAULT_MAX_FRAME_BYTES, RELEASED, dialect
from rollcall.protocol.sasl import MECHANISMS


@dataclass(frozen=True, kw_only=True)
class SaslConfig:
    mechanism: str
    username: str
    password: str = field(repr=False)

    def __post_init__(self) -> None:
        if self.mechanism not in MECHANISMS:
            raise ConfigError(
                f"the SASL mechanism {self.mechanism!r} is not supported",
                hint=f"choose one of {', '.join(MECHANISMS)}",
            )
        if not self.username or not self.password:
            raise ConfigError(
                f"SASL {self.mechanism} needs a username and a password",
                hint="set both; the password in a file or in the environment",
            )


@dataclass(frozen=True, kw_only=True)
class TlsConfig:
    """TLS settings, PEM only. Without a CA, the certificates of the system are trusted."""

    ca_file: Path | None = None
    ca_pem: str | None = field(default=None, repr=False)
    certificate_file: Path | None = None
    """Certificate chain; it includes the key unless `key_file` is set."""
    key_file: Path | None = None
    identity_pem: str | None = field(default=None, repr=False)
    """Certificate chain and key as text, instead of the two files."""
    key_password: str | None = field(default=None, repr=False)
    check_hostname: bool = True

    def __post_init__(self) -> None:
        if self.key_file and not self.certificate_file:
            raise ConfigError("a TLS key is set without a certificate", hint="name both files")
        if self.identity_pem and self.certificate_file:
            raise ConfigError(
                "the TLS certificate is given twice, as text and as a file", hint="keep one"
            )

    def context(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(
                cafile=str(self.ca_file) if self.ca_file else None, cadata=self.ca_pem
            )
            context.check_hostname = self.check_hostname
            self._load_identity(context)
        except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
            raise ConfigError(
                f"the TLS settings cannot be used: {error}",
                hint="check that certificates and keys are readable PEM files, and the password",
            ) from None
        return context

    def _load_identity(self, context: ssl.SSLContext) -> None:
        if self.certificate_file:
            key_file = str(self.key_file) if self.key_file else None
            context.load_cert_chain(str(self.certificate_file), key_file, self._password)
        elif self.identity_pem:
            with _private_file(self.identity_pem) as path:
                context.load_cert_chain(path, None, self._password)

    def _password(self) -> str:
        return self.key_password or ""  # without a callback OpenSSL prompts at the terminal


@contextmanager
def _private_file(text: str) -> Iterator[str]:
    """Temporary file with mode 0600: OpenSSL reads certificates and keys from files only."""
    handle, path = tempfile.mkstemp(suffix=".pem")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        yield path
    finally:
        Path(path).unlink(missing_ok=True)


@dataclass(frozen=True, kw_only=True)
class ClientConfig:
    """Timeouts are in seconds."""

    client_id: str | None = "rollcall"
    connect_timeout: float = 5.0
    request_timeout: float = 10.0
    api_versions_timeout: float = 3.0
    """A broker that does not respond to ApiVersions in this time is tried as a 0.9 (35.10)."""
    broker_timeout: float = 10.0
    """Total time for each broker in a roll call."""
    parallel: int = 1000
    """Maximum number of brokers that a roll call queries at the same time."""
    backoff: float = 0.05
    backoff_max: float = 1.0
    rounds: int = 3
    """How often all known addresses are tried before `describe_cluster` fails."""
    release: str | None = None
    """Release whose API ranges are assumed for a broker without ApiVersions (35.10)."""
    avoid: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Versions by API name that are used only if no other version is common (35.8)."""
    tls: TlsConfig | None = None
    sasl: SaslConfig | None = None
    max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            if isinstance(value, int | float) and not value > 0:  # also rejects NaN
                raise ConfigError(f"{setting.name} is {value}", hint="use a number above 0")
        if self.release is not None:
            release_line(self.release)
        known = {api.name for api in dialect(RELEASED).apis.values()}
        if unknown := sorted(self.avoid.keys() - known):
            raise ConfigError(
                f"avoid names {unknown[0]!r}, which is not an API that rollcall uses",
                hint=f"use names of {', '.join(sorted(known))}",
            )
