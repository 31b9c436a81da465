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
from typing import TYPE_CHECKING, Any

from rollcall.cli.options.common import LONGEST, SHORTEST
from rollcall.cli.options.java_properties import parse_properties, sasl_from, tls_from
from rollcall.client import Address, ClientConfig, SaslConfig, TlsConfig, parse_bootstrap
from rollcall.errors import ConfigError

if TYPE_CHECKING:
    from rollcall.broker.document import Section

SASL_PASSWORD = "ROLLCALL_SASL_PASSWORD"  # noqa: S105 - the name of a variable
TLS_KEY_PASSWORD = "ROLLCALL_TLS_KEY_PASSWORD"  # noqa: S105 - the name of a variable
TLS_FILES = {"ca_file": "ca", "certificate_file": "certificate", "key_file": "key"}


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
    told, config = _from_file(path, environ) if path else ([], ClientConfig())
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
        return properties.get("bootstrap.servers", ""), ClientConfig(sasl=sasl, tls=tls)
    return _from_toml(text, path, environ)


def _from_toml(text: str, path: Path, environ: Mapping[str, str]) -> tuple[Any, ClientConfig]:
    from rollcall.broker.document import Section  # takes a moment, and few have such a file

    try:
        return _from_document(Section(tomllib.loads(text)), path.parent, environ)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}", hint="write it as key = value") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", hint=error.hint) from None


def _from_document(
    top: "Section", folder: Path, environ: Mapping[str, str]
) -> tuple[Any, ClientConfig]:
    told, seconds = top.text_or_texts("bootstrap"), top.seconds("timeout")
    values = {"client_id": top.text("client_id", "rollcall"), "release": top.text("release")}
    with top.section("avoid") as section:
        values["avoid"] = {name: frozenset(section.numbers(name)) for name in section.sections()}
    sasl, tls = _sasl(top, environ), _tls(top, folder, environ)
    top.close()
    config = ClientConfig(
        **values,
        sasl=None if sasl is None else SaslConfig(**sasl),
        tls=None if tls is None else TlsConfig(**tls),
    )
    if seconds is None:
        return told, config
    if not SHORTEST <= seconds <= LONGEST:
        raise ConfigError(f"timeout is {seconds:g}", hint=f"use {SHORTEST} s to a year")
    return told, _with_timeout(config, seconds)


def _sasl(top: "Section", environ: Mapping[str, str]) -> dict[str, Any] | None:
    if not top.has("sasl"):
        return None
    with top.section("sasl") as section:
        password = section.secret("password")
        return {
            "mechanism": section.text("mechanism", ""),
            "username": section.text("username", ""),
            "password": environ.get(SASL_PASSWORD) or password or "",
        }


def _tls(top: "Section", folder: Path, environ: Mapping[str, str]) -> dict[str, Any] | None:
    if not top.has("tls"):
        return None
    with top.section("tls") as section:
        files = {
            name: folder / section.text(key) if section.has(key) else None
            for name, key in TLS_FILES.items()
        }
        password = section.secret("key_password")
        return {
            **files,
            "key_password": environ.get(TLS_KEY_PASSWORD) or password,
            "check_hostname": section.flag("check_hostname", default=True),
        }
