"""The gauge of KIP-511: open connections per software name, version and listener.

Names are chosen by clients, so the number of pairs is capped: a name that comes when the gauge is
full is counted as `other` until its connection closes or takes another name. A connection is told
the label it was counted under and leaves by the same, so the sum is always that of the connections.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

OTHER: Final = "other"
UNCAPPED: Final = frozenset({("unknown", "unknown"), (OTHER, OTHER)})


class SoftwareLabel(NamedTuple):
    name: str
    version: str
    listener: str


class SoftwareGauge:
    def __init__(self, max_software: int) -> None:
        self._max = max_software
        self._counts: dict[SoftwareLabel, int] = {}
        self._labels: dict[SoftwareLabel, SoftwareLabel] = {}
        self._pairs: Counter[tuple[str, str]] = Counter()

    @property
    def counts(self) -> Mapping[SoftwareLabel, int]:
        """Only labels with connections: at 0 a series disappears."""
        return self._counts

    def enter(self, name: str, version: str, listener: str) -> SoftwareLabel:
        """Count one more connection; the label it went under is what it must leave by."""
        pair = (name, version)
        if pair not in self._pairs and pair not in UNCAPPED and len(self._pairs) >= self._max:
            pair = (OTHER, OTHER)
        if pair not in UNCAPPED:
            self._pairs[pair] += 1
        label = SoftwareLabel(*pair, listener)
        label = self._labels.setdefault(label, label)
        self._counts[label] = self._counts.get(label, 0) + 1
        return label

    def leave(self, label: SoftwareLabel) -> None:
        left = self._counts[label] - 1
        if left:
            self._counts[label] = left
        else:
            del self._counts[label]
            del self._labels[label]
        pair = (label.name, label.version)
        if pair not in UNCAPPED:
            self._pairs[pair] -= 1
            if not self._pairs[pair]:
                del self._pairs[pair]
