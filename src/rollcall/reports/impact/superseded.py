"""Whether a client is done with an old version: what it used later, on which days.

Days are bits of a number, bit 0 the first day of the window; where the window is longer than
the bits, one bit is several days, which can only make 7 days look like fewer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rollcall.catalog import parse_version

ENOUGH_DAYS = 7
ANY = -1
"""For the API of a sighting of software, whatever it used."""


class Sighting(NamedTuple):
    """One version of one API, from one host and software version."""

    host: str | None
    software: str | None
    software_version: str | None
    api_key: int
    api_version: int
    days: int
    asked_for: bool = True
    """Whether it is of those that are judged, or only of their neighbours."""


def set_aside(refused: Iterable[Sighting], accepted: Sequence[Sighting]) -> frozenset[Sighting]:
    """Those after which the same host, or newer software, used accepted versions long enough."""
    return frozenset(it for it in refused if _later_days(it, accepted) >= ENOUGH_DAYS)


def _later_days(old: Sighting, accepted: Sequence[Sighting]) -> int:
    days = 0
    for new in accepted:
        if (new.host is not None and new.host == old.host) or _is_newer(new, old):
            days |= new.days
    return (days >> old.days.bit_length()).bit_count()


def _is_newer(new: Sighting, old: Sighting) -> bool:
    if new.software is None or new.software != old.software:
        return False
    later, earlier = parse_version(new.software_version), parse_version(old.software_version)
    return later is not None and earlier is not None and later > earlier
