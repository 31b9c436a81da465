"""Gauge of open connections by client software name, version and listener (KIP-511).

Clients choose the names, so the number of (name, version) pairs is limited. Beyond the limit a
connection counts as `other` until it closes or reports another name. `add` returns the label that a
connection counts under and `remove` takes it, so the sum is always the number of connections.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

UNKNOWN: Final = "unknown"
OTHER: Final = "other"
UNLIMITED: Final = frozenset({(UNKNOWN, UNKNOWN), (OTHER, OTHER)})


class SoftwareLabel(NamedTuple):
    name: str
    version: str
    listener: str


class SoftwareGauge:
    def __init__(self, max_software: int) -> None:
        self._max = max_software
        self._counts: dict[SoftwareLabel, int] = {}
        self._series: Counter[tuple[str, str]] = Counter()
        """Number of listeners at which each (name, version) pair has connections."""

    @property
    def counts(self) -> Mapping[SoftwareLabel, int]:
        """Label -> open connections; a label without connections is removed."""
        return self._counts

    def add(self, name: str, version: str, listener: str) -> SoftwareLabel:
        """Count a connection and return its label, which `remove` takes."""
        label = SoftwareLabel(name, version, listener)
        if label not in self._counts:
            label = self._new_label(label)
        self._counts[label] = self._counts.get(label, 0) + 1
        return label

    def _new_label(self, label: SoftwareLabel) -> SoftwareLabel:
        """The label itself, or `other` if the limit is reached."""
        pair = (label.name, label.version)
        if pair not in UNLIMITED:
            if pair not in self._series and len(self._series) >= self._max:
                return SoftwareLabel(OTHER, OTHER, label.listener)
            self._series[pair] += 1
        return label

    def remove(self, label: SoftwareLabel) -> None:
        self._counts[label] -= 1
        if not self._counts[label]:
            del self._counts[label]
            pair = (label.name, label.version)
            if pair not in UNLIMITED:
                self._series[pair] -= 1
                if not self._series[pair]:
                    del self._series[pair]
