"""API versions whose layout differs between a dialect and released Kafka.

A real client misreads the responses of such a version. The versions are determined by comparing
the schemas.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Final

from rollcall.protocol import RELEASED, ApiSpec, Dialect, StructSpec, dialect
from rollcall.server.registry import ConnectionInfo

logger = logging.getLogger(__name__)

OUR_SOFTWARE: Final = "rollcall"
MAX_WARNINGS: Final = 100


@cache
def conflicting_versions(of: Dialect) -> frozenset[tuple[int, int]]:
    """(key, version) pairs with another layout in the released dialect."""
    released = dialect(RELEASED)
    if of is released:
        return frozenset()
    return frozenset(
        (key, version)
        for key, api in of.apis.items()
        for version in api.versions
        if key in released.apis and _differ(api, released.apis[key], version)
    )


def _differ(ours: ApiSpec, theirs: ApiSpec, version: int) -> bool:
    return any(
        _layout(mine, version) != _layout(other, version)
        or (version in mine.flexible) != (version in other.flexible)
        for mine, other in ((ours.request, theirs.request), (ours.response, theirs.response))
    )


def _layout(struct: StructSpec, version: int) -> list[object]:
    """Fields on the wire, without tagged fields: clients skip unknown tags."""
    return [
        (f.name, f.type, version in f.nullable, _layout(f.struct, version) if f.struct else None)
        for f in struct.plain_fields(version)
    ]


class ConflictWarnings:
    """Logs one warning per client software that uses a conflicting version."""

    def __init__(self) -> None:
        self._warned: set[tuple[str, str]] = set()

    def warn(self, info: ConnectionInfo, api_name: str, version: int) -> None:
        software = (info.software_name, info.software_version)
        if software[0] == OUR_SOFTWARE or software in self._warned:
            return
        if len(self._warned) < MAX_WARNINGS:
            self._warned.add(software)
            logger.warning(
                "listener %s: client %s %s at %s uses %s version %d, whose layout differs from "
                "released Kafka; connect it to a listener with the dialect %s",
                info.listener,
                *software,
                info.peer,
                api_name,
                version,
                RELEASED,
            )
