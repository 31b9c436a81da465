"""Ranges of API versions: overlap, intersection and differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Range(NamedTuple):
    """The lowest and the highest version, both included."""

    low: int
    high: int

    def has(self, version: int) -> bool:
        return self.low <= version <= self.high

    def covers(self, other: Range) -> bool:
        return self.low <= other.low and other.high <= self.high

    def overlap(self, other: Range) -> Range | None:
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Range(low, high) if low <= high else None


Ranges = Mapping[int, Range]
"""Version range by API key."""


def as_ranges(pairs: Mapping[int, tuple[int, int]]) -> dict[int, Range]:
    """The ranges a broker lists, sorted by API key."""
    return {key: Range(*pairs[key]) for key in sorted(pairs)}


def intersect(lists: Iterable[Mapping[int, tuple[int, int]]]) -> dict[int, Range]:
    """The versions common to all brokers; APIs that one of them lacks are left out (KIP-35)."""
    brokers = [as_ranges(pairs) for pairs in lists]
    if not brokers:
        return {}
    common = brokers[0]
    for ranges in brokers[1:]:
        common = {
            key: shared
            for key, range_ in common.items()
            if key in ranges and (shared := range_.overlap(ranges[key])) is not None
        }
    return common


@dataclass(frozen=True, slots=True)
class Difference:
    """One API whose range differs between two lists; None where a list lacks the API."""

    api_key: int
    observed: Range | None
    expected: Range | None


def differences(
    observed: Mapping[int, tuple[int, int]], expected: Mapping[int, tuple[int, int]]
) -> tuple[Difference, ...]:
    left, right = as_ranges(observed), as_ranges(expected)
    return tuple(
        Difference(key, left.get(key), right.get(key))
        for key in sorted(left.keys() | right.keys())
        if left.get(key) != right.get(key)
    )
