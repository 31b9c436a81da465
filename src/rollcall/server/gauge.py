"""The gauge of KIP-511: open connections per software name, version and listener.

Names are chosen by clients, so the number of pairs is capped: a name that comes when the gauge is
full is counted as `other` until its connection closes or takes another name. A connection is told
the label it was counted under and leaves by the same, so the sum is always that of the connections.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

UNKNOWN: Final = "unknown"
OTHER: Final = "other"
UNCAPPED: Final = frozenset({(UNKNOWN, UNKNOWN), (OTHER, OTHER)})


class SoftwareLabel(NamedTuple):
    name: str
    version: str
    listener: str


class SoftwareGauge:
    def __init__(self, max_software: int) -> None:
        self._max = max_software
        self._counts: dict[SoftwareLabel, int] = {}
        self._series: Counter[tuple[str, str]] = Counter()
        """How many listeners each pair of name and version is counted at."""

    @property
    def counts(self) -> Mapping[SoftwareLabel, int]:
        """Only labels with connections: at 0 a series disappears."""
        return self._counts

    def enter(self, name: str, version: str, listener: str) -> SoftwareLabel:
        """Count one more connection; the label it went under is what it must leave by."""
        label = SoftwareLabel(name, version, listener)
        if label not in self._counts:
            label = self._begin(label)
        self._counts[label] = self._counts.get(label, 0) + 1
        return label

    def _begin(self, label: SoftwareLabel) -> SoftwareLabel:
        """A label that is not there yet: as it is if there is room, else `other`."""
        pair = (label.name, label.version)
        if pair not in UNCAPPED:
            if pair not in self._series and len(self._series) >= self._max:
                return SoftwareLabel(OTHER, OTHER, label.listener)
            self._series[pair] += 1
        return label

    def leave(self, label: SoftwareLabel) -> None:
        self._counts[label] -= 1
        if not self._counts[label]:
            del self._counts[label]
            pair = (label.name, label.version)
            if pair not in UNCAPPED:
                self._series[pair] -= 1
                if not self._series[pair]:
                    del self._series[pair]
