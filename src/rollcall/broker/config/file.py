"""Reads ClusterConfig from a TOML file. Paths in it are relative to the directory of the file.

The file of users holds passwords, so it must not be readable by other users of the system.
"""

import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from rollcall.broker.authorizer import CLUSTER_OPERATIONS, Authorizer, Operation
from rollcall.broker.config.cluster import ClusterConfig, MetricsSettings, NodeSettings, Software
from rollcall.broker.config.listeners import read_listeners
from rollcall.broker.config.section import ConfigSection
from rollcall.errors import ConfigError
from rollcall.server import ConnectionLimits, RequestLogFormat, RequestLogLevel

_OTHERS = stat.S_IRWXO
_METRIC_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


def read_config(path: Path, **overrides: Any) -> ClusterConfig:
    """The configuration in a file; `overrides` that are not None take precedence."""
    return parse_config(_read_toml(path, "configuration"), path.parent, **overrides)


def parse_config(document: Mapping[str, Any], directory: Path, **overrides: Any) -> ClusterConfig:
    top = ConfigSection(document)
    values: dict[str, Any] = {
        "brokers": top.number("brokers", 3),
        "cluster_id": top.text("cluster_id"),
        "host": top.text("host", "127.0.0.1"),
        "advertised_host": top.text("advertised_host"),
        "base_port": top.number("base_port"),
        "users": read_users(directory / top.text("users")) if top.has("users") else {},
    }
    with top.section("software") as section:
        software = _software(section, Software())
    if top.has("authorizer"):
        with top.section("authorizer") as section:
            values["authorizer"] = _authorizer(section)
    with top.section("limits") as section:
        values["limits"] = _limits(section)
    with top.section("request_log") as section:
        log_format = section.choice("format", RequestLogFormat, RequestLogFormat.JSON)
        log_level = section.choice("level", RequestLogLevel, RequestLogLevel.DEBUG)
    with top.section("metrics") as section:
        values["metrics"] = _metrics(section)
    with top.section("listeners") as section:
        values["listeners"] = read_listeners(section, directory)
    with top.section("nodes") as section:
        values["nodes"] = _nodes(section, software)
    top.close()
    values.update({key: value for key, value in overrides.items() if value is not None})
    config: ClusterConfig = top.make(
        ClusterConfig, software=software, log_format=log_format, log_level=log_level, **values
    )
    return config


def read_users(path: Path) -> dict[str, str]:
    """Passwords by username from a file with lines such as `alice = "her password"`."""
    users = _read_toml(path, "users")
    if path.stat().st_mode & _OTHERS:
        raise ConfigError(
            f"the users file {path} holds passwords, but all users can read it",
            hint=f"run chmod 600 {path}",
        )
    for name, password in users.items():
        if not isinstance(password, str) or not password:
            raise ConfigError(
                f"the user {name!r} has no password in {path}",
                hint='write one line per user: alice = "her password"',
            )
    return users


def _read_toml(path: Path, what: str) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"the {what} file {path} cannot be read: {error.strerror}", hint="check the path"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        # Show only the position: the text around it may be a password.
        text = str(error)
        position = text.rpartition(" (")[2].rstrip(")") if "(at " in text else "unknown position"
        raise ConfigError(
            f"the {what} file {path} is not valid TOML ({position})",
            hint="write strings in quotes, and start a table with [its.name]",
        ) from None


def _software(section: ConfigSection, default: Software) -> Software:
    return Software(
        name=section.text_or_null("name", default.name),
        version=section.text_or_null("version", default.version),
    )


def _nodes(section: ConfigSection, default: Software) -> dict[int, NodeSettings]:
    nodes = {}
    for key in section.names():
        if not key.isascii() or not key.isdigit():
            raise ConfigError(
                f"{section.where(key)} is not a node id", hint="use numbers, as in [nodes.1]"
            )
        with section.section(key) as node:
            with node.section("software") as software:
                reported = _software(software, default)
            nodes[int(key)] = NodeSettings(rack=node.text("rack"), software=reported)
    return nodes


def _limits(section: ConfigSection) -> ConnectionLimits:
    default = ConnectionLimits()
    values = {}
    for limit in fields(ConnectionLimits):
        take = section.seconds if limit.name.endswith("_seconds") else section.number
        values[limit.name] = take(limit.name, getattr(default, limit.name))
    limits: ConnectionLimits = section.make(ConnectionLimits, **values)
    return limits


def _metrics(section: ConfigSection) -> MetricsSettings:
    name = section.text("connections_gauge", MetricsSettings.connections_gauge)
    if not _METRIC_NAME.fullmatch(name):
        raise ConfigError(
            f"{section.where('connections_gauge')} is {name!r}",
            hint="use letters, digits and _ in a metric name, and do not start with a digit",
        )
    max_software = section.number("max_software", MetricsSettings.max_software)
    if max_software < 1:
        raise ConfigError(
            f"{section.where('max_software')} is {max_software}", hint="use 1 or more"
        )
    return MetricsSettings(connections_gauge=name, max_software=max_software)


def _authorizer(section: ConfigSection) -> Authorizer:
    super_users = frozenset(section.texts("super_users"))
    default = _operations(section, "default")
    with section.section("allow") as allow:
        allowed = {name: _operations(allow, name) for name in allow.names()}
    for key, principals in (("super_users", super_users), ("allow", allowed)):
        for principal in principals:
            if not principal.startswith("User:"):
                raise ConfigError(
                    f"{section.where(key)} has {principal!r}, which is not a principal",
                    hint=f'start a principal with User: as in "User:{principal}"',
                )
    return Authorizer(allow=allowed, default=default, super_users=super_users)


def _operations(section: ConfigSection, key: str) -> frozenset[Operation]:
    names = section.texts(key)
    if names == ("ALL",):
        return CLUSTER_OPERATIONS
    known = {operation.name: operation for operation in sorted(CLUSTER_OPERATIONS)}
    for name in names:
        if name not in known:
            raise ConfigError(
                f"{section.where(key)} has {name!r}, which is not a cluster operation",
                hint=f"use ALL, or some of {', '.join(known)}",
            )
    return frozenset(known[name] for name in names)
