"""How to connect to a cluster: options, the settings file, and secrets from the environment.

The settings file is TOML:

    bootstrap = "broker1:9092,broker2:9092"
    timeout = 10              # seconds per broker
    release = "0.9.0"         # release of brokers that do not support ApiVersions
    avoid = { Metadata = [10] }

    [sasl]
    mechanism = "SCRAM-SHA-512"
    username = "alice"
    password = "..."          # or ROLLCALL_SASL_PASSWORD

    [tls]
    ca = "ca.pem"             # default: the CAs of the system
    certificate = "client.pem"
    key = "client.key"
    key_password = "..."      # or ROLLCALL_TLS_KEY_PASSWORD
    check_hostname = true

or the `.properties` file of a Java client. Paths are relative to the file. Secrets are never
options, because other users of the machine can see the arguments of a process.

`rollcall.client` is imported inside functions: it takes 150 ms that `--help` does not need.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollcall.cli.options.common import MAX_SECONDS, MIN_SECONDS, seconds_option
from rollcall.errors import ConfigError

if TYPE_CHECKING:
    from rollcall.broker.config import ConfigSection
    from rollcall.client import Address, ClientConfig

SASL_PASSWORD = "ROLLCALL_SASL_PASSWORD"  # noqa: S105 - the name of a variable
TLS_KEY_PASSWORD = "ROLLCALL_TLS_KEY_PASSWORD"  # noqa: S105 - the name of a variable
TLS_FILES = {"ca_file": "ca", "certificate_file": "certificate", "key_file": "key"}

BootstrapArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="[BOOTSTRAP]",
        show_default=False,
        help="Bootstrap servers, as host:port,host:port (default: those of the settings file).",
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        envvar="ROLLCALL_CONFIG",
        show_envvar=False,
        help="Settings file for TLS and SASL: TOML, or the .properties file of a Java client "
        "(default: $ROLLCALL_CONFIG).",
    ),
]
TimeoutOption = Annotated[
    float | None,
    seconds_option("--timeout", help_text="Timeout per broker in seconds (default 10)."),
]
ReleaseOption = Annotated[
    str | None,
    typer.Option(
        metavar="RELEASE",
        help="Assume this release for brokers that do not support ApiVersions (before 0.10), "
        "for example 0.9.0.",
    ),
]


@dataclass(frozen=True)
class ConnectionSettings:
    bootstrap: tuple[Address, ...]
    config: ClientConfig


def load_settings(
    bootstrap: str | None,
    path: Path | None,
    *,
    timeout: float | None = None,
    release: str | None = None,
    environ: Mapping[str, str] = os.environ,
) -> ConnectionSettings:
    """Settings from options, environment and file, in this order of precedence."""
    from rollcall.client import ClientConfig, parse_bootstrap

    in_file, config = _read_file(path, environ) if path else ([], ClientConfig())
    if timeout is not None:
        config = _with_timeout(config, timeout)
    if release is not None:
        config = replace(config, release=release)
    return ConnectionSettings(
        parse_bootstrap(bootstrap if bootstrap is not None else in_file), config
    )


def _with_timeout(config: ClientConfig, seconds: float) -> ClientConfig:
    """The timeout of a broker also limits each of its requests."""
    return replace(
        config,
        broker_timeout=seconds,
        request_timeout=seconds,
        connect_timeout=min(seconds, config.connect_timeout),
        api_versions_timeout=min(seconds / 2, config.api_versions_timeout),
    )


def _read_file(path: Path, environ: Mapping[str, str]) -> tuple[Any, ClientConfig]:
    """Bootstrap servers and client configuration of a settings file."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"cannot read the settings file {path}: {reason}",
            hint="name a TOML file or the .properties file of a Java client",
        ) from None
    if path.suffix == ".properties":
        return _from_properties(text, path.parent, environ)
    return _from_toml(text, path, environ)


def _from_properties(
    text: str, directory: Path, environ: Mapping[str, str]
) -> tuple[Any, ClientConfig]:
    from rollcall.cli.options.java_properties import parse_properties, sasl_config, tls_config
    from rollcall.client import ClientConfig

    properties = parse_properties(text)
    sasl = sasl_config(properties, environ.get(SASL_PASSWORD))
    tls = tls_config(properties, directory, environ.get(TLS_KEY_PASSWORD))
    return properties.get("bootstrap.servers", ""), ClientConfig(sasl=sasl, tls=tls)


def _from_toml(text: str, path: Path, environ: Mapping[str, str]) -> tuple[Any, ClientConfig]:
    from rollcall.broker.config import ConfigSection

    try:
        return _from_document(ConfigSection(tomllib.loads(text)), path.parent, environ)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(
            f"{path} is not valid TOML: {error}", hint="write settings as key = value"
        ) from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", hint=error.hint) from None


def _from_document(
    top: ConfigSection, directory: Path, environ: Mapping[str, str]
) -> tuple[Any, ClientConfig]:
    from rollcall.client import ClientConfig, SaslConfig, TlsConfig

    bootstrap, timeout = top.text_or_texts("bootstrap"), top.seconds("timeout")
    values = {"client_id": top.text("client_id", "rollcall"), "release": top.text("release")}
    with top.section("avoid") as section:
        values["avoid"] = {name: frozenset(section.numbers(name)) for name in section.names()}
    sasl, tls = _sasl(top, environ), _tls(top, directory, environ)
    top.close()
    config = ClientConfig(
        **values,
        sasl=None if sasl is None else SaslConfig(**sasl),
        tls=None if tls is None else TlsConfig(**tls),
    )
    if timeout is None:
        return bootstrap, config
    if not MIN_SECONDS <= timeout <= MAX_SECONDS:
        raise ConfigError(
            f"timeout is {timeout:g}", hint=f"use {MIN_SECONDS} to {MAX_SECONDS:.0f} seconds"
        )
    return bootstrap, _with_timeout(config, timeout)


def _sasl(top: ConfigSection, environ: Mapping[str, str]) -> dict[str, Any] | None:
    if not top.has("sasl"):
        return None
    with top.section("sasl") as section:
        password = section.secret("password")
        return {
            "mechanism": section.text("mechanism", ""),
            "username": section.text("username", ""),
            "password": environ.get(SASL_PASSWORD) or password or "",
        }


def _tls(top: ConfigSection, directory: Path, environ: Mapping[str, str]) -> dict[str, Any] | None:
    if not top.has("tls"):
        return None
    with top.section("tls") as section:
        files = {
            name: directory / section.text(key) if section.has(key) else None
            for name, key in TLS_FILES.items()
        }
        password = section.secret("key_password")
        return {
            **files,
            "key_password": environ.get(TLS_KEY_PASSWORD) or password,
            "check_hostname": section.flag("check_hostname", default=True),
        }
