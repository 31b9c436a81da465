"""Which version to ask in: the highest that both sides have, with reasons to take another.

What a broker told about itself holds for the connection it was told on, and no longer (35.6).
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from rollcall.catalog import Provenance, Range
from rollcall.client.errors import UnsupportedError
from rollcall.protocol.dialects import ApiSpec
from rollcall.protocol.versions import VersionRange

METADATA: Final = 3
SASL_HANDSHAKE: Final = 17
API_VERSIONS: Final = 18
SASL_AUTHENTICATE: Final = 36
DESCRIBE_CLUSTER: Final = 60

# The numbers that mean the same in both dialects: what is left when the dialect is unknown.
UNDISPUTED: Final[Mapping[int, VersionRange]] = MappingProxyType(
    {METADATA: VersionRange(0, 9), DESCRIBE_CLUSTER: VersionRange(0, 0)}
)


class ApiVersionsReply(StrEnum):
    """What a broker did when it was asked for its versions (35.10)."""

    ANSWERED = "answered"
    CLOSED = "closed the connection"
    """As 0.8 does."""
    SILENT = "no answer"
    """As 0.9 does."""


@dataclass(frozen=True)
class BrokerVersions:
    """What the broker at the other end of one connection can do, and how we know."""

    ranges: Mapping[int, Range]
    provenance: Provenance = Provenance.REPORTED
    reply: ApiVersionsReply = ApiVersionsReply.ANSWERED
    api_versions: int | None = None
    """The version in which ApiVersions was answered."""
    dialect: str | None = None
    """None when the broker has no ApiVersions 3, which tells it."""
    supported_features: Mapping[str, Range] | None = None
    finalized_features: Mapping[str, int] | None = None
    """Highest level of each; None when the broker does not tell them."""
    zk_migration_ready: bool = False


@dataclass(frozen=True)
class Choice:
    """Which versions of an API may be used at all, and which only in need."""

    among: VersionRange | None = None
    avoid: AbstractSet[int] = field(default_factory=frozenset)


def choose_version(
    api: ApiSpec, offered: Range | None, peer: object, choice: Choice | None = None
) -> int:
    """The highest common version; one that is deprecated or avoided only if all are (35.8)."""
    choice = choice or Choice()
    ours = api.versions if choice.among is None else api.versions & choice.among
    common = [v for v in ours if offered is not None and offered.has(v)]
    if not common:
        raise UnsupportedError(
            f"{api.name} cannot be asked of {peer}: {_theirs(offered)}, {_ours(api, choice)}",
            hint="the broker is too old or too new for it: see `rollcall api-versions`",
        )
    unloved = api.request.deprecated
    better = [v for v in common if v not in unloved and v not in choice.avoid]
    return max(better or [v for v in common if v not in choice.avoid] or common)


def _theirs(offered: Range | None) -> str:
    return f"it has versions {offered.low} to {offered.high}" if offered else "it does not have it"


def _ours(api: ApiSpec, choice: Choice) -> str:
    ours = api.versions
    if choice.among is None:
        return f"rollcall has {ours.lowest} to {ours.highest}"
    return f"rollcall has {ours.lowest} to {ours.highest}, of which {choice.among} would do"
