"""The listeners of a document: the two that every cluster has, and those it adds."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from rollcall.broker.config import DEFAULT_LISTENERS, ListenerSettings
from rollcall.broker.document import Section
from rollcall.errors import ConfigError
from rollcall.protocol.dialects import RELEASED
from rollcall.protocol.sasl import MECHANISMS
from rollcall.server import ClientAuth, OnUnsupported, SecurityProtocol, TlsConfig


def read_listeners(section: Section, folder: Path) -> tuple[ListenerSettings, ...]:
    """The two that every cluster has, changed where the document says so, then its own."""
    plans = {plan.name: plan for plan in DEFAULT_LISTENERS}
    for name in section.sections():
        with section.section(name) as table:
            plans[name] = _listener(table, plans.get(name), name, folder)
    return tuple(plans.values())


def _listener(
    table: Section, default: ListenerSettings | None, name: str, folder: Path
) -> ListenerSettings:
    base: ListenerSettings = default or _new_listener(table, name)
    changed: ListenerSettings = table.make(
        partial(replace, base),
        port=table.number("port"),
        tls=_tls(table, base.security_protocol, folder),
        mechanisms=_mechanisms(table, base.security_protocol),
        on_unsupported=table.choice("on_unsupported", OnUnsupported, base.on_unsupported),
        authorize=table.flag("authorize", default=base.authorize),
        require_describe=table.flag("require_describe", default=base.require_describe),
    )
    return changed


def _new_listener(table: Section, name: str) -> ListenerSettings:
    """What only a listener of one's own can choose."""
    protocol = table.choice("security_protocol", SecurityProtocol, SecurityProtocol.PLAINTEXT)
    dialect = table.text("dialect", RELEASED)
    plan: ListenerSettings = table.make(
        ListenerSettings, name=name, security_protocol=protocol, dialect=dialect
    )
    return plan


def _mechanisms(table: Section, protocol: SecurityProtocol) -> tuple[str, ...]:
    _only_where(table, "mechanisms", protocol, protocol.sasl)
    mechanisms = table.texts("mechanisms", tuple(MECHANISMS))
    unknown = [name for name in mechanisms if name not in MECHANISMS]
    if unknown or not mechanisms:
        raise ConfigError(
            f"{table.where('mechanisms')} has {unknown or 'none'}",
            hint=f"use some of {', '.join(MECHANISMS)}",
        )
    return mechanisms


def _tls(table: Section, protocol: SecurityProtocol, folder: Path) -> TlsConfig | None:
    _only_where(table, "tls", protocol, protocol.tls)
    if not protocol.tls:
        return None
    with table.section("tls") as section:
        for needed in ("certificate", "key"):
            if not section.has(needed):
                raise ConfigError(
                    f"there is no {section.where(needed)}",
                    hint=f"a {protocol} listener needs the path of a PEM file there",
                )
        authorities = section.text("authorities")
        tls: TlsConfig = section.make(
            TlsConfig,
            certificate=folder / section.text("certificate"),
            key=folder / section.text("key"),
            authorities=folder / authorities if authorities else None,
            client_auth=section.choice("client_auth", ClientAuth, ClientAuth.NONE),
        )
    return tls


def _only_where(table: Section, key: str, protocol: SecurityProtocol, fits: bool) -> None:
    if table.has(key) and not fits:
        raise ConfigError(
            f"{table.where(key)} is set, but the listener is {protocol}",
            hint=f"drop it, or set {table.where('security_protocol')} to one that uses it",
        )
