"""API keys: their names, the listeners that serve them and the nodes that send them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from rollcall.catalog.loader import Row, check_fields, invalid_row, read_table

FILE = "apis.json"


class Mode(StrEnum):
    """The kind of node: each lists different APIs."""

    ZOOKEEPER = "zookeeper"
    """A broker that registers in ZooKeeper."""
    KRAFT = "kraft"
    """A broker of a KRaft cluster."""
    CONTROLLER = "controller"
    """The controller listener of a KRaft cluster."""


@dataclass(frozen=True, slots=True)
class Api:
    key: int
    name: str
    enum: str
    """The name in request logs of Kafka 1.0 and later."""
    old_names: tuple[str, ...] = ()
    listeners: tuple[Mode, ...] = ()
    inter_broker: bool = False
    """Sent by brokers and controllers only."""
    forwarded: bool = False
    """A KRaft broker forwards it to the controller and lists the versions that both support."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, self.enum, *self.old_names)


@cache
def known_apis() -> Mapping[int, Api]:
    """Every API of any Kafka release, by key."""
    return build_apis(read_table(FILE)["apis"])


@cache
def api_names() -> Mapping[str, int]:
    """Every API name that a log may contain, including old names, with its key."""
    return MappingProxyType({name: api.key for api in known_apis().values() for name in api.names})


def api_name(key: int) -> str:
    """The name of an API, or the key as text if the API is unknown."""
    api = known_apis().get(key)
    return api.name if api else str(key)


def keys_by_name(apis: Mapping[int, Api]) -> dict[str, int]:
    """The key of each current API name."""
    return {api.name: api.key for api in apis.values()}


def build_apis(rows: Sequence[Row]) -> Mapping[int, Api]:
    apis: dict[int, Api] = {}
    key_of_name: dict[str, int] = {}
    for row in rows:
        where = f"row {row.get('key', row.get('name'))}"
        check_fields(
            FILE,
            where,
            row,
            required={"key", "name", "enum", "listeners"},
            optional={"old_names", "inter_broker", "forwarded"},
        )
        api = Api(
            **{
                **row,
                "old_names": tuple(row.get("old_names", ())),
                "listeners": tuple(Mode(mode) for mode in row["listeners"]),
            }
        )
        if api.key in apis:
            invalid_row(FILE, where, "duplicate key", "keep one row per key")
        for name in api.names:
            if key_of_name.setdefault(name, api.key) != api.key:
                other = key_of_name[name]
                invalid_row(FILE, where, f"{name} is also key {other}", "keep it at one key")
        if not api.listeners:
            invalid_row(FILE, where, "no listener serves it", "name the modes that list it")
        apis[api.key] = api
    return MappingProxyType(dict(sorted(apis.items())))
