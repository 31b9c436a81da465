"""Whether a client no longer uses an old version, by the days on which it used others.

Days are bits of an integer, bit 0 is the first day of the window. In a window of more than 120 days
several days share a bit, which can only make 7 days look like fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rollcall.catalog import parse_version

DAYS_TO_SUPERSEDE = 7
ANY_API = -1
"""The API of a HostUse that covers all APIs."""


class HostUse(NamedTuple):
    """One API version that one software version used from one host."""

    host: str | None
    software: str | None
    software_version: str | None
    api_key: int
    api_version: int
    days: int
    """Bit mask."""
    selected: bool = True
    """Whether the filters of the report select it."""


def superseded(refused: Iterable[HostUse], accepted: Sequence[HostUse]) -> frozenset[HostUse]:
    """The refused uses after which the same host, or newer software, used accepted versions.

    On at least 7 days after the last day of the refused use."""
    return frozenset(use for use in refused if _later_days(use, accepted) >= DAYS_TO_SUPERSEDE)


def _later_days(old: HostUse, accepted: Sequence[HostUse]) -> int:
    days = 0
    for new in accepted:
        if (new.host is not None and new.host == old.host) or _is_newer(new, old):
            days |= new.days
    return (days >> old.days.bit_length()).bit_count()


def _is_newer(new: HostUse, old: HostUse) -> bool:
    if new.software is None or new.software != old.software:
        return False
    later, earlier = parse_version(new.software_version), parse_version(old.software_version)
    return later is not None and earlier is not None and later > earlier
