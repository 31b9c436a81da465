"""The API keys: what each is called, who answers it and who sends it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any

from rollcall.catalog.loader import CatalogError, Row, check_fields, complain, read_table

FILE = "apis.json"


class Mode(StrEnum):
    """Whose list it is: three kinds of node list different APIs."""

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
    """As request logs print it from 1.0 on."""
    old_names: tuple[str, ...] = ()
    listeners: tuple[Mode, ...] = ()
    inter_broker: bool = False
    forwarded: bool = False
    """A KRaft broker passes it on to the controller, and lists what both have."""
    cluster_action: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, self.enum, *self.old_names)


def build_apis(rows: Sequence[Row]) -> Mapping[int, Api]:
    apis: dict[int, Api] = {}
    taken: dict[str, int] = {}
    for row in rows:
        where = f"row {row.get('key', row.get('name'))}"
        check_fields(
            FILE,
            where,
            row,
            needs={"key", "name", "enum", "listeners"},
            may={"old_names", "inter_broker", "forwarded", "cluster_action"},
        )
        api = Api(
            **{
                **row,
                "old_names": tuple(row.get("old_names", ())),
                "listeners": tuple(Mode(mode) for mode in row["listeners"]),
            }
        )
        if api.key in apis:
            complain(FILE, where, "the key is there twice", "keep one row per key")
        for name in api.names:
            if taken.setdefault(name, api.key) != api.key:
                complain(FILE, where, f"{name} is also key {taken[name]}", "keep it at one key")
        if not api.listeners:
            complain(FILE, where, "no listener answers it", "name who lists it in a release")
        apis[api.key] = api
    return MappingProxyType(dict(sorted(apis.items())))


@cache
def known_apis() -> Mapping[int, Api]:
    """Every API that a release ever had, by key."""
    return build_apis(read_table(FILE)["apis"])


@cache
def api_names() -> Mapping[str, int]:
    """Every name that a log may hold, old ones too, to its key."""
    return MappingProxyType({name: api.key for api in known_apis().values() for name in api.names})


def api_named(name: str) -> Api:
    """The API of a name in any spelling that Kafka ever used, or of a number as text."""
    key = int(name) if name.isdecimal() else api_names().get(name)
    if key is None:
        key = _folded_names().get(_fold(name))
    if key is None or key not in known_apis():
        close = difflib.get_close_matches(name, [api.name for api in known_apis().values()], n=1)
        raise CatalogError(
            f"there is no API called {name!r}",
            hint=f"did you mean {close[0]}?" if close else "use a name such as Fetch, or its key",
        )
    return known_apis()[key]


def api_name(key: int) -> str:
    """Its name, or the bare number of an API that is in no release we know."""
    api = known_apis().get(key)
    return api.name if api else str(key)


def api_rows() -> list[dict[str, Any]]:
    """The table as plain rows, for whoever joins it."""
    return [
        asdict(api) | {"old_names": list(api.old_names), "listeners": [*map(str, api.listeners)]}
        for api in known_apis().values()
    ]


def _fold(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()


@cache
def _folded_names() -> Mapping[str, int]:
    return {_fold(name): key for name, key in api_names().items()}
