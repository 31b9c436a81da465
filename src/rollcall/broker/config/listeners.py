"""Reads the [listeners] table: the two listeners of every cluster, and additional ones."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from rollcall.broker.config.cluster import DEFAULT_LISTENERS, ListenerSettings
from rollcall.broker.config.section import ConfigSection
from rollcall.errors import ConfigError
from rollcall.protocol import RELEASED
from rollcall.protocol.sasl import MECHANISMS
from rollcall.server import ClientAuth, OnUnsupported, SecurityProtocol, TlsConfig


def read_listeners(section: ConfigSection, directory: Path) -> tuple[ListenerSettings, ...]:
    listeners = {listener.name: listener for listener in DEFAULT_LISTENERS}
    for name in section.names():
        with section.section(name) as table:
            listeners[name] = _listener(table, listeners.get(name), name, directory)
    return tuple(listeners.values())


def _listener(
    table: ConfigSection, default: ListenerSettings | None, name: str, directory: Path
) -> ListenerSettings:
    base: ListenerSettings = default or _new_listener(table, name)
    changed: ListenerSettings = table.make(
        partial(replace, base),
        port=table.number("port"),
        tls=_tls(table, base.security_protocol, directory),
        mechanisms=_mechanisms(table, base.security_protocol),
        on_unsupported=table.choice("on_unsupported", OnUnsupported, base.on_unsupported),
        authorize=table.flag("authorize", default=base.authorize),
        require_describe=table.flag("require_describe", default=base.require_describe),
    )
    return changed


def _new_listener(table: ConfigSection, name: str) -> ListenerSettings:
    """Protocol and dialect can be chosen for additional listeners only."""
    protocol = table.choice("security_protocol", SecurityProtocol, SecurityProtocol.PLAINTEXT)
    dialect = table.text("dialect", RELEASED)
    listener: ListenerSettings = table.make(
        ListenerSettings, name=name, security_protocol=protocol, dialect=dialect
    )
    return listener


def _mechanisms(table: ConfigSection, protocol: SecurityProtocol) -> tuple[str, ...]:
    _only_where(table, "mechanisms", protocol, protocol.sasl)
    mechanisms = table.texts("mechanisms", tuple(MECHANISMS))
    unknown = [name for name in mechanisms if name not in MECHANISMS]
    if unknown or not mechanisms:
        raise ConfigError(
            f"{table.where('mechanisms')} has {unknown or 'none'}",
            hint=f"use some of {', '.join(MECHANISMS)}",
        )
    return mechanisms


def _tls(table: ConfigSection, protocol: SecurityProtocol, directory: Path) -> TlsConfig | None:
    _only_where(table, "tls", protocol, protocol.tls)
    if not protocol.tls:
        return None
    with table.section("tls") as section:
        for needed in ("certificate", "key"):
            if not section.has(needed):
                raise ConfigError(
                    f"{section.where(needed)} is missing",
                    hint=f"set it to the path of a PEM file: {protocol} needs it",
                )
        authorities = section.text("authorities")
        tls: TlsConfig = section.make(
            TlsConfig,
            certificate=directory / section.text("certificate"),
            key=directory / section.text("key"),
            authorities=directory / authorities if authorities else None,
            client_auth=section.choice("client_auth", ClientAuth, ClientAuth.NONE),
        )
    return tls


def _only_where(table: ConfigSection, key: str, protocol: SecurityProtocol, fits: bool) -> None:
    if table.has(key) and not fits:
        raise ConfigError(
            f"{table.where(key)} is set, but the listener is {protocol}",
            hint=f"remove it, or set {table.where('security_protocol')} to a protocol that uses it",
        )
