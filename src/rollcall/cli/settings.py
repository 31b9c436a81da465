"""How to reach a cluster: flags for addresses, a file and the environment for secrets.

A TOML file:

    bootstrap = "broker1:9092,broker2:9092"
    timeout = 10              # seconds that each broker has
    release = "0.9.0"         # what a broker without ApiVersions is taken for
    avoid = { Metadata = [10] }

    [sasl]
    mechanism = "SCRAM-SHA-512"
    username = "alice"
    password = "..."          # or in ROLLCALL_SASL_PASSWORD

    [tls]
    ca = "ca.pem"             # without it the system's CAs
    certificate = "client.pem"
    key = "client.key"
    key_password = "..."      # or in ROLLCALL_TLS_KEY_PASSWORD
    check_hostname = true

or the `.properties` file of a Java client. Paths in a file are relative to it. A secret is never a
flag: other users of the machine see the flags of a process.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rollcall.cli.java_properties import parse_properties, sasl_from, tls_from
from rollcall.client import Address, ClientConfig, SaslConfig, TlsConfig, parse_bootstrap
from rollcall.errors import ConfigError

SASL_PASSWORD = "ROLLCALL_SASL_PASSWORD"  # noqa: S105 - the name of a variable
TLS_KEY_PASSWORD = "ROLLCALL_TLS_KEY_PASSWORD"  # noqa: S105 - the name of a variable


@dataclass(frozen=True)
class Settings:
    bootstrap: tuple[Address, ...]
    config: ClientConfig


def load_settings(
    bootstrap: str | None,
    path: Path | None,
    *,
    seconds: float | None = None,
    release: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Settings:
    """Flags come before the environment, and that before the file."""
    told, config = _from_file(path, environ) if path else ([], _config({}, None, None))
    if seconds is not None:
        config = _with_timeout(config, seconds)
    if release is not None:
        config = replace(config, release=release)
    return Settings(parse_bootstrap(bootstrap if bootstrap is not None else told), config)


def _with_timeout(config: ClientConfig, seconds: float) -> ClientConfig:
    """A broker's time is also the most that one answer of it may take."""
    return replace(
        config,
        broker_timeout=seconds,
        request_timeout=seconds,
        connect_timeout=min(seconds, config.connect_timeout),
        api_versions_timeout=min(seconds / 2, config.api_versions_timeout),
    )


def _from_file(path: Path, environ: Mapping[str, str]) -> tuple[Any, ClientConfig]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"the settings in {path} cannot be read: {getattr(error, 'strerror', None) or error}",
            hint="name a TOML file or a Java client's .properties file",
        ) from None
    if path.suffix == ".properties":
        properties = parse_properties(text)
        sasl = sasl_from(properties, environ.get(SASL_PASSWORD))
        tls = tls_from(properties, path.parent, environ.get(TLS_KEY_PASSWORD))
        return properties.get("bootstrap.servers", ""), _config({}, sasl, tls)
    return _from_toml(text, path, environ)


def _from_toml(text: str, path: Path, environ: Mapping[str, str]) -> tuple[Any, ClientConfig]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}", hint="write it as key = value") from None
    _known(document, {"bootstrap", "timeout", "release", "avoid", "client_id", "sasl", "tls"}, path)
    sasl = _sasl(_table(document, "sasl", path), environ, path)
    tls = _tls(_table(document, "tls", path), environ, path)
    try:
        return document.get("bootstrap", []), _config(document, sasl, tls)
    except TypeError:
        raise ConfigError(
            f"{path} has a setting of the wrong kind", hint="compare it with the documentation"
        ) from None


def _config(
    document: Mapping[str, Any], sasl: SaslConfig | None, tls: TlsConfig | None
) -> ClientConfig:
    config = ClientConfig(
        client_id=document.get("client_id", "rollcall"),
        release=document.get("release"),
        avoid={name: frozenset(versions) for name, versions in document.get("avoid", {}).items()},
        sasl=sasl,
        tls=tls,
    )
    return _with_timeout(config, document["timeout"]) if "timeout" in document else config


def _sasl(
    table: Mapping[str, Any] | None, environ: Mapping[str, str], path: Path
) -> SaslConfig | None:
    if table is None:
        return None
    _known(table, {"mechanism", "username", "password"}, path)
    return SaslConfig(
        mechanism=str(table.get("mechanism", "")),
        username=str(table.get("username", "")),
        password=environ.get(SASL_PASSWORD) or str(table.get("password", "")),
    )


def _tls(
    table: Mapping[str, Any] | None, environ: Mapping[str, str], path: Path
) -> TlsConfig | None:
    if table is None:
        return None
    _known(table, {"ca", "certificate", "key", "key_password", "check_hostname"}, path)
    files = {
        name: path.parent / str(table[name])
        for name in ("ca", "certificate", "key")
        if name in table
    }
    return TlsConfig(
        ca_file=files.get("ca"),
        certificate_file=files.get("certificate"),
        key_file=files.get("key"),
        key_password=environ.get(TLS_KEY_PASSWORD) or table.get("key_password"),
        check_hostname=bool(table.get("check_hostname", True)),
    )


def _table(document: Mapping[str, Any], name: str, path: Path) -> Mapping[str, Any] | None:
    table = document.get(name)
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{name} in {path} is no table", hint=f"write [{name}] on its own line")
    return table


def _known(table: Mapping[str, Any], known: set[str], path: Path) -> None:
    if strange := sorted(table.keys() - known):
        raise ConfigError(
            f"{path} has a setting {strange[0]!r}, which rollcall does not know",
            hint=f"known there: {', '.join(sorted(known))}",
        )
