"""API versions of a broker, and the choice of the version for a request.

The ranges hold for the connection on which the broker reported them, and no longer (35.6).
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from rollcall.catalog import Provenance, Range
from rollcall.client.errors import UnsupportedError
from rollcall.protocol import ApiSpec, VersionRange

METADATA: Final = 3
SASL_HANDSHAKE: Final = 17
API_VERSIONS: Final = 18
SASL_AUTHENTICATE: Final = 36
DESCRIBE_CLUSTER: Final = 60

SAME_IN_BOTH_DIALECTS: Final[Mapping[int, VersionRange]] = MappingProxyType(
    {METADATA: VersionRange(0, 9), DESCRIBE_CLUSTER: VersionRange(0, 0)}
)
"""Versions with the same layout in both dialects: used when the broker's dialect is unknown."""


class ApiVersionsOutcome(StrEnum):
    """How a broker reacted to the ApiVersions request (35.10)."""

    ANSWERED = "answered"
    CLOSED = "closed the connection"
    """Kafka 0.8 does this."""
    TIMED_OUT = "no response"
    """Kafka 0.9 does this."""


@dataclass(frozen=True)
class BrokerVersions:
    """API ranges and features of a broker, and their provenance."""

    ranges: Mapping[int, Range]
    provenance: Provenance = Provenance.REPORTED
    outcome: ApiVersionsOutcome = ApiVersionsOutcome.ANSWERED
    api_versions: int | None = None
    """Version of the ApiVersions response."""
    dialect: str | None = None
    """None for a broker without ApiVersions 3, where the dialect is reported."""
    supported_features: Mapping[str, Range] | None = None
    finalized_features: Mapping[str, int] | None = None
    """Maximum level by feature; None when the broker does not report them."""
    zk_migration_ready: bool = False


def choose_version(
    api: ApiSpec,
    offered: Range | None,
    peer: object,
    *,
    among: VersionRange | None = None,
    avoid: AbstractSet[int] = frozenset(),
) -> int:
    """Highest common version, deprecated and avoided ones only if there is no other (35.8).

    `among` limits the versions that can be used at all.
    """
    allowed = api.versions if among is None else api.versions & among
    common = {version for version in allowed if offered is not None and offered.has(version)}
    if not common:
        theirs = f"versions {offered.low} to {offered.high}" if offered else "no version of it"
        limit = "" if among is None else f", of which {among} can be used here"
        raise UnsupportedError(
            f"no common version of {api.name}: {peer} supports {theirs}, "
            f"rollcall {api.versions.lowest} to {api.versions.highest}{limit}",
            hint="the broker is too old or too new: run `rollcall api-versions`",
        )
    not_avoided = common - avoid
    deprecated = {version for version in common if version in api.request.deprecated}
    return max(not_avoided - deprecated or not_avoided or common)
